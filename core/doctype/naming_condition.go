package doctype

import (
	"cmp"
	"strings"
	"time"
)

// NamingRule is one such rule, as part of the schema.
type NamingRule struct {
	Name       string // of its document; the counter is its own
	Prefix     string
	Digits     int
	Priority   int64 // the highest is asked first
	Conditions []NamingCondition
}

// NamingCondition compares a field with a value: the canonical one of the text.
type NamingCondition struct{ Field, Op, Value string }

// Applies reports whether every condition holds for the document; zone is the
// site's.
func (r *NamingRule) Applies(doc *Document, zone *time.Location) bool {
	for _, c := range r.Conditions {
		f := doc.Type.Field(c.Field)
		if f == nil || f.Index < 0 {
			return false
		}
		want, err := Coerce(f, c.Value, zone)
		if err != nil || !holds(doc.Values()[f.Index], c.Op, want) {
			return false
		}
	}
	return true
}

// holds compares two canonical values of one field; null is before everything.
func holds(have any, op string, want any) bool {
	order := 0
	switch h := have.(type) {
	case int64:
		w, _ := want.(int64)
		order = cmp.Compare(h, w)
	case float64:
		w, _ := want.(float64)
		order = cmp.Compare(h, w)
	default:
		h2, _ := have.(string)
		w, _ := want.(string)
		order = strings.Compare(h2, w)
	}
	switch op {
	case "=":
		return order == 0
	case "!=":
		return order != 0
	case ">":
		return order > 0
	case "<":
		return order < 0
	case ">=":
		return order >= 0
	case "<=":
		return order <= 0
	}
	return false
}
