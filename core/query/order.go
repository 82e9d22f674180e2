package query

import (
	"strconv"
	"strings"
)

// order reads "field [asc|desc], ...". A number names an output column, from 1.
// Anything that is not a field, functions and SQL above all, is a
// ValidationError.
func (p *parser) order(v any, fields []Field) ([]Order, error) {
	parts, err := keys("order_by", v)
	if err != nil {
		return nil, err
	}
	var order []Order
	for _, part := range parts {
		o, ok := orderKey(part, fields)
		if !ok {
			return nil, refused("Cannot order by %s", shorten(part))
		}
		order = append(order, o)
	}
	return order, nil
}

func orderKey(s string, fields []Field) (o Order, ok bool) {
	name := s
	// The direction is the last word; a DocType in backquotes may have spaces.
	if i := strings.LastIndexByte(s, ' '); i >= 0 && !strings.HasSuffix(s, "`") {
		switch strings.ToLower(s[i+1:]) {
		case "desc":
			name, o.Desc = s[:i], true
		case "asc":
			name = s[:i]
		}
	}
	if n, err := strconv.Atoi(name); err == nil {
		o.Ref, ok = columnNumber(n, fields)
		return o, ok
	}
	o.Ref, ok = parseRef(name)
	return o, ok
}

// columnNumber is what the n-th output column is called.
func columnNumber(n int, fields []Field) (Ref, bool) {
	if len(fields) == 0 {
		return Ref{Name: "name"}, n == 1
	}
	if n < 1 || n > len(fields) {
		return Ref{}, false
	}
	f := fields[n-1]
	if f.Alias != "" {
		return Ref{Name: f.Alias}, true
	}
	return f.Ref, !f.Star && f.Func == ""
}

// group reads "field, ...", by the rules of order.
func (p *parser) group(v any) ([]Ref, error) {
	parts, err := keys("group_by", v)
	if err != nil {
		return nil, err
	}
	var refs []Ref
	for _, part := range parts {
		ref, ok := parseRef(part)
		if !ok {
			return nil, refused("Cannot group by %s", shorten(part))
		}
		refs = append(refs, ref)
	}
	return refs, nil
}

// keys splits a list of keys at its commas.
func keys(name string, v any) ([]string, error) {
	if v == nil {
		return nil, nil
	}
	text, ok := v.(string)
	if !ok {
		return nil, refused("%s must be text", name)
	}
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	if strings.Count(text, ",") >= MaxOrder {
		return nil, refused("%s has more than %d keys", name, MaxOrder)
	}
	parts := strings.Split(text, ",")
	for i, part := range parts {
		parts[i] = strings.Join(strings.Fields(part), " ")
	}
	return parts, nil
}
