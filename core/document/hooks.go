package document

import (
	"context"

	"armature/core/access"
	"armature/core/doctype"
	"armature/core/identity"
)

// Event names, in the reference's spelling (section 2.6).
const (
	BeforeInsert            = "before_insert"
	BeforeValidate          = "before_validate"
	Validate                = "validate"
	BeforeSave              = "before_save"
	AfterInsert             = "after_insert"
	OnUpdate                = "on_update"
	OnChange                = "on_change"
	BeforeSubmit            = "before_submit"
	OnSubmit                = "on_submit"
	BeforeUpdateAfterSubmit = "before_update_after_submit"
	OnUpdateAfterSubmit     = "on_update_after_submit"
	BeforeCancel            = "before_cancel"
	OnCancel                = "on_cancel"
	OnTrash                 = "on_trash"
	AfterDelete             = "after_delete"
	AfterCommit             = "after_commit" // of plugins alone: a job, made in the transaction of on_change
	BeforeDiscard           = "before_discard"
	OnDiscard               = "on_discard"
	BeforeRename            = "before_rename"
	AfterRename             = "after_rename"
)

// Event is one moment in a document's life, offered to hooks inside the
// transaction of the change. Before is the stored document, nil on insert. Up
// to the write a hook may change Doc; an error refuses the change.
type Event struct {
	Name   string
	Tx     Tx
	Caller *identity.Caller
	Doc    *doctype.Document
	Before *doctype.Document
}

// ExtraAccess is access.ExtraAccess for any caller and transaction. core/file satisfies it
// for File, which goes with the field it is attached to.
type ExtraAccess interface {
	Covers(typeName string) bool
	// Decide says whether the caller has a right on one document.
	Decide(ctx context.Context, tx Tx, caller *identity.Caller, doc *doctype.Document, right access.Right) (access.Verdict, error)
	// Seen says what a caller sees in lists: of what roles and shares show only what
	// meets within, and beside it what meets more. Nil within: all; nil more: nothing.
	Seen(ctx context.Context, tx Tx, caller *identity.Caller) (within, more doctype.Where, err error)
	// Gone takes along what goes with a document of any DocType that is being
	// deleted. It is no event: a DocType without hooks stays without.
	Gone(ctx context.Context, tx Tx, caller *identity.Caller, doc *doctype.Document) error
}

// Hooks reacts to events. plugins/dispatch satisfies it for guests, the services
// for their own DocTypes.
type Hooks interface {
	// Handles reports whether Run does anything for some event of the DocType.
	// It is asked on every write and must be cheap.
	Handles(typeName string) bool
	// RunsPlugins reports whether the hooks of the DocType run code that is not the
	// platform's own, or reach the network: such a write takes a transaction of
	// its own.
	RunsPlugins(typeName string) bool
	Run(ctx context.Context, ev *Event) error
}
