package file

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
)

// systemSettings is the Single in which administrators set what section 6.2
// names. A site that lacks it, or a field of it, goes by its configuration.
const systemSettings = "System Settings"

// defaultMaxSize is the most bytes of a file where nothing else is set.
const defaultMaxSize = 25 << 20

// settings are the rules of one site for uploads.
type settings struct {
	maxSize       int64    // bytes
	extensions    []string // allowed ones, lower case; none: all
	guests        bool     // Guests may upload
	guestDocTypes []string // and attach to documents of these
}

// settings reads the rules that hold now.
func (s *Service) settings(ctx context.Context, tx document.Tx) (settings, error) {
	var doc *doctype.Document
	if dt := s.documents().Schema().DocType(systemSettings); dt != nil && dt.Single {
		var err error
		doc, err = tx.Get(ctx, s.documents().Schema(), dt, systemSettings, false)
		if err != nil && fault.KindOf(err) != fault.NotFound {
			return settings{}, err
		}
	}
	set := settings{
		maxSize:       s.maxSize(doc),
		extensions:    words(s.text(doc, "allowed_file_extensions")),
		guests:        flag(s.text(doc, "allow_guests_to_upload_files")),
		guestDocTypes: lines(s.text(doc, "allowed_doctypes_for_guest_uploads")),
	}
	return set, nil
}

// maxSize is in megabytes in System Settings and in bytes in the configuration.
func (s *Service) maxSize(doc *doctype.Document) int64 {
	if doc != nil && doc.Int("max_file_size") > 0 {
		return min(doc.Int("max_file_size"), 1<<40) << 20
	}
	var n int64
	if err := json.Unmarshal(s.setting("max_file_size"), &n); err == nil && n > 0 {
		return n
	}
	return defaultMaxSize
}

// text is a setting as text, whatever its field or JSON is.
func (s *Service) text(doc *doctype.Document, name string) string {
	if doc != nil && doc.Type.Field(name) != nil {
		switch v := doc.Get(name).(type) {
		case string:
			return v
		case int64:
			return strconv.FormatInt(v, 10)
		}
		return ""
	}
	raw := s.setting(name)
	var text string
	var list []string
	switch {
	case json.Unmarshal(raw, &text) == nil:
		return text
	case json.Unmarshal(raw, &list) == nil:
		return strings.Join(list, "\n")
	}
	return string(raw)
}

// flag reads a yes in the forms that clients send.
func flag(text string) bool {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "1", "true", "yes", "on":
		return true
	}
	return false
}

// lines splits at line ends and commas.
func lines(text string) []string {
	var all []string
	for _, one := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == ',' || r == '\r' }) {
		if one = strings.TrimSpace(one); one != "" {
			all = append(all, one)
		}
	}
	return all
}

// words are lines in lower case without a leading dot: extensions.
func words(text string) []string {
	all := lines(strings.ToLower(text))
	for i := range all {
		all[i] = strings.TrimPrefix(all[i], ".")
	}
	return all
}

// admitType refuses a file by its name.
func (set settings) admitType(caller *identity.Caller, name string) error {
	ext := extension(name)
	if len(set.extensions) > 0 && !slices.Contains(set.extensions, ext) {
		return fault.Invalid("FileTypeNotAllowed", "File type of %s is not allowed", ext)
	}
	if (caller.IsGuest() || !caller.Desk && !caller.Unchecked()) && !forEverybody[ext] {
		return fault.Invalid("", "You can only upload JPG, PNG, GIF, PDF, TXT, CSV, MP4, MOV, Microsoft or OpenDocument files")
	}
	return nil
}
