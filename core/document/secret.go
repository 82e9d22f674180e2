package document

import (
	"context"

	"armature/core/access"
	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/identity"
)

// Sealer encrypts what must not lie readable in the database. *site.Secret
// satisfies it.
type Sealer interface {
	Seal(purpose string, text []byte) string
	Open(purpose, sealed string) ([]byte, error)
}

// SealPurpose ties the sealed value of a Password field to that field: what was
// sealed for another one does not open there. A hook that seals a value under a
// purpose of its own keeps Acting.Password from ever showing it.
func SealPurpose(typeName, field string) string { return "password " + typeName + "." + field }

func purpose(dt *doctype.DocType, f *doctype.Field) string { return SealPurpose(dt.Name, f.Name) }

// seal turns the text of a Password field into what is stored. An empty one
// stays empty: there is no secret.
func (s *Service) seal(dt *doctype.DocType, f *doctype.Field, text string) (string, error) {
	if text == "" {
		return "", nil
	}
	if s.sealer == nil {
		return "", fault.New(fault.NotImplemented, "", "%s cannot be stored: the site has no key to seal it with", f.Title())
	}
	return s.sealer.Seal(purpose(dt, f), []byte(text)), nil
}

// keep is a client's text as it is stored: passwords sealed, markup made safe.
func (s *Service) keep(dt *doctype.DocType, f *doctype.Field, text string) (any, error) {
	if f.IsPassword() {
		return s.seal(dt, f, text)
	}
	return f.Sanitize(text), nil
}

func (s *Service) password(ctx context.Context, tx Tx, caller *identity.Caller, typeName, name, field string) (string, error) {
	if err := s.may(tx, caller).DemandPassword(s.Schema().DocType(typeName)); err != nil {
		return "", err
	}
	doc, err := s.get(ctx, tx, caller, typeName, name, access.Read, false)
	if err != nil {
		return "", err
	}
	f := doc.Type.Field(field)
	if f == nil || !f.IsPassword() || f.Index < 0 {
		return "", fault.Invalid("", "%s of %s is no Password field", field, typeName)
	}
	sealed := doc.Text(field)
	if sealed != "" && s.sealer != nil {
		if text, err := s.sealer.Open(purpose(doc.Type, f), sealed); err == nil {
			return string(text), nil
		}
	}
	return "", fault.Missing("%s %s has no password in %s", typeName, name, field)
}
