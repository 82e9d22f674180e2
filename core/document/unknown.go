package document

import (
	"context"
	"slices"
	"strings"

	"armature/core/doctype"
	"armature/core/fault"
)

// UnknownFieldsKey is the member of an answer that names the fields which a write
// named and its DocType does not have: an array of their names, those of rows
// behind the name of their table and a point.
const UnknownFieldsKey = "_unknown_fields"

// Freshen brings the schema up to date where values name something that this process
// does not know. It is for who has to know the DocType before a transaction begins.
func (s *Service) Freshen(ctx context.Context, typeName string, values map[string]any) error {
	if dt := s.Schema().DocType(typeName); dt != nil && s.knows(dt, values) {
		return nil
	}
	return s.Refresh(ctx)
}

// settle is what every write from outside begins with. Where it names something
// that this process does not know, another process may have made it a moment ago:
// the schema is brought up to date first. What is still unknown is refused, or
// noted for the answer, as the site wants it.
func (s *Service) settle(ctx context.Context, tx Tx, typeName string, values map[string]any) error {
	if err := s.Freshen(ctx, typeName, values); err != nil {
		return err
	}
	dt := s.Schema().DocType(typeName)
	if dt == nil || s.knows(dt, values) {
		return nil // that there is none is said by whoever looks for it
	}
	names := s.Unknown(dt, values)
	if len(names) == 0 {
		return nil
	}
	if s.refuseUnknown() {
		return unknownRefused(dt, names)
	}
	noted := notedUnknown(tx)
	*noted = append(*noted, names...)
	return nil
}

func unknownRefused(dt *doctype.DocType, names []string) error {
	return fault.Invalid("", "%s has no field %s", dt.Name, strings.Join(names, ", "))
}

// knows reports whether the DocType has all that values name, without making a
// list of what it does not have.
func (s *Service) knows(dt *doctype.DocType, values map[string]any) bool {
	for key, v := range values {
		f := dt.Field(key)
		if f == nil && !beside(key) {
			return false
		}
		if f == nil || f.Kind != doctype.Rows {
			continue
		}
		child := s.Schema().DocType(f.Options)
		rows, _ := v.([]any)
		for _, row := range rows {
			if row, ok := row.(map[string]any); ok && child != nil && !s.knows(child, row) {
				return false
			}
		}
	}
	return true
}

// Unknown lists what values name and the DocType does not have, sorted, each once.
func (s *Service) Unknown(dt *doctype.DocType, values map[string]any) []string {
	names := s.appendUnknown(nil, dt, values, "")
	slices.Sort(names)
	return slices.Compact(names)
}

func (s *Service) appendUnknown(names []string, dt *doctype.DocType, values map[string]any, before string) []string {
	for key, v := range values {
		f := dt.Field(key)
		if f == nil && !beside(key) {
			names = append(names, before+key)
		}
		if f == nil || f.Kind != doctype.Rows {
			continue
		}
		child := s.Schema().DocType(f.Options)
		rows, _ := v.([]any)
		for _, row := range rows {
			if row, ok := row.(map[string]any); ok && child != nil {
				names = s.appendUnknown(names, child, row, key+".")
			}
		}
	}
	return names
}

// beside reports whether a key says something besides a document's fields: its
// DocType, where a row belongs, or what clients keep to themselves under names
// that no field can have.
func beside(key string) bool {
	switch key {
	case "doctype", "parent", "parenttype", "parentfield":
		return true
	}
	return strings.HasPrefix(key, "_")
}

type unknownKey struct{}

func notedUnknown(tx Tx) *[]string {
	return tx.SideEffects().Value(unknownKey{}, func() any { return new([]string) }).(*[]string)
}

// UnknownFields lists what the writes of a transaction named and their DocTypes do
// not have, sorted, each once; nil: nothing.
func UnknownFields(tx Tx) []string {
	noted, _ := tx.SideEffects().Kept(unknownKey{}).(*[]string)
	if noted == nil || len(*noted) == 0 {
		return nil
	}
	names := slices.Clone(*noted)
	slices.Sort(names)
	return slices.Compact(names)
}

// CollectUnknown runs fn and returns what its writes named and their DocTypes do not
// have, for an answer of its own: UnknownFields will not list it.
func CollectUnknown(tx Tx, fn func() error) ([]string, error) {
	noted := notedUnknown(tx)
	outer := *noted
	*noted = nil
	defer func() { *noted = outer }()
	err := fn()
	return UnknownFields(tx), err
}

// AppendUnknown appends the names as the member UnknownFieldsKey of the JSON object
// that dst ends with; nothing without names.
func AppendUnknown(dst []byte, names []string) []byte {
	if len(names) == 0 {
		return dst
	}
	dst = dst[:len(dst)-1]
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	dst = append(dst, `"`+UnknownFieldsKey+`":[`...)
	for i, name := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = doctype.AppendString(dst, name)
	}
	return append(dst, "]}"...)
}
