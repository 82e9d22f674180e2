package connectedapp

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/egress"
	"armature/core/egress/endpoint"
	"armature/core/site"
)

// DocType is the DocType of an app.
const DocType = "Connected App"

const (
	appName   = DocType
	cacheName = "Token Cache"
)

// Config is what a Service needs.
type Config struct {
	Store     document.Store
	Catalog   *doctype.Catalog
	Documents *document.Service
	Secret    *site.Secret
	Egress    *egress.Client
	Now       func() time.Time // the site's wall clock
	Base      func() string    // the site's address as it is configured; empty: it is not

	// Setting is a key of the site's configuration as of now, nil when it is not
	// set. allowed_private_hosts is read here.
	Setting func(key string) json.RawMessage

	// Login is the path of the page to log in at, which leads back to its argument
	// redirect-to; ErrorPage shows a person what went wrong. Raw needs both.
	Login     string
	ErrorPage func(w http.ResponseWriter, status int, message, requestID string) error

	// Outgoing is asked before anything is sent to a provider: its error is the
	// answer. nil: nothing is held back.
	Outgoing func() error
	Logger   *slog.Logger // nil: nothing is logged
}

// Service is the OAuth client of one site. It may be used concurrently.
type Service struct {
	store     document.Store
	catalog   *doctype.Catalog
	documents *document.Service
	secret    *site.Secret
	egress    *egress.Client
	now       func() time.Time
	base      func() string
	setting   func(key string) json.RawMessage
	outgoing  func() error
	way       endpoint.Way
	login     string
	errorPage func(w http.ResponseWriter, status int, message, requestID string) error
	log       *slog.Logger

	obtaining singleflight.Group // by connection: callers in this process share one refresh

	renewals sync.WaitGroup

	mu         sync.Mutex
	discovered map[string]*provider // by URL of the discovery document
}

// New makes the service of one site.
func New(c Config) *Service {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Setting == nil {
		c.Setting = func(string) json.RawMessage { return nil }
	}
	if c.Outgoing == nil {
		c.Outgoing = func() error { return nil }
	}
	if c.Base == nil {
		c.Base = func() string { return "" }
	}
	return &Service{
		store: c.Store, catalog: c.Catalog, documents: c.Documents, secret: c.Secret, egress: c.Egress,
		now: c.Now, base: c.Base, setting: c.Setting, outgoing: c.Outgoing, login: c.Login, errorPage: c.ErrorPage, log: c.Logger,
		way:        endpoint.Way{Egress: c.Egress, Setting: c.Setting, Outgoing: c.Outgoing},
		discovered: make(map[string]*provider),
	}
}

func (s *Service) docType(name string) (*doctype.DocType, error) {
	return s.catalog.Schema().Platform(name)
}

// read reads one document as it is now.
func (s *Service) read(ctx context.Context, typeName, name string) (doc *doctype.Document, err error) {
	dt, err := s.docType(typeName)
	if err != nil {
		return nil, err
	}
	err = s.store.Read(ctx, func(tx document.Tx) error {
		doc, err = tx.Get(ctx, s.catalog.Schema(), dt, name, false)
		return err
	})
	return doc, err
}

// open unseals a value of a Password field; empty for none.
func (s *Service) open(purpose, sealed string) (string, error) {
	if sealed == "" {
		return "", nil
	}
	text, err := s.secret.Open(purpose, sealed)
	if err != nil {
		return "", fmt.Errorf("open %s: %w", purpose, err)
	}
	return string(text), nil
}

// Close waits for the renewals under way: what a provider gives is kept.
func (s *Service) Close() { s.renewals.Wait() }
