package share

import (
	"context"

	"armature/core/access"
	"armature/core/document"
	"armature/core/fault"
)

// Hooks holds DocShare documents that come by any other way, REST, import or a
// plugin, to the rules of Add and Remove.
func (s *Service) Hooks() document.Hooks { return hooks{s} }

type hooks struct{ s *Service }

func (hooks) Handles(doctype string) bool { return doctype == DocType }
func (hooks) RunsPlugins(string) bool     { return false }

func (h hooks) Run(ctx context.Context, ev *document.Event) error {
	switch ev.Name {
	case document.Validate:
		return h.validate(ctx, ev)
	case document.OnTrash:
		return h.trash(ctx, ev)
	}
	return nil
}

func (h hooks) validate(ctx context.Context, ev *document.Event) error {
	doc, before := ev.Doc, ev.Before
	with := With{User: doc.Text("user"), Everyone: doc.Bool("everyone")}
	if err := with.check(); err != nil {
		return err
	}
	if rightsOf(doc) == 0 {
		return fault.Invalid("", "A share gives at least the right to read")
	}
	doc.Put("read", int64(1))
	rights := rightsOf(doc)
	if before != nil {
		for _, field := range []string{"user", "everyone", "share_doctype", "share_name"} {
			if doc.Get(field) != before.Get(field) {
				return fault.Invalid("CannotChangeConstantError", "%s of a share cannot be changed; make another one", field)
			}
		}
		rights |= rightsOf(before)
	}
	// Whoever passes every check still shares only what is there.
	if err := h.s.demand(ctx, ev.Tx, ev.Caller, doc.Text("share_doctype"), doc.Text("share_name"), rights); err != nil {
		return err
	}
	if before != nil {
		return nil
	}
	there, err := h.s.find(ctx, ev.Tx, doc.Text("share_doctype"), doc.Text("share_name"), &with)
	if err == nil && len(there) > 0 {
		return fault.New(fault.Conflict, "DuplicateEntryError", "%s %s is shared with them already", doc.Text("share_doctype"), doc.Text("share_name"))
	}
	return err
}

func (h hooks) trash(ctx context.Context, ev *document.Event) error {
	doc := ev.Doc
	if doc.Text("user") == ev.Caller.User && !ev.Caller.IsGuest() {
		return nil
	}
	err := h.s.demand(ctx, ev.Tx, ev.Caller, doc.Text("share_doctype"), doc.Text("share_name"), rightsOf(doc)|access.Read)
	if fault.KindOf(err) == fault.NotFound {
		return nil // what it was about is gone
	}
	return err
}
