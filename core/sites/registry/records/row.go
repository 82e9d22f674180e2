package records

import (
	"strings"
	"sync"
	"time"

	"armature/core/doctype"
	"armature/core/identity"
	"armature/core/query"
)

// What a site in the table can be.
const (
	staged  = "staged"  // being made
	live    = "live"    // there
	dropped = "dropped" // gone, with everything it had in its schema
	leaving = "leaving" // gone, with everything it had; to be erased when every server has let go of it
	erasing = "erasing" // gone, and its schema is going
	erased  = "erased"  // gone for good
	keyed   = "key"     // none: the row that tells the master key
)

// siteTable is the table. A document has the name of the site's schema.
var siteTable = sync.OnceValue(func() *doctype.DocType {
	dt, err := doctype.Define(doctype.Definition{
		Name: "Registered Site", Table: "armature_site",
		Fields: []doctype.FieldDefinition{
			{Name: "site", Type: "Data", Indexed: 1},
			{Name: "live", Type: "Data", Unique: 1}, // the site's name while it is there, else nothing
			{Name: "state", Type: "Data"},
			{Name: "config", Type: "Long Text"}, // sealed; empty: nothing is configured
			{Name: "tended", Type: "Int"},       // seconds
		},
	})
	if err != nil {
		panic(err) // a constant of this package is wrong
	}
	return dt
})

// siteSchema has the one table.
var siteSchema = sync.OnceValue(func() *doctype.Schema {
	return doctype.NewSchema(0, []*doctype.DocType{siteTable()})
})

// schemaPrefix begins the name of every site's schema. What follows is the name
// of the site's folder on each machine.
const schemaPrefix = "site_"

func folderOf(schema string) string { return strings.TrimPrefix(schema, schemaPrefix) }

// row is a document of the table.
type row struct {
	schema, site, state, config string

	modified string // UTC, as stamp writes it
	tended   time.Time
}

func (one row) document() *doctype.Document {
	doc := doctype.NewDocument(siteTable())
	now := stamp()
	for field, value := range map[string]any{
		"name": one.schema, "site": one.site, "state": one.state, "config": one.config,
		"owner": identity.Administrator, "modified_by": identity.Administrator, "creation": now, "modified": now,
	} {
		doc.Put(field, value)
	}
	if one.state == live {
		doc.Put("live", one.site)
	}
	return doc
}

func stamp() string { return doctype.FormatDatetime(time.Now().UTC()) }

func operand(field string) doctype.Operand {
	return doctype.Operand{Field: siteTable().Field(field)}
}

func is(field, value string) doctype.Where {
	return doctype.Compare{Operand: operand(field), Op: query.Eq, Value: value}
}
