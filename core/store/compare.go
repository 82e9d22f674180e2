package store

import (
	"strings"

	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/query"
)

// term is one comparison brought to the form SQL has for it.
type term struct {
	op   byte  // one of the below
	null bool  // a null value satisfies it, too
	args []any // 0, 1 or 2
}

// The forms of a term, as they stand in a shape's key.
const (
	never   = 'f'
	always  = 't'
	isNull  = 'n'
	notNull = 'N'
	equal   = '='
	differs = '!'
	less    = '<'
	greater = '>'
	atMost  = 'l'
	atLeast = 'g'
	likes   = 'L'
	unlike  = 'U'
	within  = 'i'
	without = 'o'
	ranging = 'b'
)

var compareFormats = map[byte]string{
	equal: "? = ?", differs: "? <> ?", less: "? < ?", greater: "? > ?", atMost: "? <= ?", atLeast: "? >= ?",
}

// resolve brings a comparison to its term. The null rules are the reference's
// (section 1.10): null counts as empty text, zero or the earliest date where
// that makes the comparison true.
func (e *engine) resolve(c *doctype.Compare) (term, error) {
	nullable := c.Join > 0 || c.Field.Kind.Nullable()
	v, null := c.Value, false
	switch c.Op {
	case query.Eq:
		if v == nil {
			return term{op: isNull}, nil
		}
		return compare(equal, v, nullable && isZero(v)), nil
	case query.Ne:
		if v == nil {
			return term{op: notNull}, nil
		}
		return compare(differs, v, nullable && !isZero(v)), nil
	case query.Lt:
		null = lowest(v) < 0
		return compare(less, v, nullable && null), nil
	case query.Le:
		null = lowest(v) <= 0
		return compare(atMost, v, nullable && null), nil
	case query.Gt:
		null = lowest(v) > 0
		return compare(greater, v, nullable && null), nil
	case query.Ge:
		null = lowest(v) >= 0
		return compare(atLeast, v, nullable && null), nil
	case query.Like, query.NotLike:
		return e.resolveLike(c, nullable)
	case query.In, query.NotIn:
		return e.resolveIn(c, nullable)
	case query.Is:
		return resolveIs(c), nil
	case query.Between:
		return resolveBetween(c)
	}
	return term{}, fault.Invalid("", "Operator %s cannot be used here", c.Op)
}

func compare(op byte, v any, null bool) term {
	if v == nil { // ordered against nothing
		return term{op: never}
	}
	return term{op: op, null: null, args: []any{v}}
}

// isZero reports whether v is what null counts as.
func isZero(v any) bool {
	switch v := v.(type) {
	case string:
		return v == ""
	case int64:
		return v == 0
	case float64:
		return v == 0
	}
	return v == nil
}

// lowest compares what null counts as with v. Every text and every date is
// above it but the empty text.
func lowest(v any) int {
	switch v := v.(type) {
	case string:
		if v == "" {
			return 0
		}
		return -1
	case int64:
		return compareZero(float64(v))
	case float64:
		return compareZero(v)
	}
	return 0
}

func compareZero(v float64) int {
	switch {
	case v > 0:
		return -1
	case v < 0:
		return 1
	}
	return 0
}

func (e *engine) resolveLike(c *doctype.Compare, nullable bool) (term, error) {
	pattern, _ := c.Value.(string)
	if len(pattern) > query.MaxPattern {
		return term{}, fault.Invalid("", "The pattern for %s is too long", c.Field.Name)
	}
	if escapes := len(pattern) - len(strings.TrimRight(pattern, `\`)); escapes%2 == 1 {
		pattern += `\` // a backslash that escapes nothing stands for itself
	}
	if c.Op == query.Like {
		return term{op: likes, args: []any{pattern}}, nil
	}
	everything := strings.Trim(pattern, "%") == "" // empty text would match
	return term{op: unlike, null: nullable && !everything, args: []any{pattern}}, nil
}

func (e *engine) resolveIn(c *doctype.Compare, nullable bool) (term, error) {
	values, ok := c.Value.([]any)
	if !ok {
		return term{}, fault.Invalid("", "Operator %s needs a list", c.Op)
	}
	kept := make([]any, 0, len(values))
	zero := false
	for _, v := range values {
		zero = zero || isZero(v)
		if v == nil {
			continue
		}
		if s, ok := v.(string); ok && !storable(s) {
			return term{}, checkText([]any{s})
		}
		kept = append(kept, v)
	}
	if c.Op == query.In {
		if len(kept) == 0 {
			if zero {
				return term{op: isNull}, nil
			}
			return term{op: never}, nil
		}
		return term{op: within, null: nullable && zero, args: []any{e.list(kept)}}, nil
	}
	if len(kept) == 0 {
		if zero {
			return term{op: notNull}, nil
		}
		return term{op: always}, nil
	}
	return term{op: without, null: nullable && !zero, args: []any{e.list(kept)}}, nil
}

func resolveIs(c *doctype.Compare) term {
	set, _ := c.Value.(bool)
	text := c.Field.Kind == doctype.Text || c.Field.Kind == doctype.JSON
	switch {
	case set && text:
		return term{op: differs, args: []any{""}}
	case set:
		return term{op: notNull}
	case text:
		return term{op: equal, null: true, args: []any{""}}
	}
	return term{op: isNull}
}

func resolveBetween(c *doctype.Compare) (term, error) {
	bounds, ok := c.Value.([2]any)
	if !ok || bounds[0] == nil || bounds[1] == nil {
		return term{}, fault.Invalid("", "Operator between needs two values")
	}
	return term{op: ranging, args: []any{bounds[0], bounds[1]}}, nil
}
