package method

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"armature/core/document"
	"armature/core/identity"
	"armature/core/notice"
)

// Service runs methods on one site.
type Service struct {
	table       *Table
	invoker     Invoker
	store       document.Store
	documents   *document.Service
	aliases     aliases
	onDocuments []DocumentMethod
	callers     func(ctx context.Context, user string) (*identity.Caller, error)
	later       Later
	mail        Mailer
	observe     func(ctx context.Context, fn func(sql string, args []any, took time.Duration)) context.Context
	log         *slog.Logger
}

// Config is what a Service needs.
type Config struct {
	Table     *Table
	Invoker   Invoker // nil: the site has no plugins
	Store     document.Store
	Documents *document.Service
	Aliases   map[string]string // site setting method_aliases
	Logger    *slog.Logger      // nil: nothing is logged

	// OnDocuments are methods of the documents of one DocType, beside those that
	// all documents have.
	OnDocuments []DocumentMethod

	// Caller makes the Caller another user would be, to explain what that user
	// may do; nil: nobody asks about others.
	Caller func(ctx context.Context, user string) (*identity.Caller, error)
	// Later keeps calls that are made after the request; nil: there are none.
	Later Later
	// Mail sends letters; nil: nobody does.
	Mail Mailer
	// Observe makes a context in which every statement is shown to fn, for lists
	// with debug; nil: debug shows nothing.
	Observe func(ctx context.Context, fn func(sql string, args []any, took time.Duration)) context.Context
}

// New makes the service of one site.
func New(c Config) *Service {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return &Service{
		table: c.Table, invoker: c.Invoker, store: c.Store, documents: c.Documents,
		aliases: newAliases(c.Aliases), onDocuments: c.OnDocuments, callers: c.Caller, observe: c.Observe, later: c.Later, mail: c.Mail, log: c.Logger,
	}
}

// Invocation is one request to run a method.
type Invocation struct {
	Path    string // as the client wrote it; aliases are applied
	Verb    string // HTTP verb; a job uses POST
	Caller  *identity.Caller
	Args    Args
	Request *Request // nil when no HTTP request asks
	// Within is the generation whose methods go before those that serve now, held by
	// whoever asks; nil: none.
	Within Pin
}

// Result is what a call that succeeded leaves to tell.
type Result struct {
	Message  json.RawMessage // JSON of the value returned; nil: none
	Extra    json.RawMessage // a JSON object with other top-level keys; nil: none
	Messages []notice.Notice // what the user is told beside it
	Reply    *Reply
}
