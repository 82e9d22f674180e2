package access

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"armature/core/doctype"
	"armature/core/query"
)

// meets evaluates a condition on a document in memory, as a store would on the
// row: for what is not written yet, and for what has just been read. Rows of its
// tables are those of the document; other documents are asked of the store.
func meets(ctx context.Context, tx Reader, w doctype.Where, doc *doctype.Document) (bool, error) {
	switch w := w.(type) {
	case nil:
		return true, nil
	case doctype.Compare:
		return compares(w.Field, w.Op, doc.Values()[w.Field.Index], w.Value), nil
	case doctype.AllOf:
		for _, part := range w {
			if ok, err := meets(ctx, tx, part, doc); !ok || err != nil {
				return false, err
			}
		}
		return true, nil
	case doctype.AnyOf:
		for _, part := range w {
			if ok, err := meets(ctx, tx, part, doc); ok || err != nil {
				return ok, err
			}
		}
		return false, nil
	case doctype.Some:
		found, err := hasSome(ctx, tx, w, doc)
		return found != w.Not, err
	}
	return false, nil
}

func hasSome(ctx context.Context, tx Reader, s doctype.Some, doc *doctype.Document) (bool, error) {
	if s.Via != nil {
		for _, row := range doc.Rows(s.Via.Name) {
			if ok, err := meets(ctx, tx, s.Where, row); ok || err != nil {
				return ok, err
			}
		}
		return false, nil
	}
	of := doc.Values()[s.Of.Field.Index]
	if of == nil || of == "" {
		return false, nil
	}
	where := doctype.Where(comparison(s.Key, query.Eq, of))
	if s.Below != nil {
		above, err := Ancestors(ctx, tx, s.Target, of, nil)
		if err != nil {
			return false, err
		}
		where = comparison(s.Key, query.In, append(above, of))
	}
	if s.Where != nil {
		where = doctype.AllOf{where, s.Where}
	}
	found := false
	err := tx.Rows(ctx, &doctype.Select{
		DocType: s.Target, Where: where, Length: 1,
		Columns: []doctype.Column{{Operand: doctype.Operand{Field: s.Target.Columns[doctype.ColName]}, Key: "name"}},
	}, func([]any) error {
		found = true
		return nil
	})
	return found, err
}

// asksOthers reports whether a condition is about more than the document's own
// columns.
func asksOthers(w doctype.Where) bool {
	switch w := w.(type) {
	case doctype.Some:
		return true
	case doctype.AllOf:
		return slices.ContainsFunc(w, asksOthers)
	case doctype.AnyOf:
		return slices.ContainsFunc(w, asksOthers)
	}
	return false
}

// compares is one comparison with the null rules of the reference (section
// 1.10): null is empty text, zero or the earliest date, but for like, between
// and is.
func compares(f *doctype.Field, op query.Op, got, want any) bool {
	switch op {
	case query.Is:
		set := got != nil && (got != "" || f.Kind != doctype.Text && f.Kind != doctype.JSON)
		return set == (want == true)
	case query.Like:
		return got != nil && like(textual(got), want.(string))
	case query.NotLike:
		pattern := want.(string)
		if got == nil {
			return strings.Trim(pattern, "%") != ""
		}
		return !like(textual(got), pattern)
	case query.In:
		return slices.ContainsFunc(want.([]any), func(v any) bool { return v != nil && order(f, got, v) == 0 })
	case query.NotIn:
		return !slices.ContainsFunc(want.([]any), func(v any) bool { return v != nil && order(f, got, v) == 0 })
	case query.Between:
		pair := want.([2]any)
		return got != nil && ordered(f, got, pair[0]) >= 0 && ordered(f, got, pair[1]) <= 0
	case query.Eq:
		return order(f, got, want) == 0
	case query.Ne:
		return order(f, got, want) != 0
	case query.Lt:
		return ordered(f, got, want) < 0
	case query.Le:
		return ordered(f, got, want) <= 0
	case query.Gt:
		return ordered(f, got, want) > 0
	case query.Ge:
		return ordered(f, got, want) >= 0
	}
	return false
}

// ordered is order, with names that are numbers by their number.
func ordered(f *doctype.Field, a, b any) int {
	if f.Numbered {
		x, _ := a.(string)
		y, _ := b.(string)
		if strings.HasPrefix(y, "-") {
			y = ""
		}
		if len(x) != len(y) {
			return len(x) - len(y)
		}
	}
	return order(f, a, b)
}

// order compares two canonical values of a field, either of which may be null.
func order(_ *doctype.Field, a, b any) int {
	switch y := b.(type) {
	case string:
		x, _ := a.(string)
		return strings.Compare(x, y)
	case int64:
		if x, isFloat := a.(float64); isFloat {
			return compareFloats(x, float64(y))
		}
		x, _ := a.(int64)
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	case float64:
		x, isFloat := a.(float64)
		if n, isInt := a.(int64); !isFloat && isInt {
			x = float64(n)
		}
		return compareFloats(x, y)
	}
	if a == nil && b == nil {
		return 0
	}
	return 1
}

func compareFloats(x, y float64) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// textual is a value as like sees it.
func textual(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return ""
}

// like matches a pattern of % and _, either escaped by a backslash; small and
// capital ASCII letters are the same.
func like(s, pattern string) bool {
	if n := len(pattern) - len(strings.TrimRight(pattern, `\`)); n%2 == 1 {
		pattern += `\` // a backslash that escapes nothing stands for itself
	}
	return likeRunes([]rune(foldASCII(s)), likeTokens(foldASCII(pattern)))
}

// token is one piece of a pattern: a rune, any one (one), or any number (any).
type token struct {
	r        rune
	one, any bool
}

func likeTokens(pattern string) []token {
	var tokens []token
	escaped := false
	for _, r := range pattern {
		switch {
		case escaped:
			tokens, escaped = append(tokens, token{r: r}), false
		case r == '\\':
			escaped = true
		case r == '%':
			tokens = append(tokens, token{any: true})
		case r == '_':
			tokens = append(tokens, token{one: true})
		default:
			tokens = append(tokens, token{r: r})
		}
	}
	return tokens
}

// likeRunes goes back to the last % only, so it takes no more steps than the
// product of the lengths.
func likeRunes(s []rune, tokens []token) bool {
	at, i, star, from := 0, 0, -1, 0
	for i < len(s) {
		switch {
		case at < len(tokens) && !tokens[at].any && (tokens[at].one || tokens[at].r == s[i]):
			at, i = at+1, i+1
		case at < len(tokens) && tokens[at].any:
			star, from, at = at, i, at+1
		case star >= 0:
			from++
			at, i = star+1, from
		default:
			return false
		}
	}
	for at < len(tokens) && tokens[at].any {
		at++
	}
	return at == len(tokens)
}

func foldASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
