package oauth

import (
	"context"
	"fmt"
	"strings"

	"armature/core/doctype"
	"armature/core/document"
)

// profile is the claims about a user (SPEC: Userinfo claims).
type profile struct {
	Subject string   `json:"sub"`
	Name    string   `json:"name"`
	Given   *string  `json:"given_name"`
	Family  *string  `json:"family_name"`
	Email   string   `json:"email"`
	Checked bool     `json:"email_verified"` // a letter to the address was answered
	Picture *string  `json:"picture"`
	Roles   []string `json:"roles"`
}

// profile reads the claims about a user, which are kept until a user changes.
// Errors: Authentication for a user who is gone.
func (s *Service) profile(ctx context.Context, user string) (*profile, error) {
	v, err := s.c.Auth.Remember(ctx, "oauth profile "+user, func(ctx context.Context) (any, error) {
		return s.readProfile(ctx, user)
	})
	if err != nil {
		return nil, err
	}
	return v.(*profile), nil
}

func (s *Service) readProfile(ctx context.Context, user string) (*profile, error) {
	caller, err := s.c.Auth.Caller(ctx, user)
	if err != nil {
		return nil, err
	}
	sc := s.c.Catalog.Schema()
	dt := sc.DocType("User")
	if dt == nil {
		return nil, fmt.Errorf("oauth: the site has no DocType User")
	}
	var doc *doctype.Document
	err = s.c.Store.Read(ctx, func(tx document.Tx) (err error) {
		doc, err = tx.Get(ctx, sc, dt, user, false)
		return err
	})
	if err != nil {
		return nil, err
	}
	p := &profile{
		Name: doc.Text("full_name"), Given: optional(doc.Text("first_name")), Family: optional(doc.Text("last_name")),
		Email: doc.Text("email"), Checked: doc.Type.Field("email_verified") != nil && doc.Bool("email_verified"), Picture: optional(doc.Text("user_image")), Roles: caller.Roles,
	}
	if p.Subject, err = s.c.Auth.Subject(ctx, user); err != nil {
		return nil, err
	}
	return p, nil
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// at is the profile with the address of the picture made whole.
func (p *profile) at(base string) *profile {
	if p.Picture == nil || !strings.HasPrefix(*p.Picture, "/") {
		return p
	}
	whole := *p
	whole.Picture = optional(base + *p.Picture)
	return &whole
}
