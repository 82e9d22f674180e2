package document

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"armature/core/doctype"
	"armature/core/fault"
)

// MaxNameLength is the most characters a document name may have.
const MaxNameLength = 140

// name gives a new document its name by the DocType's rule (reference, section
// 2.3). supplied is the name the client sent, if any: it counts where the rule
// leaves the choice to the client.
func (s *Service) name(ctx context.Context, tx Tx, doc *doctype.Document, supplied string) error {
	if set := doc.Name(); set != "" {
		supplied = set // a hook of the DocType has named it (rule 6)
	}
	name, err := s.pickName(ctx, tx, doc, strings.TrimSpace(supplied))
	if err != nil {
		return err
	}
	if err := checkName(doc.Type, name); err != nil {
		return err
	}
	doc.Put("name", name)
	return nil
}

// suppliedName reads the name that a client sent: text, or a number, as the
// names of autoincrement DocTypes are read.
func suppliedName(v any) (string, error) {
	if _, odd := v.(bool); odd {
		return "", fault.Invalid("DataError", "The name must be text")
	}
	text, err := doctype.CoerceText(&doctype.Field{Type: "Long Text", Label: "The name"}, v)
	name, _ := text.(string)
	return name, err
}

func (s *Service) pickName(ctx context.Context, tx Tx, doc *doctype.Document, supplied string) (string, error) {
	dt := doc.Type
	rule := dt.Autoname
	switch {
	case doctype.Numbered(rule):
		n, err := tx.Next(ctx, seriesCounter(dt, ""))
		return strconv.FormatInt(n, 10), err
	case strings.EqualFold(rule, "uuid"):
		return nameUUID(supplied)
	case dt.Field("amended_from") != nil && doc.Text("amended_from") != "":
		return amendedName(ctx, tx, dt, doc.Text("amended_from"))
	case dt.Single:
		return dt.Name, nil
	}
	if name, ok, err := s.nameByRule(ctx, tx, doc); ok || err != nil {
		return name, err
	}
	switch {
	case dt.NamingField() != "":
		return nameFromField(doc, dt.NamingField())
	case strings.HasPrefix(rule, "naming_series:"):
		return s.nameFromSeriesField(ctx, tx, doc)
	case strings.EqualFold(rule, "prompt"):
		if supplied == "" {
			return "", fault.Invalid("", "Please set the document name")
		}
		return supplied, nil
	case strings.HasPrefix(rule, "format:"):
		return s.nameBySeries(ctx, tx, doc, formatParts(strings.TrimPrefix(rule, "format:")))
	case strings.Contains(rule, "#"), strings.Contains(rule, "."):
		return s.nameBySeries(ctx, tx, doc, dottedParts(rule, dt))
	case supplied != "":
		return supplied, nil
	}
	return HashName(s.now()), nil
}

// nameUUID is a new UUID of version 7 (RFC 9562), or the client's own.
func nameUUID(supplied string) (string, error) {
	if supplied == "" {
		id, err := uuid.NewV7()
		return id.String(), err
	}
	id, err := uuid.Parse(supplied)
	if err != nil {
		return "", fault.Invalid("InvalidUUIDValue", "%s is not a UUID", supplied)
	}
	return id.String(), nil
}

// nameFromSeriesField resolves the pattern in the document's naming_series
// field, whose first option is the default.
func (s *Service) nameFromSeriesField(ctx context.Context, tx Tx, doc *doctype.Document) (string, error) {
	f := doc.Type.Field("naming_series")
	if f == nil || f.Index < 0 {
		return "", fault.Invalid("", "%s is named by series and has no field naming_series", doc.Type.Name)
	}
	pattern := doc.Text("naming_series")
	for _, option := range f.SelectOptions() {
		if pattern == "" {
			pattern = strings.TrimSpace(option)
		}
	}
	if pattern == "" {
		return "", fault.Invalid("", "Please set a series for %s", doc.Type.Name)
	}
	doc.Put("naming_series", pattern)
	return s.nameBySeries(ctx, tx, doc, dottedParts(pattern, doc.Type))
}

// keepNamingField sets the field that names the document back to the name: only a
// rename changes either. A document that was named otherwise, as the Administrator
// is, keeps the value it has. Where the field is set only once, another value is
// refused.
func keepNamingField(doc, before *doctype.Document) error {
	f := doc.Type.Field(doc.Type.NamingField())
	if f == nil || f.Kind != doctype.Text || f.Index < 0 {
		return nil
	}
	if before == nil || before.Name() != doc.Name() {
		doc.Values()[f.Index] = doc.Name()
		return nil
	}
	if f.SetOnlyOnce && doc.Values()[f.Index] != before.Values()[f.Index] {
		return unchangeable(f, "")
	}
	doc.Values()[f.Index] = before.Values()[f.Index]
	return nil
}

func nameFromField(doc *doctype.Document, field string) (string, error) {
	f := doc.Type.Field(field)
	if f == nil {
		return "", fault.Invalid("", "%s is named by a field it does not have: %s", doc.Type.Name, field)
	}
	name := strings.TrimSpace(doc.Text(field))
	if name == "" {
		return "", fault.Invalid("", "%s is required", f.Title())
	}
	return name, nil
}

// HashName makes a name of 10 characters of 0-9a-v: four of the time in tenths
// of a second, so that neighbours in time are neighbours in the index, and six
// of randomness.
func HashName(now time.Time) string {
	const alphabet = "0123456789abcdefghijklmnopqrstuv"
	var seed [8]byte
	rand.Read(seed[:]) // never fails; see crypto/rand
	random := binary.LittleEndian.Uint64(seed[:])
	tick := uint64(now.UnixMilli() / 100)
	var name [10]byte
	for i := 3; i >= 0; i-- {
		name[i] = alphabet[tick&31]
		tick >>= 5
	}
	for i := 4; i < len(name); i++ {
		name[i] = alphabet[random&31]
		random >>= 5
	}
	return string(name[:])
}

func checkName(dt *doctype.DocType, name string) error {
	bad := func(why string) error {
		return fault.New(fault.Conflict, "NameError", "%q cannot be the name of a %s: %s", name, dt.Name, why)
	}
	switch {
	case name == "":
		return bad("it is empty")
	case utf8.RuneCountInString(name) > MaxNameLength:
		return fault.Invalid("CharacterLengthExceededError",
			"The name is too long, at most %d characters are allowed", MaxNameLength)
	case strings.ContainsAny(name, "<>"):
		return bad("< and > are not allowed")
	case !utf8.ValidString(name) || strings.ContainsFunc(name, isControl):
		return bad("it holds control characters")
	case !dt.Single && name == dt.Name && dt.Name != doctype.DocTypeName:
		return bad("it equals the DocType")
	case strings.HasPrefix(name, "New "+dt.Name):
		return bad("such names are kept for unsaved documents")
	}
	return nil
}

func isControl(r rune) bool { return r < 0x20 || r == 0x7f }
