package social

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"armature/core/auth"
	"armature/core/doctype"
	"armature/core/document"
	"armature/core/egress"
	"armature/core/egress/endpoint"
	"armature/core/site"
)

// DocType is the DocType of a key.
const DocType = "Social Login Key"

// Config is what a Service needs.
type Config struct {
	Store     document.Store
	Catalog   *doctype.Catalog
	Documents func() *document.Service
	Auth      *auth.Service
	Secret    *site.Secret
	Egress    *egress.Client
	Now       func() time.Time             // the site's wall clock
	Base      func(r *http.Request) string // origin of the site for a request
	URL       func() string                // the site's address as it is configured; empty: it is not

	// Setting is a key of the site's configuration as of now, nil when it is not set.
	Setting func(key string) json.RawMessage
	// Outgoing is asked before anything is sent to a provider: its error is the answer.
	Outgoing func() error
}

// Service logs people in who have accounts elsewhere, at one site. It may be used
// concurrently.
type Service struct {
	c   Config
	way endpoint.Way

	mu    sync.Mutex
	known map[string]*provider // by what it was read for
}

// New makes the service of one site.
func New(c Config) *Service {
	return &Service{c: c, way: endpoint.Way{Egress: c.Egress, Setting: c.Setting, Outgoing: c.Outgoing}, known: map[string]*provider{}}
}

// tables are those of this package that belong to no DocType of the schema: no request,
// and no plugin, can name them. Of a tie its name is a keyed hash of what it ties, so that
// an account is one user's however many try at once.
var tables = sync.OnceValue(func() (t struct{ ties, spent *doctype.DocType }) {
	t.ties = private("Social Login Tie", "armature_social_tie", []doctype.FieldDefinition{
		{Name: "user", Type: "Data", Indexed: 1},
		{Name: "provider", Type: "Data", Indexed: 1}, // name of the key
		{Name: "account", Type: "Data"},              // what the provider calls it, for people
		{Name: "roles", Type: "Long Text"},           // that a claim has given, a line each
		{Name: "used", Type: "Int"},                  // seconds
	})
	t.spent = private("Social Login Spent", "armature_social_spent", []doctype.FieldDefinition{
		{Name: "expires", Type: "Int", Indexed: 1}, // seconds
	})
	return t
})

// Tables are the tables of this package. Whoever opens a site makes them.
func Tables() []*doctype.DocType {
	t := tables()
	return []*doctype.DocType{t.ties, t.spent}
}

func private(name, table string, fields []doctype.FieldDefinition) *doctype.DocType {
	dt, err := doctype.Define(doctype.Definition{Name: name, Table: table, Fields: fields})
	if err != nil {
		panic(err) // a constant of this package is wrong
	}
	return dt
}

// read reads one document of a DocType as it is now.
func (s *Service) read(ctx context.Context, dt *doctype.DocType, name string) (doc *doctype.Document, err error) {
	err = s.c.Store.Read(ctx, func(tx document.Tx) error {
		doc, err = tx.Get(ctx, s.c.Catalog.Schema(), dt, name, false)
		return err
	})
	return doc, err
}

// open unseals a value of a Password field; empty for none.
func (s *Service) open(purpose, sealed string) (string, error) {
	if sealed == "" {
		return "", nil
	}
	text, err := s.c.Secret.Open(purpose, sealed)
	if err != nil {
		return "", fmt.Errorf("open %s: %w", purpose, err)
	}
	return string(text), nil
}
