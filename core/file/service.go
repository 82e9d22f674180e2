package file

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
)

// DocType is the name of the documents this package is about.
const DocType = "File"

// The folders every site has.
const (
	home        = "Home"
	attachments = "Home/Attachments"
)

// Config is what a Service needs.
type Config struct {
	Store     document.Store
	Documents func() *document.Service // asked when first needed: it runs the Hooks of this service
	Storage   Storage
	Spool     string    // folder for files on their way in; for Disk on the same file system
	Shrinker  *Shrinker // shared by the sites of a process; nil: one of its own
	Identity  string    // of the database, and of no other; empty: its files are not swept

	// Quota bounds the bytes of all files; nil: nothing does.
	Quota Quota
	// Setting returns a key of the site's configuration as JSON, or nil.
	Setting func(key string) json.RawMessage
	// Call runs a whitelisted method that handles an uploaded file instead of
	// this service (argument "method") and returns its value; nil: there are none.
	Call   func(ctx context.Context, caller *identity.Caller, call MethodCall) (json.RawMessage, error)
	Now    func() time.Time // nil: time.Now
	Logger *slog.Logger     // nil: nothing is logged
}

// Quota bounds the bytes of a site's files.
type Quota interface {
	// GrowFiles admits so many bytes more. With stored they are counted, once the
	// transaction is committed.
	GrowFiles(ctx context.Context, tx document.Tx, bytes int64, stored bool) error
}

// Service is the files of one site. Its methods check the caller's rights; those
// that take a Tx work in a transaction that somebody else ends.
type Service struct {
	store     document.Store
	documents func() *document.Service
	storage   Storage
	spool     string
	identity  string
	shrinker  *Shrinker
	setting   func(string) json.RawMessage
	quota     Quota
	call      func(context.Context, *identity.Caller, MethodCall) (json.RawMessage, error)
	now       func() time.Time
	log       *slog.Logger

	hashing   chan struct{} // one for each content that may be hashed at a time
	attach    atomic.Pointer[attachFields]
	finishing locks // uploads in chunks that are being put together
}

// New makes the file service of a site and the spool folder.
func New(c Config) (*Service, error) {
	if err := os.MkdirAll(c.Spool, 0o700); err != nil {
		return nil, fmt.Errorf("file spool: %w", err)
	}
	s := &Service{
		store: c.Store, documents: c.Documents, storage: c.Storage, spool: c.Spool, identity: strings.ToLower(c.Identity),
		hashing:  make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)),
		shrinker: c.Shrinker, setting: c.Setting, quota: c.Quota, call: c.Call, now: c.Now, log: c.Logger,
	}
	if s.shrinker == nil {
		s.shrinker = NewShrinker(1)
	}
	if s.setting == nil {
		s.setting = func(string) json.RawMessage { return nil }
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	return s, nil
}

// grow asks the quota for the bytes of a content that is not stored yet.
func (s *Service) grow(ctx context.Context, tx document.Tx, bytes int64, stored bool) error {
	if s.quota == nil {
		return nil
	}
	return s.quota.GrowFiles(ctx, tx, bytes, stored)
}

// own marks a File that this service inserts, so that its hooks leave it alone
// but for the key of its bytes, which is no value that anybody can send. It
// marks that one document: what other hooks insert while they are told of it is
// looked at like everything else.
type own struct {
	doc *doctype.Document
	key string
}

// claims reports whether doc is the one that this service inserts; the first
// event of the insertion says which that is.
func claims(ctx context.Context, doc *doctype.Document) bool {
	o, _ := ctx.Value(own{}).(*own)
	if o != nil && o.doc == nil {
		o.doc = doc
		doc.Put("storage_key", text(o.key))
	}
	return o != nil && o.doc == doc
}

// elevated is the caller after this service has checked the rights.
func elevated(caller *identity.Caller) *identity.Caller {
	as := *caller
	as.Elevated = true // the owner stays the user, the scopes stay the token's
	return &as
}

// consequence is the caller where Files follow from a change of another
// document, which the token or plugin reached: it need not reach Files as well.
func consequence(caller *identity.Caller) *identity.Caller {
	as := elevated(caller)
	as.Scopes, as.Frame = nil, nil
	return as
}

// insert creates a File after this service has checked the caller's rights: by
// the attached document, or as a Guest, a caller may have more of them than the
// roles say. key is that of its bytes; empty: it has none here.
func (s *Service) insert(ctx context.Context, tx document.Tx, caller *identity.Caller, key string, values map[string]any) (*doctype.Document, error) {
	ctx = context.WithValue(ctx, own{}, &own{key: key})
	return s.documents().As(elevated(caller), tx).Insert(ctx, DocType, values)
}

// lock makes everybody else who adds, moves or removes files of this site wait
// until the transaction ends: which URL is free, which content is there already
// and who is the last to refer to it are questions about all Files at once. The
// transactions are short; contents are received outside them.
func (s *Service) lock(ctx context.Context, tx document.Tx) error {
	_, err := tx.Next(ctx, "files")
	return err
}

// doctype is the definition of File on this site.
func (s *Service) doctype() (*doctype.DocType, error) {
	if dt := s.documents().Schema().DocType(DocType); dt != nil {
		return dt, nil
	}
	return nil, fault.Missing("DocType %s not found", DocType)
}
