// Package document is the heart of the platform: the one door through which
// everybody reaches documents, Service, and the life of a document behind it.
//
// Nothing is asked of Service but through As, which takes the Caller and the
// transaction: docs.As(caller, tx).Insert(ctx, "ToDo", values). Rights are
// checked here, in the data layer, whoever knocks. What documents are is said in
// core/doctype. The package declares the Store and the Hooks it needs and
// imports neither.
package document

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"armature/core/access"
	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/identity"
)

// Service is the one door to documents. Every method takes the Caller and
// checks the caller's rights; REST, methods, plugins and jobs all come through
// here, inside a transaction that they did not open themselves.
type Service struct {
	store   Store
	catalog *doctype.Catalog
	hooks   []Hooks
	extra   ExtraAccess
	sealer  Sealer
	clock   func() time.Time
	log     *slog.Logger

	protection    map[string]access.Protection
	reserved      func(name string) bool
	readOnly      func() bool
	refuseUnknown func() bool
	maxAnswer     func() int
	quota         Quota
}

// ServiceConfig is what a Service needs.
type ServiceConfig struct {
	Store       Store
	Catalog     *doctype.Catalog
	Hooks       []Hooks                      // in the order they run, after the platform's own
	ExtraAccess ExtraAccess                  // nil: nothing beyond the rules of roles
	Protection  map[string]access.Protection // of the platform's DocTypes, by name
	Sealer      Sealer                       // seals Password fields; nil: they cannot be stored
	Now         func() time.Time             // the site's wall clock, in the site's zone
	Logger      *slog.Logger

	// Reserved reports whether a new DocType may not have a name: the platform keeps
	// it for itself. nil: every name may be had.
	Reserved func(name string) bool

	// RefuseUnknown reports whether a write that names a field its DocType does not
	// have is refused; nil, or false: the field is named in the answer.
	RefuseUnknown func() bool

	// ReadOnly reports whether nothing may be written now (ErrReadOnlySite); nil: never.
	ReadOnly func() bool

	// MaxAnswer is the most bytes of an answer, and of a document with its rows;
	// nil: DefaultMaxAnswer.
	MaxAnswer func() int

	// Quota is what the site may keep; nil: as much as there is room for.
	Quota Quota
}

// NewService makes the door to one site's documents.
func NewService(c ServiceConfig) *Service {
	s := &Service{
		store: c.Store, catalog: c.Catalog, extra: c.ExtraAccess, sealer: c.Sealer, clock: c.Now, log: c.Logger,
		protection: c.Protection, reserved: c.Reserved, refuseUnknown: c.RefuseUnknown, readOnly: c.ReadOnly, maxAnswer: c.MaxAnswer, quota: c.Quota,
	}
	if s.quota == nil {
		s.quota = unlimited{}
	}
	if s.clock == nil {
		s.clock = time.Now
	}
	if s.reserved == nil {
		s.reserved = func(string) bool { return false }
	}
	if s.refuseUnknown == nil {
		s.refuseUnknown = func() bool { return false }
	}
	if s.maxAnswer == nil {
		s.maxAnswer = func() int { return DefaultMaxAnswer }
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.hooks = append([]Hooks{definitions{s}, namingRules{s}}, c.Hooks...)
	s.warnBroken(s.Schema())
	return s
}

// Platform reports whether a DocType is one of the platform's own.
func (s *Service) Platform(name string) bool { return s.protection[name].Platform }

// Schema is the current snapshot of the site's DocTypes.
func (s *Service) Schema() *doctype.Schema { return s.catalog.Schema() }

// ReadOptions is how a single document is read.
type ReadOptions struct {
	ExpandLinks bool // every link becomes the linked document
	WithNull    bool // keep keys whose value is null
}

func (s *Service) now() time.Time       { return s.clock() }
func (s *Service) zone() *time.Location { return s.clock().Location() }

// Now is the time on the site's clock.
func (s *Service) Now() time.Time { return s.clock() }

// Zone is the site's time zone.
func (s *Service) Zone() *time.Location { return s.zone() }

// DeleteMode is the cheapest Mode in which the edge may delete documents of the
// DocType: a deletion leaves a Deleted Document behind, so it is never OneWrite.
func (s *Service) DeleteMode(typeName string) Mode {
	return min(s.WriteMode(typeName), GroupedTx)
}

// WriteMode is the cheapest Mode in which the edge may create or change
// documents of the DocType.
func (s *Service) WriteMode(typeName string) Mode {
	mode := OneWrite
	if dt := s.Schema().DocType(typeName); dt != nil && dt.Child {
		return PluginTx // it is a document with rows that changes, which one is not known yet
	}
	if dt := s.Schema().DocType(typeName); dt != nil && (len(dt.Tables) > 0 || dt.Track || dt.Tree || dt.Counts()) {
		mode = GroupedTx
	}
	for _, h := range s.hooks {
		if !h.Handles(typeName) {
			continue
		}
		if h.RunsPlugins(typeName) {
			return PluginTx
		}
		mode = GroupedTx
	}
	if typeName == doctype.DocTypeName {
		return OwnTx // tables change: nothing else shares the transaction
	}
	return mode
}

// Key names a document.
type Key struct{ DocType, Name string }

// LockInOrder locks the documents that several writes are about to change, for all
// writers in one order. It tells nothing of them; those that there are not, and
// rows of child tables, are left out.
func (s *Service) LockInOrder(ctx context.Context, tx Tx, keys []Key) error {
	names := map[string][]string{}
	for _, k := range keys {
		if dt := s.Schema().DocType(k.DocType); dt != nil && !dt.Child && k.Name != "" {
			names[k.DocType] = append(names[k.DocType], k.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if err := tx.Lock(ctx, s.Schema().DocType(name), names[name]); err != nil {
			return err
		}
	}
	return nil
}

// RunsPlugins reports whether a change of documents of the DocType may run code that
// is not the platform's own, or reach the network.
func (s *Service) RunsPlugins(typeName string) bool {
	for _, h := range s.hooks {
		if h.Handles(typeName) && h.RunsPlugins(typeName) {
			return true
		}
	}
	return false
}

// maxEvents is how deep events may cause each other: a hook that saves a
// document whose hook saves the first ends here and not in the machine's memory.
// Guests end sooner, by the nesting of calls.
const maxEvents = 10

type eventDepth struct{}

// fire offers an event to every hook of the DocType: before a write to plugins
// first, so that what they have changed passes all that the platform checks, and
// otherwise in the order of the hooks.
func (s *Service) fire(ctx context.Context, name string, tx Tx, caller *identity.Caller, doc, before *doctype.Document) error {
	if name != BeforeInsert {
		return s.fireTo(ctx, everybody, name, tx, caller, doc, before)
	}
	if err := s.fireTo(ctx, guests, name, tx, caller, doc, before); err != nil {
		return err
	}
	return s.fireTo(ctx, platform, name, tx, caller, doc, before)
}

// fireBefore offers the events before a write: all of them to plugins, and then
// all of them to the platform.
func (s *Service) fireBefore(ctx context.Context, tx Tx, caller *identity.Caller, doc, before *doctype.Document, events []string) error {
	for _, to := range []audience{guests, platform} {
		for _, name := range events {
			if err := s.fireTo(ctx, to, name, tx, caller, doc, before); err != nil {
				return err
			}
		}
	}
	return nil
}

// audience is to whom an event is offered.
type audience uint8

const (
	everybody audience = iota
	guests             // hooks that run code that is not the platform's
	platform
)

func (s *Service) fireTo(ctx context.Context, to audience, name string, tx Tx, caller *identity.Caller, doc, before *doctype.Document) error {
	deeper := false
	for _, h := range s.hooks {
		if !h.Handles(doc.Type.Name) || to != everybody && h.RunsPlugins(doc.Type.Name) != (to == guests) {
			continue
		}
		if !deeper {
			depth, _ := ctx.Value(eventDepth{}).(int)
			if depth >= maxEvents {
				return fault.Invalid("", "Events cause each other more than %d deep: %s of %s", maxEvents, name, doc.Type.Name)
			}
			ctx, deeper = context.WithValue(ctx, eventDepth{}, depth+1), true
		}
		ev := Event{Name: name, Tx: tx, Caller: caller, Doc: doc, Before: before}
		if err := h.Run(ctx, &ev); err != nil {
			return err
		}
	}
	return nil
}
