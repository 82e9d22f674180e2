package connectedapp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
)

// What a connection's status can be.
const (
	pending = "Pending" // a flow has begun, nothing has come of it yet
	active  = "Active"
	broken  = "Broken" // the provider takes its refresh token no longer
)

// early is how long before its end a token is renewed: a request that takes a
// while must not arrive with one that has just ended.
const early = time.Minute

// name is the name of a user's connection; without a user it is the app's own.
func name(app, user string) string { return app + "-" + user }

func purposeToken(connection, field string) string { return "token cache " + connection + " " + field }

// connection is a document of Token Cache as it was read, with its tokens open.
type connection struct {
	doc     *doctype.Document
	access  string
	refresh string
}

func (s *Service) connection(ctx context.Context, name string) (*connection, error) {
	doc, err := s.read(ctx, cacheName, name)
	if err != nil {
		return nil, err
	}
	c := &connection{doc: doc}
	if c.access, err = s.open(purposeToken(name, "access_token"), doc.Text("access_token")); err != nil {
		return nil, err
	}
	c.refresh, err = s.open(purposeToken(name, "refresh_token"), doc.Text("refresh_token"))
	return c, err
}

// fresh reports whether the access token goes on counting for at least margin.
func (c *connection) fresh(now time.Time, margin time.Duration) bool {
	return fresh(c.doc, now, margin)
}

func fresh(doc *doctype.Document, now time.Time, margin time.Duration) bool {
	expires := doc.Int("expires")
	return doc.Text("access_token") != "" && (expires == 0 || now.Add(margin).Unix() < expires)
}

// margin is how long before its end a token is renewed: a short-lived one is
// used for most of its life.
func margin(doc *doctype.Document) time.Duration {
	return min(early, time.Duration(doc.Int("expires_in"))*time.Second/4)
}

// row returns a connection's document, locked, or a new one that is not stored.
func (s *Service) row(ctx context.Context, tx document.Tx, a *app, user string) (doc *doctype.Document, stored bool, err error) {
	dt, err := s.docType(cacheName)
	if err != nil {
		return nil, false, err
	}
	doc, err = tx.Get(ctx, s.catalog.Schema(), dt, name(a.name, user), true)
	if err == nil {
		return doc, true, nil
	}
	if fault.KindOf(err) != fault.NotFound {
		return nil, false, err
	}
	doc = doctype.NewDocument(dt)
	owner := user
	if owner == "" {
		owner = identity.Administrator
	} else {
		doc.Put("user", user)
	}
	now := doctype.FormatDatetime(s.now())
	for field, value := range map[string]any{
		"name": name(a.name, user), "owner": owner, "modified_by": owner, "creation": now, "modified": now,
		"connected_app": a.name, "status": pending,
	} {
		doc.Put(field, value)
	}
	return doc, false, nil
}

// save stores a connection's document: all of it, since it has no field that
// anybody else writes and the transaction holds it locked.
func (s *Service) save(ctx context.Context, tx document.Tx, doc *doctype.Document, stored bool) error {
	if !stored {
		return tx.Insert(ctx, doc)
	}
	doc.Put("modified", doctype.FormatDatetime(s.now()))
	doc.Put("modified_by", doc.Owner())
	ok, err := tx.Update(ctx, s.catalog.Schema(), doc, doc.Type.Columns, doc.Type.Tables, "")
	if err == nil && !ok {
		err = fault.Missing("%s %s not found", cacheName, doc.Name())
	}
	return err
}

// put writes a token response into a connection's document (RFC 6749, section
// 5.1). A refresh token that is not sent stays the one it was.
func (s *Service) put(doc *doctype.Document, a *app, t *oauth2.Token) error {
	if kind := strings.ToLower(t.Type()); kind != "bearer" && kind != "mac" {
		return fault.New(fault.Unavailable, "", "%s gave a token of type %.40q, which nobody here can use", a.providerName, t.Type())
	}
	doc.Put("token_type", t.Type())
	doc.Put("access_token", s.secret.Seal(purposeToken(doc.Name(), "access_token"), []byte(t.AccessToken)))
	if t.RefreshToken != "" {
		doc.Put("refresh_token", s.secret.Seal(purposeToken(doc.Name(), "refresh_token"), []byte(t.RefreshToken)))
	}
	doc.Put("expires", int64(0))
	doc.Put("expires_in", int64(0))
	if !t.Expiry.IsZero() {
		in := max(int64(time.Until(t.Expiry).Round(time.Second)/time.Second), 0) // the library counts by the system's clock
		doc.Put("expires_in", in)
		doc.Put("expires", s.now().Unix()+in)
	}
	if doc.Text("provider_name") != a.providerName {
		doc.Put("provider_name", a.providerName)
	}
	if scopes := granted(t, a); scopes != nil {
		s.putScopes(doc, scopes)
	}
	doc.Put("status", active)
	doc.Put("error", nil)
	doc.Put("lease", nil)
	return nil
}

// granted are the scopes of a token response: text, or a list as some send it.
// One that names none gives what was asked for.
func granted(t *oauth2.Token, a *app) []string {
	switch scope := t.Extra("scope").(type) {
	case string:
		if scope != "" {
			return strings.Fields(scope)
		}
	case []any:
		var out []string
		for _, item := range scope {
			if text, ok := item.(string); ok {
				out = append(out, text)
			}
		}
		return out
	}
	return a.scopes
}

func (s *Service) putScopes(doc *doctype.Document, scopes []string) {
	child := s.catalog.Schema().DocType("OAuth Scope")
	if child == nil {
		return
	}
	rows := make([]*doctype.Document, len(scopes))
	for i, scope := range scopes {
		row := doctype.NewDocument(child)
		for field, value := range map[string]any{
			"name": fmt.Sprintf("%s-%d", doc.Name(), i+1), "owner": doc.Owner(), "modified_by": doc.Owner(),
			"creation": doc.Get("creation"), "modified": doctype.FormatDatetime(s.now()),
			"parent": doc.Name(), "parenttype": cacheName, "parentfield": "scopes", "idx": int64(i + 1), "scope": scope,
		} {
			row.Put(field, value)
		}
		rows[i] = row
	}
	doc.PutRows("scopes", rows)
}

// keep runs a change until it is stored. What it stores has been given once and
// will not be given again, so neither the end of the request nor a database that
// is away for a moment may lose it.
func (s *Service) keep(ctx context.Context, fn func(ctx context.Context, tx document.Tx) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second)
	defer cancel()
	for pause := 50 * time.Millisecond; ; pause *= 2 {
		err := s.store.Write(ctx, document.GroupedTx, func(tx document.Tx) error { return fn(ctx, tx) })
		var f *fault.Error
		if err == nil || errors.As(err, &f) && f.Kind != fault.Unavailable {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}
