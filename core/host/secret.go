package host

import (
	"context"
	"fmt"
	"time"

	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/site"
)

// siteSecret returns the key of a site, which lies in the site's database,
// sealed with the master key: whoever has the database and the master key has
// the whole site, and servers that share a database share the key. A new site
// gets a new key; of two processes that make one, one wins.
//
// The table is no DocType of the schema, so that no request can name it.
func (s *Set) siteSecret(ctx context.Context, store document.Store) (secret *site.Secret, err error) {
	dt, err := document.Define(document.Definition{
		Name: "Site Secret", Table: "armature_secret",
		Fields: []document.FieldDefinition{{Name: "sealed", Type: "Long Text"}},
	})
	if err != nil {
		return nil, err
	}
	private := document.NewSchema(0, []*document.DocType{dt})
	err = store.Write(ctx, document.Alone, func(tx document.Tx) error {
		if err := tx.Migrate(ctx, dt); err != nil {
			return err
		}
		doc, err := tx.Get(ctx, private, dt, secretName, true)
		if err == nil {
			secret, err = s.c.Master.OpenSecret(doc.Text("sealed"))
			return err
		}
		if fault.KindOf(err) != fault.NotFound {
			return err
		}
		doc = document.NewDocument(dt)
		var sealed string
		sealed, secret = s.c.Master.NewSecret()
		now := document.FormatDatetime(time.Now().UTC())
		for field, value := range map[string]any{
			"name": secretName, "sealed": sealed, "owner": identity.Administrator, "modified_by": identity.Administrator,
			"creation": now, "modified": now,
		} {
			doc.Put(field, value)
		}
		return tx.Insert(ctx, doc)
	})
	if err != nil {
		return nil, fmt.Errorf("key of the site: %w", err)
	}
	return secret, nil
}

// secretName is the name of the one document in the table.
const secretName = "site"
