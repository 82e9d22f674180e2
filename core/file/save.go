package file

import (
	"context"
	"errors"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
)

// Info is what a client says of a file it uploads or registers.
type Info struct {
	Name    string // as the client wrote it
	Private bool
	Folder  string // name of a File that is a folder; empty: Home, or Home/Attachments

	DocType string // the document to attach to
	DocName string
	Field   string // its attach field
}

// errUnplaced says that a content turned out to be new after all: its bytes have
// to be stored before the document.
var errUnplaced = errors.New("the content is not stored yet")

// Upload makes a File of a draft in a transaction of its own and returns it.
//
// Errors: Denied for a Guest where Guests may not upload and for a document the
// caller may not write; FileTypeNotAllowed, MaxFileSizeReachedError,
// AttachmentLimitReached; QuotaExceededError for bytes that the site may not have;
// LinkValidationError for a folder that is none.
func (s *Service) Upload(ctx context.Context, caller *identity.Caller, d *Draft, in Info) (*doctype.Document, error) {
	// Who is refused costs no storage, and what is there already no second copy.
	var same string
	err := s.store.Read(ctx, func(tx document.Tx) (err error) {
		if _, err = s.admit(ctx, tx, caller, d.Size, in); err == nil {
			same, err = s.sharedKey(ctx, tx, d)
		}
		if err == nil && same == "" {
			err = s.grow(ctx, tx, d.Size, false)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if same == "" {
		if err := d.place(ctx); err != nil {
			return nil, err
		}
	}
	doc, err := s.uploadPlaced(ctx, caller, d, in)
	if errors.Is(err, errUnplaced) { // the File with the same content is gone meanwhile
		if err := d.place(ctx); err != nil {
			return nil, err
		}
		doc, err = s.uploadPlaced(ctx, caller, d, in)
	}
	if fault.KindOf(err) == fault.Unavailable {
		// The commit may have happened; bytes that nobody refers to are found by
		// the sweep.
		d.kept.Store(true)
	}
	return doc, err
}

func (s *Service) uploadPlaced(ctx context.Context, caller *identity.Caller, d *Draft, in Info) (doc *doctype.Document, err error) {
	err = s.write(ctx, func(tx document.Tx) error {
		doc, err = s.Save(ctx, tx, caller, d, in)
		return err
	})
	return doc, err
}

// write runs fn in a transaction of its own and commits it.
func (s *Service) write(ctx context.Context, fn func(document.Tx) error) error {
	mode := min(s.documents().WriteMode(DocType), document.GroupedTx)
	return s.store.Write(ctx, mode, fn)
}

// Place stores the bytes of a draft, for a Save in somebody else's transaction.
// It talks to the storage, so it belongs before that transaction.
func (s *Service) Place(ctx context.Context, d *Draft) error {
	if d.key != "" {
		return nil
	}
	return d.place(ctx)
}

// Save makes a File of a draft in the caller's transaction; the draft is placed
// unless the same content is stored already. Close the draft after the
// transaction has ended: the bytes stay if it was committed and go if not.
// Errors are those of Upload.
func (s *Service) Save(ctx context.Context, tx document.Tx, caller *identity.Caller, d *Draft, in Info) (*doctype.Document, error) {
	info, err := s.admit(ctx, tx, caller, d.Size, in)
	if err != nil {
		return nil, err
	}
	if err := s.lock(ctx, tx); err != nil {
		return nil, err
	}
	key, err := s.sharedKey(ctx, tx, d)
	switch {
	case err != nil:
		return nil, err
	case key == "" && d.key == "":
		return nil, errUnplaced
	case key == "":
		key = d.key
	}
	if key == d.key {
		if err := s.grow(ctx, tx, d.Size, true); err != nil {
			return nil, err
		}
	}
	url, err := s.freeURL(ctx, tx, info.Name, d.MD5, in.Private)
	if err != nil {
		return nil, err
	}
	values := info.values()
	values["file_url"] = url
	values["content_hash"] = d.MD5
	values["file_size"] = d.Size
	doc, err := s.insert(ctx, tx, caller, key, values)
	if err == nil && key == d.key {
		tx.AfterCommit(func() { d.kept.Store(true) })
	}
	return doc, err
}

// admit applies the rules for a new File and completes what is said of it.
func (s *Service) admit(ctx context.Context, tx document.Tx, caller *identity.Caller, size int64, in Info) (Info, error) {
	set, err := s.settings(ctx, tx)
	if err != nil {
		return in, err
	}
	if in.Name = CleanName(in.Name); in.Name == "" {
		return in, fault.Invalid("MandatoryError", "The file has no name")
	}
	switch {
	case caller.IsGuest() && !set.guests:
		return in, guestRefused()
	case size > set.maxSize:
		return in, tooLarge(set.maxSize)
	}
	if err := set.admitType(caller, in.Name); err != nil {
		return in, err
	}
	if err := s.admitTarget(ctx, tx, caller, set, in); err != nil {
		return in, err
	}
	if err := s.admitCount(ctx, tx, in); err != nil {
		return in, err
	}
	return in, s.admitFolder(ctx, tx, &in)
}

func guestRefused() error { return fault.Denied("You need to log in to upload files") }

// values are the fields of a File that the client decides.
func (in Info) values() map[string]any {
	return map[string]any{
		"file_name": in.Name, "file_type": fileType(in.Name), "is_private": in.Private, "folder": in.Folder,
		"attached_to_doctype": text(in.DocType), "attached_to_name": text(in.DocName), "attached_to_field": text(in.Field),
	}
}

// text keeps an absent text absent: an empty one would be shown.
func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// admitFolder fills in the folder and refuses one that is none.
func (s *Service) admitFolder(ctx context.Context, tx document.Tx, in *Info) error {
	switch {
	case in.Folder != "":
	case in.DocType != "":
		in.Folder = attachments
	default:
		in.Folder = home
	}
	return s.mustBeFolder(ctx, tx, in.Folder)
}

func (s *Service) mustBeFolder(ctx context.Context, tx document.Tx, name string) error {
	ok, err := s.exists(ctx, tx, match{"name", name}, match{"is_folder", int64(1)})
	if err == nil && !ok {
		return fault.Invalid("LinkValidationError", "Could not find Folder: %s", name)
	}
	return err
}

// admitCount applies the limit that a DocType sets on attachments.
func (s *Service) admitCount(ctx context.Context, tx document.Tx, in Info) error {
	if in.DocType == "" || in.DocName == "" {
		return nil
	}
	most, err := s.maxAttachments(ctx, tx, in.DocType)
	if err != nil || most <= 0 {
		return err
	}
	attached, err := s.find(ctx, tx, int(most), match{"attached_to_doctype", in.DocType}, match{"attached_to_name", in.DocName})
	if err == nil && int64(len(attached)) >= most {
		return fault.Invalid("AttachmentLimitReached",
			"Maximum attachment limit of %d has been reached for %s %s", most, in.DocType, in.DocName)
	}
	return err
}

func (s *Service) maxAttachments(ctx context.Context, tx document.Tx, typeName string) (most int64, err error) {
	dt := s.documents().Schema().DocType(doctype.DocTypeName)
	limit := dt.Field("max_attachments")
	err = tx.Rows(ctx, &doctype.Select{
		DocType: dt, Where: doctype.AllOf{equal(dt, match{"name", typeName})},
		Columns: []doctype.Column{{Operand: doctype.Operand{Field: limit}, Key: limit.Name}},
	}, func(values []any) error {
		most, _ = values[0].(int64)
		return nil
	})
	return most, err
}
