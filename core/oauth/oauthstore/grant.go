package oauthstore

import (
	"context"
	"strings"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/query"
)

// Token is an access or refresh token that counts.
type Token struct {
	Grant     string
	Client    string
	User      string
	Scopes    []string
	Resources []string
	Expires   int64 // Unix seconds
	Refresh   bool
	GrantType string // how the grant came about; empty: by an authorization code
	LastUsed  int64  // when the grant was, Unix seconds
}

// Access finds an access token; nil when it does not count.
func (s *Store) Access(ctx context.Context, signature string) (*Token, error) {
	row, grant, err := s.token(ctx, access, signature)
	if err != nil || row == nil || grant == nil {
		return nil, err
	}
	t := newToken(row, grant)
	t.Scopes = strings.Fields(row.Text("scopes"))
	if targets := strings.Fields(row.Text("resource")); len(targets) > 0 {
		t.Resources = targets
	}
	return t, nil
}

// Refresh finds a refresh token that has not been used; nil when it does not
// count.
func (s *Store) Refresh(ctx context.Context, signature string) (*Token, error) {
	row, grant, err := s.token(ctx, refresh, signature)
	if err != nil || row == nil || grant == nil || row.Text("status") != active {
		return nil, err
	}
	t := newToken(row, grant)
	t.Refresh = true
	return t, nil
}

func newToken(row, grant *doctype.Document) *Token {
	return &Token{
		Grant: grant.Name(), Client: grant.Text("client"), User: grant.Text("user"),
		Scopes: strings.Fields(grant.Text("scopes")), Resources: strings.Fields(grant.Text("resource")),
		Expires: row.Int("expires"), LastUsed: grant.Int("last_used"), GrantType: grant.Text("grant_type"),
	}
}

// Ended is told of a grant in the transaction that ends it.
type Ended func(ctx context.Context, tx document.Tx, grant *Grant) error

// End ends a grant: nothing issued under it counts any more. What is told of it is
// told once, however many end it at the same time.
func (s *Store) End(ctx context.Context, grant string, told Ended) error {
	return s.do(ctx, func(ctx context.Context, tx document.Tx) error { return s.end(ctx, tx, grant, told) })
}

func (s *Store) end(ctx context.Context, tx document.Tx, grant string, told Ended) error {
	ok, err := s.set(ctx, tx, GrantName, grant, map[string]any{"status": active}, map[string]any{"status": ended})
	if err != nil || !ok {
		return err
	}
	row, err := s.get(ctx, tx, GrantName, grant, false)
	if err != nil {
		return err
	}
	if err := told(ctx, tx, newGrant(row)); err != nil {
		return err
	}
	return s.c.Changed(ctx, tx)
}

func newGrant(row *doctype.Document) *Grant {
	return &Grant{ID: row.Name(), Client: row.Text("client"), User: row.Text("user"), Scopes: strings.Fields(row.Text("scopes"))}
}

// EndAll ends every grant of a user, or with field "client" of a client, in a
// transaction that is under way. Codes that are on their way end first: one that
// is redeemed at this moment either finds its code spent or its grant ended.
// Returned is how many grants have ended.
func (s *Store) EndAll(ctx context.Context, tx document.Tx, field, name string) (int64, error) {
	codes, err := s.docType(CodeName)
	if err != nil {
		return 0, err
	}
	_, err = tx.Replace(ctx, codes, codes.Field("validity"), doctype.AllOf{
		compare(codes, "expires", query.Gt, s.c.Now().Unix()),
		compare(codes, field, query.Eq, name), compare(codes, "validity", query.Eq, valid),
	}, invalid)
	if err != nil {
		return 0, err
	}
	if err := s.endDevices(ctx, tx, field, name); err != nil {
		return 0, err
	}
	dt, err := s.docType(GrantName)
	if err != nil {
		return 0, err
	}
	count, err := tx.Replace(ctx, dt, dt.Field("status"), doctype.AllOf{
		compare(dt, field, query.Eq, name), compare(dt, "status", query.Eq, active),
	}, ended)
	if err != nil || count == 0 {
		return 0, err
	}
	return int64(count), s.c.Changed(ctx, tx)
}

// Touch notes that a grant was used, unless it has ended.
func (s *Store) Touch(ctx context.Context, grant string, at int64) error {
	return s.c.Store.Write(ctx, document.OneWrite, func(tx document.Tx) error {
		_, err := s.set(ctx, tx, GrantName, grant, map[string]any{"status": active}, map[string]any{"last_used": at})
		return err
	})
}

// Grant is one consent that counts.
type Grant struct {
	ID       string
	Client   string
	User     string
	Scopes   []string
	Created  string    // as the site writes times
	LastUsed time.Time // to five minutes
}

// Grants lists the grants that count of a user, or with field "client" of a
// client, the newest first.
func (s *Store) Grants(ctx context.Context, field, name string) (all []Grant, err error) {
	dt, err := s.docType(GrantName)
	if err != nil {
		return nil, err
	}
	sel := &doctype.Select{
		DocType: dt,
		Where: doctype.AllOf{
			compare(dt, field, query.Eq, name), compare(dt, "status", query.Eq, active),
			compare(dt, "expires", query.Gt, s.c.Now().Unix()),
		},
		Order: []doctype.OrderBy{{Operand: doctype.Operand{Field: dt.Field("creation")}, Desc: true}},
	}
	for _, name := range []string{"name", "client", "user", "scopes", "creation", "last_used"} {
		sel.Columns = append(sel.Columns, doctype.Column{Operand: doctype.Operand{Field: dt.Field(name)}, Key: name})
	}
	err = s.c.Store.Read(ctx, func(tx document.Tx) error {
		all = nil
		return tx.Rows(ctx, sel, func(v []any) error {
			var g Grant
			var scopes string
			for i, text := range []*string{&g.ID, &g.Client, &g.User, &scopes, &g.Created} {
				*text, _ = v[i].(string)
			}
			last, _ := v[5].(int64)
			g.Scopes, g.LastUsed = strings.Fields(scopes), time.Unix(last, 0)
			all = append(all, g)
			return nil
		})
	})
	return all, err
}

func compare(dt *doctype.DocType, field string, op query.Op, value any) doctype.Where {
	return doctype.Compare{Operand: doctype.Operand{Field: dt.Field(field)}, Op: op, Value: value}
}

// Any finds the grant of a token in whatever state, if the grant is active: the
// first of the rows that exists. nil when there is none.
func (s *Store) Any(ctx context.Context, signatures ...string) (t *Token, err error) {
	err = s.c.Store.Read(ctx, func(tx document.Tx) error {
		t = nil
		for _, signature := range signatures {
			row, err := s.get(ctx, tx, TokenName, signature, false)
			if err != nil {
				return err
			}
			if row == nil {
				continue
			}
			grant, err := s.get(ctx, tx, GrantName, row.Text("grant_id"), false)
			if err != nil {
				return err
			}
			if grant != nil && grant.Text("status") == active {
				t = newToken(row, grant)
				return nil
			}
		}
		return nil
	})
	return t, err
}

// Grant finds one grant that counts; nil when there is none.
func (s *Store) Grant(ctx context.Context, id string) (g *Grant, err error) {
	err = s.c.Store.Read(ctx, func(tx document.Tx) error {
		g = nil
		row, err := s.get(ctx, tx, GrantName, id, false)
		if err != nil || row == nil || row.Text("status") != active {
			return err
		}
		g = newGrant(row)
		return nil
	})
	return g, err
}
