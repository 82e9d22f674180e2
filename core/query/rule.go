package query

import (
	"errors"
	"strings"

	"armature/core/fault"
)

// maxPath is how many links a path in a condition of a rule may follow.
const maxPath = 4

// Condition parses the condition of a rule: the JSON of a list filter, in which
// a field may be a path over several links, "ticket.customer.owner", and
// ["lines", "has", <filter>] or ["lines", "has no", <filter>] asks for rows of a
// child table. A text that holds no condition at all is refused: a rule without
// one is unlimited, and nobody shall write that by accident.
//
// Errors are Validation faults (417) of type ValidationError.
func Condition(text string) (Expr, error) {
	if t := strings.TrimSpace(text); t == "" || t[0] != '[' && t[0] != '{' {
		return nil, refused("A condition is the JSON of a list filter")
	}
	p := &parser{rule: true}
	v, err := fromText("condition", text)
	if err != nil {
		return nil, ofRule(err)
	}
	e, err := p.argument("condition", v, joinAnd)
	if err != nil {
		return nil, ofRule(err)
	}
	if e == nil {
		return nil, refused("The condition holds nothing; leave it empty for a rule without limits")
	}
	return e, nil
}

// ref reads the name of a field.
func (p *parser) ref(name string) (Ref, bool) {
	if !p.rule {
		return parseRef(name)
	}
	parts := strings.Split(strings.TrimSpace(name), ".")
	for _, part := range parts {
		if !isName(part) {
			return Ref{}, false
		}
	}
	last := len(parts) - 1
	return Ref{Table: strings.Join(parts[:last], "."), Name: parts[last]}, last <= maxPath
}

// has reads the operators that ask for rows of a table.
func (p *parser) has(operator string) (not, ok bool) {
	if !p.rule {
		return false, false
	}
	switch strings.ToLower(strings.Join(strings.Fields(operator), " ")) {
	case "has":
		return false, true
	case "has no":
		return true, true
	}
	return false, false
}

func (p *parser) rows(table Ref, not bool, filter any) (Expr, error) {
	if p.conditions++; p.conditions > MaxConditions {
		return nil, malformed("There are more than %d filters", MaxConditions)
	}
	if p.depth++; p.depth > MaxDepth {
		return nil, malformed("Filters are nested more than %d deep", MaxDepth)
	}
	defer func() { p.depth-- }()
	switch filter.(type) {
	case nil, []any, map[string]any:
	default:
		return nil, malformed("%s: has takes a filter of its rows", table)
	}
	rows, err := p.argument("condition", filter, joinAnd)
	return Has{Ref: table, Not: not, Rows: rows}, err
}

// ofRule makes the fault of a filter that of a rule.
func ofRule(err error) error {
	var f *fault.Error
	if errors.As(err, &f) {
		return refused("%s", f.Message)
	}
	return err
}
