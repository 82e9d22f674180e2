package auth

import (
	"context"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
)

// OwnProvider is the provider of the social login that stands for this site's
// own accounts.
const OwnProvider = "framework"

const (
	socialLogins = "social_logins"     // the field of User
	socialLogin  = "User Social Login" // the DocType of its rows
	// subjectBytes is the length of a subject before it is written in hexadecimal.
	subjectBytes = 20
)

// Subject is the name by which OpenID clients know a user (the claim sub): it
// tells nothing of the user and stays when the user's address changes. It is
// made when it is first asked for. An unknown user is Missing; Guest has none
// (Validation).
func (s *Service) Subject(ctx context.Context, user string) (subject string, err error) {
	dt, err := s.docType(socialLogin)
	if err != nil {
		return "", err
	}
	sel := &doctype.Select{
		DocType: dt,
		Columns: columns(dt, "userid"),
		Where:   doctype.AllOf{equals(dt, "parent", user), equals(dt, "parenttype", "User"), equals(dt, "provider", OwnProvider)},
		Length:  1,
	}
	err = s.store.Read(ctx, func(tx document.Tx) error {
		return tx.Rows(ctx, sel, func(v []any) error {
			subject, _ = v[0].(string)
			return nil
		})
	})
	if err != nil || subject != "" {
		return subject, err
	}
	err = s.store.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		doc, err := s.read(ctx, tx, user, true)
		if err != nil {
			return err
		}
		if subject = subjectOf(doc); subject != "" {
			return nil // made by somebody else meanwhile
		}
		subject = s.addSubject(doc)
		_, err = tx.Update(ctx, s.catalog.Schema(), doc, nil, []*doctype.Field{doc.Type.Field(socialLogins)}, "")
		return err
	})
	return subject, err
}

// subjectOf is the subject that a user's document holds; empty when there is
// none yet.
func subjectOf(user *doctype.Document) string {
	for _, row := range user.Rows(socialLogins) {
		if row.Text("provider") == OwnProvider {
			return row.Text("userid")
		}
	}
	return ""
}

// addSubject adds a new subject to a stored user's document.
func (s *Service) addSubject(user *doctype.Document) string {
	subject := random(subjectBytes)
	rows := append(user.Rows(socialLogins), s.ownLogin(user, subject))
	for i, row := range rows {
		row.Put("idx", int64(i+1))
	}
	user.PutRows(socialLogins, rows)
	return subject
}

// ownLogin is the row of a subject.
func (s *Service) ownLogin(user *doctype.Document, subject string) *doctype.Document {
	row := doctype.NewDocument(s.catalog.Schema().DocType(socialLogin))
	now := doctype.FormatDatetime(s.now())
	for field, value := range map[string]any{
		"name": document.HashName(s.now()), "owner": identity.Administrator, "modified_by": identity.Administrator,
		"creation": now, "modified": now, "parent": user.Name(), "parenttype": "User", "parentfield": socialLogins,
		"provider": OwnProvider, "userid": subject,
	} {
		row.Put(field, value)
	}
	return row
}

// keepSubject lets nobody choose a user's subject, which would be to log in as
// the user wherever the site's accounts are used, or take it away.
func (s *Service) keepSubject(ev *document.Event) error {
	if ev.Doc.Type.Field(socialLogins) == nil || ev.Doc.Name() == identity.Guest {
		return nil
	}
	stored, sent := "", 0
	if ev.Before != nil {
		stored = subjectOf(ev.Before)
	}
	for _, row := range ev.Doc.Rows(socialLogins) {
		if row.Text("provider") != OwnProvider {
			continue
		}
		if sent++; sent > 1 || stored == "" || row.Text("userid") != stored {
			return fault.Invalid("", "The social login %q is made by the site", OwnProvider)
		}
	}
	switch {
	case sent > 0:
	case stored == "":
		s.addSubject(ev.Doc)
	default:
		ev.Doc.PutRows(socialLogins, append(ev.Doc.Rows(socialLogins), s.ownLogin(ev.Doc, stored)))
	}
	return nil
}
