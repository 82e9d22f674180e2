package document

import (
	"context"
	"log/slog"
	"time"

	"armature/core/identity"
	"armature/core/query"
)

// Service is the one door to documents. Every method takes the Caller and
// checks the caller's rights; REST, methods, plugins and jobs all come through
// here, inside a transaction that they did not open themselves.
type Service struct {
	store   Store
	catalog *Catalog
	hooks   []Hooks
	now     func() time.Time
	log     *slog.Logger
}

// ServiceConfig is what a Service needs.
type ServiceConfig struct {
	Store   Store
	Catalog *Catalog
	Hooks   []Hooks          // in the order they run
	Now     func() time.Time // the site's wall clock, in the site's zone
	Logger  *slog.Logger
}

// NewService makes the door to one site's documents.
func NewService(c ServiceConfig) *Service {
	return &Service{store: c.Store, catalog: c.Catalog, hooks: c.Hooks, now: c.Now, log: c.Logger}
}

// Schema is the current snapshot of the site's DocTypes.
func (s *Service) Schema() *Schema { return s.catalog.Schema() }

// ReadOptions is how a single document is read.
type ReadOptions struct {
	ExpandLinks bool // every link becomes the linked document
	WithNull    bool // keep keys whose value is null
}

// AppendDocument reads one document and appends it to dst as a JSON object.
// Errors: Missing for an unknown DocType or document, Denied without read.
func (s *Service) AppendDocument(ctx context.Context, tx Tx, caller *identity.Caller, dst []byte, doctype, name string, opt ReadOptions) ([]byte, error) {
	panic("wip")
}

// AppendList runs a list and appends the rows to dst as a JSON array. debug, if
// not nil, is told the executed statements.
func (s *Service) AppendList(ctx context.Context, tx Tx, caller *identity.Caller, dst []byte, doctype string, q *query.Query) ([]byte, error) {
	panic("wip")
}

// Count counts the documents a list would have without paging.
func (s *Service) Count(ctx context.Context, tx Tx, caller *identity.Caller, doctype string, q *query.Query) (int64, error) {
	panic("wip")
}

// Get reads one document the caller may read.
func (s *Service) Get(ctx context.Context, tx Tx, caller *identity.Caller, doctype, name string) (*Document, error) {
	panic("wip")
}

// AppendJSON appends a document as the caller may see it.
func (s *Service) AppendJSON(dst []byte, caller *identity.Caller, doc *Document, opt ReadOptions) []byte {
	panic("wip")
}

// Insert creates a document from values as JSON gave them (string, bool, nil,
// json.Number, float64, []any, map[string]any).
func (s *Service) Insert(ctx context.Context, tx Tx, caller *identity.Caller, doctype string, values map[string]any) (*Document, error) {
	panic("wip")
}

// Update changes the given fields of a document. A "modified" among the values
// that differs from the stored one is a TimestampMismatchError.
func (s *Service) Update(ctx context.Context, tx Tx, caller *identity.Caller, doctype, name string, values map[string]any) (*Document, error) {
	panic("wip")
}

// Delete removes a document.
func (s *Service) Delete(ctx context.Context, tx Tx, caller *identity.Caller, doctype, name string) error {
	panic("wip")
}

// WriteMode is the cheapest Mode in which documents of the DocType may be
// created, changed or deleted by the edge.
func (s *Service) WriteMode(doctype string) Mode {
	panic("wip")
}
