package query

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// filters reads filters and or_filters (reference section 1.9): every
// one of the first, and some one of the second.
func (p *parser) filters(every, some any) (Expr, error) {
	and, err := p.argument("filters", every, joinAnd)
	if err != nil {
		return nil, err
	}
	or, err := p.argument("or_filters", some, joinOr)
	if err != nil {
		return nil, err
	}
	return joinAnd(and, or), nil
}

// argument reads one of the two. Text that does not begin like JSON is the name
// of a document.
func (p *parser) argument(name string, v any, join joiner) (Expr, error) {
	if text, ok := v.(string); ok {
		switch trimmed := strings.TrimSpace(text); {
		case trimmed == "" || trimmed == "null":
			return nil, nil
		case strings.IndexByte(`[{"`, trimmed[0]) >= 0:
			var err error
			if v, err = fromText(name, text); err != nil {
				return nil, err
			}
		}
	}
	switch v := v.(type) {
	case nil:
		return nil, nil
	case map[string]any:
		return p.object(v, join)
	case []any:
		switch {
		case looksLikeCondition(v):
			return p.condition(v)
		case allNames(v) && !p.rule:
			return p.cond(Ref{Name: "name"}, In, v)
		}
		return p.list(v, join, 1)
	case string, json.Number, float64, int, int64:
		return p.cond(Ref{Name: "name"}, Eq, v)
	}
	return nil, malformed("%s must be a JSON array or object", name)
}

// looksLikeCondition tells a single condition that is not wrapped in a list
// from a list of names: it has an operator where one belongs, or is not all
// text.
func looksLikeCondition(v []any) bool {
	if len(v) < 2 || len(v) > 5 {
		return false
	}
	if _, ok := v[0].(string); !ok {
		return false
	}
	if isOperator(v[1]) && len(v) > 2 || len(v) > 3 && isOperator(v[2]) {
		return true
	}
	return !allNames(v)
}

// allNames reports whether the list holds nothing but what may be names of
// documents: texts, or numbers alone.
func allNames(v []any) bool {
	texts, numbers := 0, 0
	for _, item := range v {
		switch item.(type) {
		case string:
			texts++
		case json.Number, float64, int, int64:
			numbers++
		}
	}
	return len(v) > 0 && (texts == len(v) || numbers == len(v))
}

// joiner combines two expressions, either of which may be nil.
type joiner func(a, b Expr) Expr

func joinAnd(a, b Expr) Expr {
	if a == nil || b == nil {
		return either(a, b)
	}
	if list, ok := a.(And); ok {
		return append(list, b)
	}
	return And{a, b}
}

func joinOr(a, b Expr) Expr {
	if a == nil || b == nil {
		return either(a, b)
	}
	if list, ok := a.(Or); ok {
		return append(list, b)
	}
	return Or{a, b}
}

func either(a, b Expr) Expr {
	if a == nil {
		return b
	}
	return a
}

// list reads a list of conditions and groups. The words "and" and "or" between
// two of them combine what is left of them with what is right; without a word
// join does.
func (p *parser) list(items []any, join joiner, depth int) (Expr, error) {
	if depth > MaxDepth {
		return nil, malformed("Filters are nested more than %d deep", MaxDepth)
	}
	var whole Expr
	var word joiner
	for _, item := range items {
		if next, ok := connective(item); ok {
			if whole == nil || word != nil {
				return nil, malformed("A filter is missing before %q", item)
			}
			word = next
			continue
		}
		part, err := p.element(item, depth)
		if err != nil {
			return nil, err
		}
		if part == nil {
			continue
		}
		if word == nil {
			word = join
		}
		whole, word = word(whole, part), nil
	}
	if word != nil {
		return nil, malformed("A filter is missing at the end")
	}
	return whole, nil
}

func connective(v any) (joiner, bool) {
	word, _ := v.(string)
	switch strings.ToLower(word) {
	case "and":
		return joinAnd, true
	case "or":
		return joinOr, true
	}
	return nil, false
}

// element reads one item of a list of filters.
func (p *parser) element(v any, depth int) (Expr, error) {
	switch v := v.(type) {
	case map[string]any:
		return p.object(v, joinAnd)
	case []any:
		if len(v) == 0 {
			return nil, nil
		}
		if _, ok := v[0].(string); ok {
			return p.condition(v)
		}
		return p.list(v, joinAnd, depth+1)
	}
	return nil, malformed("A filter must be a JSON array or object")
}

// object reads {"field": value, "other": [operator, value]}.
func (p *parser) object(m map[string]any, join joiner) (Expr, error) {
	var whole Expr
	for _, key := range slices.Sorted(maps.Keys(m)) {
		ref, ok := p.ref(key)
		if !ok {
			return nil, notPermitted(key)
		}
		op, value := any(string(Eq)), m[key]
		if pair, ok := value.([]any); ok {
			if len(pair) != 2 {
				return nil, malformed("The filter on %s must be a value or an operator and a value", shorten(key))
			}
			op, value = pair[0], pair[1]
		}
		part, err := p.compare(ref, op, value)
		if err != nil {
			return nil, err
		}
		whole = join(whole, part)
	}
	return whole, nil
}
