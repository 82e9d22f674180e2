package oracle_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

func (s *seer) rows(q *question, all []binding) []map[string]any {
	rows := []map[string]any{}
	switch {
	case q.counted:
		return append(rows, map[string]any{"c": int64(len(all))})
	case q.group != nil:
		groups, values := map[any][]binding{}, []any{}
		for _, b := range all {
			v := s.value(b, q.group)
			if groups[v] == nil {
				values = append(values, v)
			}
			groups[v] = append(groups[v], b)
		}
		slices.SortFunc(values, func(a, b any) int { return q.directed(before(a, b)) })
		for _, v := range values {
			row := s.folded(q, groups[v])
			row[q.group[len(q.group)-1]] = v
			rows = append(rows, row)
		}
	case q.total:
		return append(rows, s.folded(q, all))
	default:
		if q.newest {
			slices.SortFunc(all, func(a, b binding) int { return cmp.Compare(b.record.at, a.record.at) })
		}
		if q.order != nil {
			slices.SortStableFunc(all, func(a, b binding) int {
				return cmp.Or(q.directed(before(s.value(a, q.order), s.value(b, q.order))), strings.Compare(a.record.name, b.record.name))
			})
		}
		for _, b := range all {
			rows = append(rows, s.row(q, b))
		}
	}
	rows = rows[min(q.start, len(rows)):]
	if q.length > 0 {
		rows = rows[:min(q.length, len(rows))]
	}
	return rows
}

func (q *question) directed(c int) int {
	if q.desc {
		return -c
	}
	return c
}

// row is one row of a list that folds nothing.
func (s *seer) row(q *question, b binding) map[string]any {
	row := map[string]any{"name": b.record.name}
	for i, c := range q.columns {
		if s.shows(c) {
			row[fmt.Sprintf("c%d", i)] = s.value(b, c)
		}
	}
	for _, link := range q.expand {
		if !s.shows([]string{link}) {
			continue
		}
		row[link] = b.record.value(link)
		k := s.w.kind(s.kind.field(link).to)
		if to := s.w.record(k.name, fmt.Sprint(row[link])); to != nil && s.sees(k, to, "read") {
			row[link] = s.document(k, to)
		}
	}
	if q.nested != nil && s.shows([]string{"lines"}) {
		rows := []any{}
		for _, r := range b.record.rows["lines"] {
			one := map[string]any{}
			for _, name := range q.nested {
				if s.shows([]string{"lines", name}) {
					one[name] = r.value(name)
				}
			}
			rows = append(rows, one)
		}
		row["lines"] = rows
	}
	return row
}

// document is what the caller sees of the columns of a document.
func (o *oracle) document(k *kind, r *record) map[string]any {
	all := map[string]any{"name": r.name}
	for _, f := range k.fields {
		if f.typ != "Table" && slices.Contains(o.levels(k), f.level) {
			all[f.name] = r.value(f.name)
		}
	}
	return all
}

// folded is one row of numbers about several.
func (s *seer) folded(q *question, all []binding) map[string]any {
	row := map[string]any{"c": int64(len(all))}
	if q.fold == nil || !s.shows(q.fold) {
		return row
	}
	var known []any
	for _, b := range all {
		if v := s.value(b, q.fold); v != nil {
			known = append(known, v)
		}
	}
	row["s"] = nil
	if q.with == "count" {
		row["s"] = len(known)
	} else if len(known) > 0 {
		row["s"] = fold(q.with, known)
	}
	return row
}

func fold(with string, known []any) any {
	least := func(a, b any) int { return before(a, b) }
	switch with {
	case "min":
		return slices.MinFunc(known, least)
	case "max":
		return slices.MaxFunc(known, least)
	}
	sum := 0.0
	for _, v := range known {
		switch v := v.(type) {
		case int64:
			sum += float64(v)
		case float64:
			sum += v
		}
	}
	if with == "avg" {
		return sum / float64(len(known))
	}
	return sum
}

// before puts null first.
func before(a, b any) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	case less(a, b):
		return -1
	case less(b, a):
		return 1
	}
	return 0
}
