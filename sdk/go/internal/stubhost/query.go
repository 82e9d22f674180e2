package stubhost

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"armature/sdk/go"
)

func (h *Host) docList(in armature.Doc) (any, error) {
	found, err := h.matching(in)
	if err != nil {
		return nil, err
	}
	if in.String("group_by") != "" {
		return nil, &armature.Error{Kind: armature.KindNotImplemented, Message: "stubhost does not group; see Host.On"}
	}
	sortBy(found, in.String("order_by"))
	found = page(found, in)
	rows := make([]armature.Doc, len(found))
	for i, doc := range found {
		rows[i] = row(doc, in["fields"])
	}
	return rows, nil
}

func (h *Host) docCount(in armature.Doc) (any, error) {
	found, err := h.matching(in)
	return len(found), err
}

func (h *Host) matching(in armature.Doc) ([]armature.Doc, error) {
	var found []armature.Doc
	for _, doc := range h.docs[in.DocType()] {
		and, _, err := tally(doc, in["filters"])
		if err != nil {
			return nil, err
		}
		_, or, err := tally(doc, in["or_filters"])
		if err != nil {
			return nil, err
		}
		if and && or {
			found = append(found, doc)
		}
	}
	return found, nil
}

// tally reports whether all and whether any of the filters hold; without filters
// both are true.
func tally(doc armature.Doc, filters any) (all, any bool, err error) {
	list, _ := filters.([]interface{})
	all, any = true, len(list) == 0
	for _, f := range list {
		triple, _ := f.([]interface{})
		if len(triple) != 3 {
			return false, false, armature.Invalid("a filter is [field, operator, value]")
		}
		field, _ := triple[0].(string)
		op, _ := triple[1].(string)
		ok, err := holds(doc[field], op, triple[2])
		if err != nil {
			return false, false, err
		}
		all, any = all && ok, any || ok
	}
	return all, any, nil
}

func holds(have any, op string, want any) (bool, error) {
	list, _ := want.([]any)
	among := func() bool { return slices.ContainsFunc(list, func(v any) bool { return compare(have, v) == 0 }) }
	switch op {
	case "=":
		return compare(have, want) == 0, nil
	case "!=":
		return compare(have, want) != 0, nil
	case "<":
		return compare(have, want) < 0, nil
	case "<=":
		return compare(have, want) <= 0, nil
	case ">":
		return compare(have, want) > 0, nil
	case ">=":
		return compare(have, want) >= 0, nil
	case "like":
		return like(have, want), nil
	case "not like":
		return !like(have, want), nil
	case "in":
		return among(), nil
	case "not in":
		return !among(), nil
	case "is":
		return (have != nil && have != "") == (want == "set"), nil
	case "between":
		return len(list) == 2 && compare(have, list[0]) >= 0 && compare(have, list[1]) <= 0, nil
	}
	return false, &armature.Error{Kind: armature.KindNotImplemented, Message: "stubhost has no operator " + op + "; see Host.On"}
}

// compare orders numbers as numbers and everything else as text without regard to
// case, as the databases do.
func compare(a, b any) int {
	x, y := armature.Doc{"": a}, armature.Doc{"": b}
	_, text := a.(string)
	if _, alsoText := b.(string); text || alsoText {
		return cmp.Compare(strings.ToLower(x.String("")), strings.ToLower(y.String("")))
	}
	return cmp.Compare(x.Float(""), y.Float(""))
}

func like(have, pattern any) bool {
	text, _ := have.(string)
	p, _ := pattern.(string)
	p = strings.NewReplacer("%", ".*", "_", ".").Replace(regexp.QuoteMeta(p))
	return regexp.MustCompile("(?is)^" + p + "$").MatchString(text)
}

func sortBy(docs []armature.Doc, order string) {
	field, direction, _ := strings.Cut(order, " ")
	if order == "" {
		field, direction = "modified", "desc"
	}
	slices.SortStableFunc(docs, func(a, b armature.Doc) int {
		if strings.EqualFold(direction, "desc") {
			a, b = b, a
		}
		return compare(a[field], b[field])
	})
}

// page cuts the rows asked for: 20 by default, 0 for all.
func page(docs []armature.Doc, in armature.Doc) []armature.Doc {
	docs = docs[min(int(in.Int("limit_start")), len(docs)):]
	limit := 20
	if _, given := in["limit_page_length"]; given {
		limit = int(in.Int("limit_page_length"))
	}
	if limit > 0 && limit < len(docs) {
		docs = docs[:limit]
	}
	return docs
}

func row(doc armature.Doc, fields any) armature.Doc {
	names, _ := fields.([]any)
	if len(names) == 0 {
		names = []any{"name"}
	}
	out := armature.Doc{}
	for _, name := range names {
		field, _ := name.(string)
		if field == "*" {
			for key, value := range doc {
				if key != "doctype" {
					out[key] = value
				}
			}
			continue
		}
		out[field] = doc[field]
	}
	return out
}
