package webhook

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync/atomic"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/egress"
	"armature/core/identity"
	"armature/core/method"
	"armature/core/query"
	"armature/core/site"
)

// The DocTypes of this package.
const (
	DocType      = "Webhook"
	DeliveryType = "Webhook Delivery"
	headerType   = "Webhook Header"
)

// Config is what a Service needs of a site.
type Config struct {
	Store     document.Store
	Documents func() *document.Service
	Later     func() method.Later
	Egress    *egress.Client
	Secret    *site.Secret
	Now       func() time.Time
	// Caller is a user as of now.
	Caller func(ctx context.Context, user string) (*identity.Caller, error)
	// PrivateHosts are the hosts that may be on this machine or on a private network.
	PrivateHosts func() []string
	// Outgoing is an error while nothing may leave the site.
	Outgoing func() error
	// Tell sends a letter to a user, in a transaction; nil: nobody is told.
	Tell func(ctx context.Context, tx document.Tx, user, subject, text string) error
	// Sent counts deliveries by what became of them; nil: nobody does.
	Sent   func(result string)
	Logger *slog.Logger
}

// Service is the webhooks of one open site. It may be used concurrently.
type Service struct {
	c     Config
	known atomic.Pointer[hooksOf]
}

// New makes the service of a site.
func New(c Config) *Service {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Sent == nil {
		c.Sent = func(string) {}
	}
	return &Service{c: c}
}

// hook is a Webhook as far as writes have to know it.
type hook struct {
	name, owner, event, condition string
	fields                        []string
}

// hooksOf are those that are enabled, by DocType. Saving one gives the DocTypes another
// version, by which every process learns of it.
type hooksOf struct {
	version int64
	by      map[string][]hook
}

// now are the webhooks of the version of the DocTypes that is in use; nil: they have to
// be read.
func (s *Service) now() *hooksOf {
	if k := s.known.Load(); k != nil && k.version == s.c.Documents().Schema().Version {
		return k
	}
	return nil
}

func (s *Service) load(ctx context.Context, tx document.Tx) (*hooksOf, error) {
	if k := s.now(); k != nil {
		return k, nil
	}
	sc := s.c.Documents().Schema()
	k := &hooksOf{version: sc.Version, by: map[string][]hook{}}
	dt, err := sc.Platform(DocType)
	if err != nil {
		return k, nil // a DocType of the site's own has the name
	}
	cols := []string{"name", "owner", "document_type", "event", "condition", "fields"}
	sel := &doctype.Select{
		DocType: dt, Columns: columns(dt, cols...), Order: []doctype.OrderBy{{Operand: operand(dt, "creation")}, {Operand: operand(dt, "name")}},
		Where: doctype.Compare{Operand: operand(dt, "enabled"), Op: query.Eq, Value: int64(1)},
	}
	err = tx.Rows(ctx, sel, func(v []any) error {
		text := func(i int) string { s, _ := v[i].(string); return s }
		h := hook{name: text(0), owner: text(1), event: text(3), condition: text(4), fields: names(text(5))}
		k.by[text(2)] = append(k.by[text(2)], h)
		return nil
	})
	if err == nil {
		s.known.Store(k)
	}
	return k, err
}

func columns(dt *doctype.DocType, names ...string) []doctype.Column {
	cols := make([]doctype.Column, len(names))
	for i, name := range names {
		cols[i] = doctype.Column{Operand: operand(dt, name), Key: name}
	}
	return cols
}

func operand(dt *doctype.DocType, field string) doctype.Operand {
	return doctype.Operand{Field: dt.Field(field)}
}

// matching is a list of the one document, if it meets a condition.
func matching(condition, name string) (*query.Query, error) {
	filters := []any{}
	if condition != "" {
		if err := json.Unmarshal([]byte(condition), &filters); err != nil {
			return nil, err
		}
	}
	if name != "" {
		filters = append(filters, []any{"name", "=", name})
	}
	return query.Parse(func(key string) any {
		if key == "filters" {
			return filters
		}
		return nil
	})
}
