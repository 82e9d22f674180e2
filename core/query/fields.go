package query

import (
	"slices"
	"strings"
)

// fields reads the output columns.
func (p *parser) fields(v any) ([]Field, error) {
	items, err := list("fields", v)
	if err != nil || len(items) == 0 {
		return nil, err
	}
	if len(items) > MaxFields {
		return nil, malformed("There are more than %d fields", MaxFields)
	}
	fields := make([]Field, 0, len(items))
	for _, item := range items {
		var f Field
		switch item := item.(type) {
		case string:
			f, err = fieldText(item)
		case map[string]any:
			f, err = fieldObject(item)
		default:
			err = malformed("fields must be a JSON array of names")
		}
		if err != nil {
			return nil, err
		}
		if !slices.Contains(fields, f) {
			fields = append(fields, f)
		}
	}
	return fields, nil
}

// fieldText reads a field given as text: a column, an aggregate, either with
// an alias.
func fieldText(s string) (Field, error) {
	expr, alias, ok := cutAlias(s)
	if !ok {
		return Field{}, notPermitted(s)
	}
	f := Field{Alias: alias}
	if isStar(expr) {
		f.Star, ok = true, alias == ""
	} else if name, arg, isCall := cutCall(expr); isCall {
		ok = f.aggregate(name, arg)
	} else {
		f.Ref, ok = parseRef(expr)
	}
	if !ok {
		return Field{}, notPermitted(s)
	}
	return f, nil
}

// fieldObject reads {"COUNT": "name", "as": "n"} and {"table_field": [...]}.
func fieldObject(m map[string]any) (Field, error) {
	var f Field
	name, arg := "", ""
	if len(m) == 1 {
		for key, v := range m {
			if rows, ok := v.([]any); ok {
				return fieldNested(key, rows)
			}
		}
	}
	for key, v := range m {
		text, ok := v.(string)
		switch {
		case !ok:
			return f, notPermitted(key)
		case strings.EqualFold(key, "as"):
			if f.Alias = text; !isName(text) {
				return f, notPermitted(text)
			}
		case name != "":
			return f, malformed("A field object holds one function")
		default:
			name, arg = key, text
		}
	}
	if !f.aggregate(name, arg) {
		return f, notPermitted(name + "(" + arg + ")")
	}
	return f, nil
}

// fieldNested reads {"table_field": ["a", "b"]}.
func fieldNested(table string, names []any) (Field, error) {
	f := Field{Ref: Ref{Name: table}, Nested: &Nested{}}
	if !isName(table) {
		return f, notPermitted(table)
	}
	if len(names) == 0 || len(names) > MaxFields {
		return f, malformed("%s needs 1 to %d fields", table, MaxFields)
	}
	for _, v := range names {
		name, ok := v.(string)
		switch name = strings.TrimSpace(name); {
		case name == "*":
			f.Nested.Star = true
		case !ok || !isName(name):
			return f, notPermitted(name)
		case !slices.Contains(f.Nested.Fields, name):
			f.Nested.Fields = append(f.Nested.Fields, name)
		}
	}
	return f, nil
}

// aggregate sets the function and what it works on.
func (f *Field) aggregate(name, arg string) (ok bool) {
	switch fn := Func(strings.ToUpper(strings.TrimSpace(name))); fn {
	case Count, Sum, Avg, Min, Max:
		f.Func = fn
	default:
		return false
	}
	if arg = strings.TrimSpace(arg); arg == "*" {
		f.Star = true
		return f.Func == Count
	}
	f.Ref, ok = parseRef(arg)
	return ok
}

// cutAlias takes "as alias" off the end.
func cutAlias(s string) (expr, alias string, ok bool) {
	if !strings.ContainsAny(s, " \t\n\r") {
		return s, "", true // most are plain names
	}
	s = strings.Join(strings.Fields(s), " ")
	i := strings.LastIndex(strings.ToLower(s), " as ")
	if i < 0 || i+len(" as ") > len(s) {
		return s, "", true
	}
	alias = s[i+len(" as "):]
	if inner, quoted := strings.CutPrefix(alias, "`"); quoted {
		alias, ok = strings.CutSuffix(inner, "`")
		return s[:i], alias, ok && isName(alias)
	}
	return s[:i], alias, isName(alias)
}

// cutCall splits name(argument).
func cutCall(s string) (name, arg string, ok bool) {
	inner, ok := strings.CutSuffix(s, ")")
	if !ok {
		return "", "", false
	}
	return strings.Cut(inner, "(")
}

// isStar reports whether s asks for every column of the listed DocType. A
// qualified star means the same: other tables are only reached field by field.
func isStar(s string) bool {
	if s == "*" {
		return true
	}
	table, ok := strings.CutSuffix(s, ".*")
	return ok && len(table) > len("`tab`") && table[0] == '`' && table[len(table)-1] == '`' && isTable(table[1:len(table)-1])
}

// expand reads the names of link fields.
func (p *parser) expand(v any) ([]string, error) {
	items, err := list("expand", v)
	if err != nil || len(items) == 0 {
		return nil, err
	}
	if len(items) > MaxExpand {
		return nil, malformed("There are more than %d fields to expand", MaxExpand)
	}
	names := make([]string, 0, len(items))
	for _, item := range items {
		name, ok := item.(string)
		if name = strings.TrimSpace(name); !ok || !isName(name) {
			return nil, notPermitted(name)
		}
		names = append(names, name)
	}
	return names, nil
}
