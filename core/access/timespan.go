package access

import (
	"strings"

	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/query"
)

// relative maps the values of the operators previous and next to timespans.
var relative = map[string]string{
	"1 week": "week", "1 month": "month", "3 months": "quarter", "6 months": "6 months", "1 year": "year",
}

// timespan resolves a named span, or previous/next with a period, to its first
// and last day, counted from now in the site's zone (reference, section 1.10).
func (at comparer) timespan(op doctype.Operand, c query.Cond) (doctype.Where, error) {
	f := op.Field
	if !f.Takes(c.Op) {
		return nil, fault.Invalid("", "%s: %s works on dates", f.Name, c.Op)
	}
	text, _ := c.Value.(string)
	name := strings.ToLower(strings.Join(strings.Fields(text), " "))
	switch c.Op {
	case query.Previous:
		name = "last " + relative[name]
	case query.Next:
		name = "next " + relative[name]
	}
	first, last, ok := doctype.Span(name, at.now)
	if !ok {
		return nil, fault.Invalid("", "%s: unknown timespan %q", f.Name, text)
	}
	from, to := doctype.FormatDatetime(first), doctype.FormatDatetime(last)[:len(doctype.DateLayout)]+" 23:59:59.999999"
	if f.Kind == doctype.Date {
		from, to = from[:len(doctype.DateLayout)], to[:len(doctype.DateLayout)]
	}
	return doctype.Compare{Operand: op, Op: query.Between, Value: [2]any{from, to}}, nil
}
