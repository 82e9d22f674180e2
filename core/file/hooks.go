package file

import (
	"context"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
)

// Hooks is the life of File documents, whoever creates, changes or deletes them,
// and of the Attach fields of all others.
func (s *Service) Hooks() document.Hooks { return hooks{s} }

type hooks struct{ s *Service }

func (h hooks) Handles(typeName string) bool {
	return typeName == DocType || h.s.fields().within[typeName]
}

// RunsPlugins implements document.Hooks. Bytes are removed after the commit, so no
// write waits for a network; but a change of a File may change the document it
// is attached to, of which plugins may hear.
func (h hooks) RunsPlugins(typeName string) bool {
	if typeName != DocType {
		return false
	}
	for other := range h.s.fields().within {
		if other != DocType && h.s.documents().RunsPlugins(other) {
			return true
		}
	}
	return false
}

func (h hooks) Run(ctx context.Context, ev *document.Event) error {
	if ev.Doc.Type.Name != DocType {
		return h.attached(ctx, ev)
	}
	switch ev.Name {
	case document.BeforeInsert:
		return h.create(ctx, ev)
	case document.Validate:
		return h.change(ctx, ev)
	case document.OnUpdate:
		if before := ev.Before; before != nil && before.Text("file_url") != ev.Doc.Text("file_url") {
			return h.s.follow(ctx, ev, before.Text("file_url"), ev.Doc.Get("file_url"))
		}
	case document.OnTrash:
		return h.trash(ctx, ev)
	case document.AfterDelete:
		// The URL may be given to another File: the field must not show that one.
		if err := h.s.follow(ctx, ev, ev.Doc.Text("file_url"), nil); err != nil {
			return err
		}
		return h.s.removeAfter(ctx, ev.Tx, ev.Doc.Text("storage_key"))
	}
	return nil
}

// attached follows the documents that have Attach fields.
func (h hooks) attached(ctx context.Context, ev *document.Event) error {
	switch ev.Name {
	case document.BeforeSave, document.BeforeSubmit, document.BeforeUpdateAfterSubmit:
		return h.s.settle(ctx, ev)
	case document.OnUpdate, document.OnUpdateAfterSubmit:
		if ev.Before != nil {
			return h.s.rowsGone(ctx, ev.Tx, ev.Caller, ev.Before, ev.Doc)
		}
	}
	return nil
}

// decided are the fields that follow from the content; nobody sets them.
var decided = []string{
	"file_url", "file_size", "file_type", "content_hash", "storage_key",
	"is_folder", "is_home_folder", "is_attachments_folder",
}

// forged is the refusal of a value that would be another than what follows from
// the content.
func forged(field string) error {
	return fault.Invalid("CannotChangeConstantError", "%s of a File follows from its content and cannot be set", field)
}

// create completes a File that did not come by an upload: a folder, or a URL.
func (h hooks) create(ctx context.Context, ev *document.Event) error {
	if claims(ctx, ev.Doc) {
		return nil
	}
	doc := ev.Doc
	folder, address := doc.Bool("is_folder"), doc.Text("file_url")
	sent, blank := doc.Clone(), doctype.NewDocument(doc.Type)
	for _, field := range decided {
		doc.Put(field, blank.Get(field))
	}
	if folder {
		return h.createFolder(ctx, ev)
	}
	if address == "" {
		return fault.Invalid("MandatoryError", "[File, %s]: file_url", doc.Text("file_name"))
	}
	in, key, content, err := h.s.resolve(ctx, ev.Tx, ev.Caller, address, infoOf(doc))
	if err != nil {
		return err
	}
	for field, v := range content {
		doc.Put(field, v)
	}
	for _, field := range []string{"file_size", "content_hash"} {
		if v := sent.Get(field); v != blank.Get(field) && v != doc.Get(field) {
			return forged(field)
		}
	}
	doc.Put("storage_key", text(key))
	doc.Put("file_name", in.Name)
	doc.Put("file_type", fileType(in.Name))
	doc.Put("is_private", check(in.Private))
	doc.Put("folder", in.Folder)
	return nil
}

func infoOf(doc *doctype.Document) Info {
	return Info{
		Name: doc.Text("file_name"), Private: doc.Bool("is_private"), Folder: doc.Text("folder"),
		DocType: doc.Text("attached_to_doctype"), DocName: doc.Text("attached_to_name"), Field: doc.Text("attached_to_field"),
	}
}

// createFolder names a folder by its path, as clients look for it.
func (h hooks) createFolder(ctx context.Context, ev *document.Event) error {
	doc := ev.Doc
	name, parent := CleanName(doc.Text("file_name")), doc.Text("folder")
	if name == "" {
		return fault.Invalid("MandatoryError", "[File, ]: file_name")
	}
	if parent == "" {
		parent = home
	}
	if err := h.s.mustBeFolder(ctx, ev.Tx, parent); err != nil {
		return err
	}
	for _, field := range []string{"attached_to_doctype", "attached_to_name", "attached_to_field"} {
		doc.Put(field, nil)
	}
	doc.Put("is_folder", int64(1))
	doc.Put("is_private", int64(0))
	doc.Put("file_name", name)
	doc.Put("folder", parent)
	doc.Put("name", parent+"/"+name)
	return nil
}

// change refuses to change what follows from the content, and moves the file
// where its privacy changes. A name is cleaned; the URL stays what it was.
func (h hooks) change(ctx context.Context, ev *document.Event) error {
	doc, before := ev.Doc, ev.Before
	if before == nil {
		return nil
	}
	for _, field := range decided {
		if doc.Get(field) != before.Get(field) {
			return forged(field)
		}
	}
	name := CleanName(doc.Text("file_name"))
	if name == "" {
		name = before.Text("file_name")
	}
	doc.Put("file_name", name)
	if doc.Bool("is_folder") {
		return h.changeFolder(ctx, ev)
	}
	if err := h.changeName(ctx, ev); err != nil {
		return err
	}
	if err := h.changePlace(ctx, ev); err != nil {
		return err
	}
	if doc.Bool("is_private") != before.Bool("is_private") {
		return h.s.move(ctx, ev)
	}
	return nil
}

// changeFolder refuses what would leave the name of a folder, which is its path,
// untrue.
func (h hooks) changeFolder(_ context.Context, ev *document.Event) error {
	for _, field := range []string{"file_name", "folder", "is_private"} {
		if ev.Doc.Get(field) != ev.Before.Get(field) {
			return fault.Invalid("", "The folder %s cannot be moved or renamed", ev.Before.Name())
		}
	}
	return nil
}

// changeName applies the rules for names: a file that may not be uploaded under a
// name may not be given it afterwards.
func (h hooks) changeName(ctx context.Context, ev *document.Event) error {
	name := ev.Doc.Text("file_name")
	if name == ev.Before.Text("file_name") {
		return nil
	}
	set, err := h.s.settings(ctx, ev.Tx)
	if err != nil {
		return err
	}
	ev.Doc.Put("file_type", fileType(name))
	return set.admitType(ev.Caller, name)
}

// changePlace checks another folder and another document to be attached to.
func (h hooks) changePlace(ctx context.Context, ev *document.Event) error {
	now, was := infoOf(ev.Doc), infoOf(ev.Before)
	if now.Folder != was.Folder {
		if err := h.s.mustBeFolder(ctx, ev.Tx, now.Folder); err != nil {
			return err
		}
	}
	if now.DocType == was.DocType && now.DocName == was.DocName && now.Field == was.Field {
		return nil
	}
	set, err := h.s.settings(ctx, ev.Tx)
	if err != nil {
		return err
	}
	if err := h.s.admitTarget(ctx, ev.Tx, ev.Caller, set, now); err != nil {
		return err
	}
	if now.DocType == was.DocType && now.DocName == was.DocName {
		return nil
	}
	return h.s.admitCount(ctx, ev.Tx, now)
}

// trash refuses to delete folders that are needed, and takes the lock before the
// document goes, so that the last one to go knows that it is.
func (h hooks) trash(ctx context.Context, ev *document.Event) error {
	doc := ev.Doc
	if doc.Bool("is_home_folder") || doc.Bool("is_attachments_folder") {
		return fault.Invalid("", "The folder %s cannot be deleted", doc.Name())
	}
	if err := h.s.lock(ctx, ev.Tx); err != nil || !doc.Bool("is_folder") {
		return err
	}
	full, err := h.s.exists(ctx, ev.Tx, match{"folder", doc.Name()})
	if err == nil && full {
		return fault.Invalid("", "Folder %s is not empty", doc.Name())
	}
	return err
}
