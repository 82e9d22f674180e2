// Package oauthstore keeps what the OAuth provider hands out, as fosite wants it
// kept: authorization codes, tokens, and the grants they belong to.
//
// A grant is one user's consent to one client; its id is fosite's request id. It
// comes into being when its code is redeemed and ends when it is revoked: whatever
// was issued under it counts only while it is Active, so that ending it is one
// write however many tokens there are. A row is named by the keyed hash of its
// code or token (core/oauth makes it and calls it a signature); nothing here ever
// sees the token itself.
//
// What must happen once is decided by the database: a code and a refresh token
// are spent by an UpdateIf in the transaction that inserts what they are
// exchanged for.
package oauthstore

import (
	"context"
	"errors"
	"time"

	"github.com/ory/fosite"
	"github.com/ory/fosite/handler/oauth2"
	"github.com/ory/fosite/handler/openid"
	"github.com/ory/fosite/handler/pkce"
	"github.com/ory/fosite/storage"

	"armature/core/doctype"
	"armature/core/document"
)

// The DocTypes.
const (
	GrantName = "OAuth Grant"
	CodeName  = "OAuth Authorization Code"
	TokenName = "OAuth Bearer Token"
)

// What the Select fields of the rows may hold.
const (
	active  = "Active"
	ended   = "Ended"
	used    = "Used"
	revoked = "Revoked"
	valid   = "Valid"
	invalid = "Invalid"

	access  = "Access"
	refresh = "Refresh"
)

// Lifetimes says how long things live.
type Lifetimes struct {
	Code, Access, Refresh time.Duration
	// Grace is how long after its first use a refresh token may be used again: a
	// lost answer or a second tab logs nobody out. Each use within it is answered
	// with the same successor, so that one line of descent lives on.
	Grace time.Duration
}

// Config is what a Store needs.
type Config struct {
	Store     document.Store
	Catalog   *doctype.Catalog
	Now       func() time.Time // the site's clock
	Lifetimes func(ctx context.Context) (Lifetimes, error)
	// Client finds a client; fosite.ErrNotFound when there is none.
	Client func(ctx context.Context, id string) (fosite.Client, error)
	// Changed makes every process forget what it knows of tokens.
	Changed func(ctx context.Context, tx document.Tx) error
	// Reused is told, in the transaction that ends the grant for it, that a code or a
	// refresh token was used once more.
	Reused func(ctx context.Context, tx document.Tx, grant *Grant) error
}

// Store keeps the codes, tokens and grants of one site.
type Store struct{ c Config }

// New makes the store of a site.
func New(c Config) *Store { return &Store{c} }

// fosite finds out by type assertions what a store can do.
var (
	_ oauth2.CoreStorage                 = (*Store)(nil)
	_ oauth2.TokenRevocationStorage      = (*Store)(nil)
	_ openid.OpenIDConnectRequestStorage = (*Store)(nil)
	_ pkce.PKCERequestStorage            = (*Store)(nil)
	_ storage.Transactional              = (*Store)(nil)
)

// Write is part of a transaction, which the database may run again.
type Write func(ctx context.Context, tx document.Tx) error

// batch is the writes of one exchange, in order. They run when fosite commits, in
// one function that the database may run again; reading has been done by then. It is
// in the context because storage.Transactional wants it there: fosite's handlers
// have no other way to pass on what BeginTX began.
type batch struct{ steps []Write }

type batchKey struct{}

// BeginTX begins to collect writes.
func (s *Store) BeginTX(ctx context.Context) (context.Context, error) {
	return context.WithValue(ctx, batchKey{}, &batch{}), nil
}

// Rollback forgets them. After a Commit there is nothing to forget.
func (s *Store) Rollback(ctx context.Context) error {
	if b, ok := ctx.Value(batchKey{}).(*batch); ok {
		b.steps = nil
	}
	return nil
}

// Commit makes the writes in one transaction. Whoever finds that the code or the
// refresh token was spent before, in the moment between the check and this, ends
// the grant as whoever finds it at the check does.
func (s *Store) Commit(ctx context.Context) error {
	b, ok := ctx.Value(batchKey{}).(*batch)
	if !ok {
		return errors.New("oauthstore: commit without a transaction")
	}
	err := s.write(ctx, func(tx document.Tx) error {
		for _, step := range b.steps {
			if err := step(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	})
	var spent *spentError
	if errors.As(err, &spent) {
		b.steps = nil // nothing of it has happened
		err = errors.Join(err, s.write(ctx, func(tx document.Tx) error { return s.end(ctx, tx, spent.grant, s.c.Reused) }))
	}
	return err
}

// do makes a write: with the others of a transaction, or else at once.
func (s *Store) do(ctx context.Context, fn Write) error {
	if b, ok := ctx.Value(batchKey{}).(*batch); ok {
		b.steps = append(b.steps, fn)
		return nil
	}
	return s.write(ctx, func(tx document.Tx) error { return fn(ctx, tx) })
}

// write runs a service transaction, which commits whatever becomes of the
// request: a client that hangs up has spent its code all the same.
func (s *Store) write(ctx context.Context, fn func(document.Tx) error) error {
	return s.c.Store.Write(context.WithoutCancel(ctx), document.GroupedTx, fn)
}

// spentError says that a code or a refresh token has been used before.
type spentError struct{ grant string }

func (e *spentError) Error() string { return "used before, by another request" }

// Is makes it the error by which fosite knows a code or a token that was used.
func (e *spentError) Is(target error) bool { return target == ErrSpent }

// ErrSpent is returned by Commit for a code or a refresh token that another
// request has spent.
var ErrSpent = errors.New("used before")

func (s *Store) docType(name string) (*doctype.DocType, error) {
	return s.c.Catalog.Schema().Platform(name)
}

// get reads a row, nil when there is none; with lock it stays as it is until the
// transaction ends.
func (s *Store) get(ctx context.Context, tx document.Tx, typeName, name string, lock bool) (*doctype.Document, error) {
	if name == "" {
		return nil, nil
	}
	dt, err := s.docType(typeName)
	if err != nil {
		return nil, err
	}
	doc, err := tx.Get(ctx, s.c.Catalog.Schema(), dt, name, lock)
	if missing(err) {
		return nil, nil
	}
	return doc, err
}

func (s *Store) insert(ctx context.Context, tx document.Tx, typeName, name, user string, values map[string]any) error {
	dt, err := s.docType(typeName)
	if err != nil {
		return err
	}
	doc := doctype.NewDocument(dt)
	now := doctype.FormatDatetime(s.c.Now())
	for field, v := range map[string]any{"name": name, "owner": user, "modified_by": user, "creation": now, "modified": now} {
		doc.Put(field, v)
	}
	for field, v := range values {
		doc.Put(field, v)
	}
	return tx.Insert(ctx, doc)
}

// set changes a row whose values are as expected, and reports whether they were.
func (s *Store) set(ctx context.Context, tx document.Tx, typeName, name string, expect, values map[string]any) (bool, error) {
	dt, err := s.docType(typeName)
	if err != nil {
		return false, err
	}
	return tx.UpdateIf(ctx, dt, name, expect, values)
}
