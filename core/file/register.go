package file

import (
	"context"
	"net/url"
	"path"
	"strings"
	"unicode"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
)

// maxURL is the most characters of a URL that a File keeps.
const maxURL = 600

// Register makes a File of a URL instead of a content, in the caller's
// transaction: one of the web, or that of a stored file that the caller may
// read. The new File then shares the bytes and has a URL of its own.
//
// Errors: ValidationError for a URL of another kind or with "..", Denied for a
// private one the caller may not read, and those of Upload.
func (s *Service) Register(ctx context.Context, tx document.Tx, caller *identity.Caller, address string, in Info) (*doctype.Document, error) {
	in, key, content, err := s.resolve(ctx, tx, caller, address, in)
	if err != nil {
		return nil, err
	}
	values := in.values()
	for field, v := range content {
		values[field] = v
	}
	return s.insert(ctx, tx, caller, key, values)
}

// Copy makes another File of one that the caller may read (library_file_name).
func (s *Service) Copy(ctx context.Context, tx document.Tx, caller *identity.Caller, name string, in Info) (*doctype.Document, error) {
	found, err := s.find(ctx, tx, 1, match{"name", name}, match{"is_folder", int64(0)})
	if err != nil {
		return nil, err
	}
	ok := false
	if len(found) > 0 {
		if ok, err = s.mayRead(ctx, tx, caller, found[0]); err != nil {
			return nil, err
		}
	}
	if !ok {
		return nil, fault.Denied("User %s may not read File %s", caller.User, name)
	}
	if in.Name == "" {
		in.Name = found[0].Text("file_name")
	}
	return s.Register(ctx, tx, caller, found[0].Text("file_url"), in)
}

// resolve checks a URL to be registered and returns the fields that follow from
// it, and the key of the bytes it shares. It locks the files of the site where
// there are such.
func (s *Service) resolve(ctx context.Context, tx document.Tx, caller *identity.Caller, address string, in Info) (_ Info, key string, content map[string]any, err error) {
	address = strings.TrimSpace(address)
	if err := checkURL(address); err != nil {
		return in, "", nil, err
	}
	_, local := stored(address)
	if !local {
		if in.Name == "" {
			in.Name = nameIn(address)
		}
		in, err := s.admit(ctx, tx, caller, 0, in)
		return in, "", map[string]any{"file_url": address}, err
	}
	if err := s.lock(ctx, tx); err != nil {
		return in, "", nil, err
	}
	shared, err := s.Open(ctx, tx, caller, address, "")
	if err != nil {
		return in, "", nil, err
	}
	if in.Name == "" {
		in.Name = shared.Text("file_name")
	}
	in.Private = shared.Bool("is_private")
	if in, err = s.admit(ctx, tx, caller, shared.Int("file_size"), in); err != nil {
		return in, "", nil, err
	}
	content, err = s.contentOf(ctx, tx, shared, in)
	return in, shared.Text("storage_key"), content, err
}

// contentOf are the fields of a new File that shares the bytes of another: what
// follows from the bytes, and a URL of its own.
func (s *Service) contentOf(ctx context.Context, tx document.Tx, shared *doctype.Document, in Info) (map[string]any, error) {
	address, err := s.freeURL(ctx, tx, in.Name, shared.Text("content_hash"), in.Private)
	return map[string]any{
		"file_url": address, "content_hash": shared.Get("content_hash"),
		"file_size": shared.Int("file_size"), "file_type": fileType(in.Name),
	}, err
}

// checkURL refuses what is neither on the web nor one of ours.
func checkURL(address string) error {
	_, local := stored(address)
	u, err := url.Parse(address)
	web := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
	dots := local && strings.Contains(address, "..")
	if !local && !web || dots || len(address) > maxURL || strings.ContainsFunc(address, unicode.IsControl) {
		return fault.Invalid("", "Cannot access file path %s", CleanName(address))
	}
	return nil
}

// nameIn is the file name in a URL of the web.
func nameIn(address string) string {
	u, err := url.Parse(address)
	if err != nil || path.Base(u.Path) == "/" || path.Base(u.Path) == "." {
		return "link"
	}
	return path.Base(u.Path)
}
