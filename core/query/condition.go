package query

import "strings"

// condition reads [field, value], [field, operator, value] or [DocType, field,
// operator, value]; a fifth part, and a fourth after a triple, is ignored.
func (p *parser) condition(v []any) (Expr, error) {
	table := ""
	switch {
	case len(v) < 2 || len(v) > 5:
		return nil, malformed("A filter has two to five parts")
	case len(v) == 2:
		return p.named(table, v[0], string(Eq), v[1])
	case len(v) == 3 || len(v) == 4 && !isOperator(v[2]) && isOperator(v[1]):
		return p.named(table, v[0], v[1], v[2])
	}
	table, ok := v[0].(string)
	if !ok || table != "" && !isTable(table) {
		return nil, notPermitted(table)
	}
	return p.named(table, v[1], v[2], v[3])
}

func (p *parser) named(table string, field, op, value any) (Expr, error) {
	name, _ := field.(string)
	ref, ok := p.ref(name)
	if !ok {
		return nil, notPermitted(name)
	}
	if ref.Table == "" {
		ref.Table = table
	}
	return p.compare(ref, op, value)
}

func (p *parser) compare(ref Ref, operator, value any) (Expr, error) {
	name, _ := operator.(string)
	if not, ok := p.has(name); ok {
		return p.rows(ref, not, value)
	}
	op, ok := parseOp(name)
	if !ok {
		return nil, refused("Operator must be one of %s", operatorList)
	}
	return p.cond(ref, op, value)
}

// cond puts the value in the form its operator takes.
func (p *parser) cond(ref Ref, op Op, value any) (Expr, error) {
	if p.conditions++; p.conditions > MaxConditions {
		return nil, malformed("There are more than %d filters", MaxConditions)
	}
	var err error
	switch op {
	case In, NotIn:
		value, err = p.several(ref, value)
	case Between:
		var bounds []any
		if bounds, err = p.several(ref, value); len(bounds) > 2 {
			err = refused("%s: between takes two values", ref)
		}
		value = bounds
	case Is:
		value, err = setOrNot(ref, value)
	default:
		value, err = p.one(ref, value)
	}
	if err != nil {
		return nil, err
	}
	return Cond{Ref: ref, Op: op, Value: value}, nil
}

func (p *parser) one(ref Ref, v any) (any, error) {
	s, ok := scalar(v)
	if !ok {
		return nil, malformed("The value to compare %s with must be a single text, number or boolean", ref)
	}
	return s, p.count(1)
}

// several reads a list of values: a JSON array, its text, or texts separated by
// commas. Null and empty text are the empty list.
func (p *parser) several(ref Ref, v any) ([]any, error) {
	var items []any
	switch v := v.(type) {
	case nil:
	case []any:
		items = v
	case string:
		items = splitList(v)
	default:
		items = []any{v}
	}
	if err := p.count(len(items)); err != nil {
		return nil, err
	}
	values := make([]any, len(items))
	for i, item := range items {
		s, ok := scalar(item)
		if !ok {
			return nil, malformed("The values to compare %s with must be texts, numbers or booleans", ref)
		}
		values[i] = s
	}
	return values, nil
}

func splitList(s string) []any {
	if strings.TrimSpace(s) == "" {
		return nil
	}
	if len(s) <= MaxText && strings.HasPrefix(strings.TrimSpace(s), "[") {
		if v, ok := decode(s); ok {
			return v.([]any)
		}
	}
	var items []any
	for item := range strings.SplitSeq(s, ",") {
		items = append(items, strings.TrimSpace(item))
		if len(items) > MaxValues {
			break // refused by the count
		}
	}
	return items
}

func (p *parser) count(n int) error {
	if p.values += n; p.values > MaxValues {
		return malformed("The filters have more than %d values", MaxValues)
	}
	return nil
}

// setOrNot reads the value of is; null is what people write for not set.
func setOrNot(ref Ref, v any) (any, error) {
	if v == nil {
		return "not set", nil
	}
	word, _ := v.(string)
	switch word = strings.ToLower(strings.Join(strings.Fields(word), " ")); word {
	case "set", "not set":
		return word, nil
	}
	return nil, refused(`%s: is takes "set" or "not set"`, ref)
}
