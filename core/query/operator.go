package query

import "strings"

// operators lists the canonical operators, in the order errors name them.
var operators = []Op{
	Eq, Ne, Lt, Gt, Le, Ge, Like, NotLike, In, NotIn, Is, Between, Timespan, Previous, Next,
	Descendants, NotDesc, DescIncl, Ancestors, NotAnc,
}

// spellings maps every accepted spelling, lower case with single spaces.
var spellings = func() map[string]Op {
	m := map[string]Op{"=<": Le, "=>": Ge, "ilike": Like, "not ilike": NotLike}
	for _, op := range operators {
		m[string(op)] = op
	}
	return m
}()

var operatorList = func() string {
	names := make([]string, len(operators))
	for i, op := range operators {
		names[i] = string(op)
	}
	return strings.Join(names, ", ")
}()

// parseOp returns the canonical operator; case and runs of spaces do not count.
func parseOp(s string) (Op, bool) {
	if op, ok := spellings[s]; ok {
		return op, true
	}
	if len(s) > 64 {
		return "", false
	}
	op, ok := spellings[strings.ToLower(strings.Join(strings.Fields(s), " "))]
	return op, ok
}

func isOperator(v any) bool {
	s, ok := v.(string)
	if !ok {
		return false
	}
	_, ok = parseOp(s)
	return ok
}
