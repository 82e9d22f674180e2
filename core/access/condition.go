package access

import (
	"errors"
	"strings"
	"time"

	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/query"
)

// conditions resolves the conditions of rules. It sees with the platform's eyes:
// what a rule reads is not asked for rights again, else two DocTypes whose rules
// name each other would never end.
type conditions struct {
	schema *doctype.Schema
	caller *identity.Caller
	now    time.Time // the site's wall clock
}

func (r *Rights) conditions() conditions { return conditions{r.Schema, r.Caller, r.Now} }

// resolve turns a condition on documents of dt into a filter for one caller.
// Errors are ValidationErrors: what does not exist, and what a rule cannot ask.
func (c *conditions) resolve(dt *doctype.DocType, e query.Expr) (doctype.Where, error) {
	switch e := e.(type) {
	case query.And:
		all := make(doctype.AllOf, 0, len(e))
		for _, part := range e {
			w, err := c.resolve(dt, part)
			if err != nil {
				return nil, err
			}
			all = append(all, w)
		}
		return all, nil
	case query.Or:
		some := make(doctype.AnyOf, 0, len(e))
		for _, part := range e {
			w, err := c.resolve(dt, part)
			if err != nil {
				return nil, err
			}
			some = append(some, w)
		}
		return some, nil
	case query.Cond:
		return c.along(dt, path(e.Ref), func(dt *doctype.DocType, name string) (doctype.Where, bool, error) { return c.compare(dt, name, e) })
	case query.Has:
		return c.along(dt, path(e.Ref), func(dt *doctype.DocType, name string) (doctype.Where, bool, error) { return c.has(dt, name, e) })
	}
	return nil, fault.Invalid("", "%s: the condition is of unknown kind", dt.Name)
}

func path(r query.Ref) []string {
	if r.Table == "" {
		return []string{r.Name}
	}
	return append(strings.Split(r.Table, "."), r.Name)
}

// along follows a path and asks the question at its end. absent says whether
// the answer is yes where the path ends before: every field is null there.
func (c *conditions) along(dt *doctype.DocType, path []string, ask func(dt *doctype.DocType, name string) (w doctype.Where, absent bool, err error)) (doctype.Where, error) {
	w, _, err := c.step(dt, path, ask)
	return w, err
}

func (c *conditions) step(dt *doctype.DocType, path []string, ask func(*doctype.DocType, string) (doctype.Where, bool, error)) (w doctype.Where, absent bool, err error) {
	if len(path) == 1 {
		return ask(dt, path[0])
	}
	via, target, err := c.hop(dt, path[0])
	if err != nil {
		return nil, false, err
	}
	inner, absent, err := c.step(target, path[1:], ask)
	if err != nil {
		return nil, false, err
	}
	w = someOf(dt, via, target, inner, false)
	if absent {
		w = doctype.AnyOf{w, someOf(dt, via, target, nil, true)}
	}
	return w, absent, nil
}

// hop finds the DocType that a link or a table of dt leads to.
func (c *conditions) hop(dt *doctype.DocType, name string) (via *doctype.Field, target *doctype.DocType, err error) {
	via = dt.Field(name)
	if via == nil || !via.IsLink() && via.Kind != doctype.Rows {
		return nil, nil, fault.Invalid("", "%s has no link or table %s, through which a condition could look", dt.Name, name)
	}
	if target = c.schema.DocType(via.Options); target == nil {
		return nil, nil, fault.Invalid("", "%s: %s leads to %s, which is no DocType", dt.Name, name, via.Options)
	}
	return via, target, nil
}

// someOf is that a link of dt leads to a document, or one of its tables has a
// row, that meets a condition.
func someOf(dt *doctype.DocType, via *doctype.Field, target *doctype.DocType, inner doctype.Where, not bool) doctype.Where {
	if via.Kind != doctype.Rows {
		return doctype.Some{Not: not, Of: doctype.Operand{Field: via}, Target: target, Key: target.Columns[doctype.ColName], Where: inner}
	}
	where := doctype.AllOf{
		comparison(target.Columns[doctype.ColParentType], query.Eq, dt.Name),
		comparison(target.Columns[doctype.ColParentField], query.Eq, via.Name),
	}
	if inner != nil {
		where = append(where, inner)
	}
	return doctype.Some{Not: not, Of: doctype.Operand{Field: dt.Columns[doctype.ColName]}, Target: target, Key: target.Columns[doctype.ColParent], Where: where, Via: via}
}

func (c *conditions) has(dt *doctype.DocType, name string, e query.Has) (w doctype.Where, absent bool, err error) {
	via, target, err := c.hop(dt, name)
	if err != nil {
		return nil, false, err
	}
	if via.Kind != doctype.Rows {
		return nil, false, fault.Invalid("", "%s: %s is no table, so it has no rows", dt.Name, name)
	}
	var inner doctype.Where
	if e.Rows != nil {
		if inner, err = c.resolve(target, e.Rows); err != nil {
			return nil, false, err
		}
	}
	return someOf(dt, via, target, inner, e.Not), e.Not, nil
}

func (c *conditions) compare(dt *doctype.DocType, name string, cond query.Cond) (w doctype.Where, absent bool, err error) {
	f := Asked(dt, name)
	if f == nil || f.IsPassword() {
		return nil, false, fault.Invalid("", "%s has no field %s that a condition could ask for", dt.Name, name)
	}
	if cond.Value, err = c.value(cond.Op, cond.Value); err != nil {
		return nil, false, err
	}
	w, err = comparer{c.now}.cond(doctype.Operand{Field: f}, cond)
	if err != nil {
		return nil, false, ofRule(dt, err)
	}
	absent = holdsForNull(w)
	return w, absent, nil
}

// ofRule makes the fault of a filter that of a rule of dt.
func ofRule(dt *doctype.DocType, err error) error {
	var f *fault.Error
	if errors.As(err, &f) {
		return fault.Invalid("", "%s: %s", dt.Name, f.Message)
	}
	return err
}

// holdsForNull reports whether a comparison holds for a field that is null.
func holdsForNull(w doctype.Where) bool {
	switch w := w.(type) {
	case doctype.Compare:
		return compares(w.Field, w.Op, nil, w.Value)
	case doctype.AllOf:
		for _, part := range w {
			if !holdsForNull(part) {
				return false
			}
		}
		return true
	case doctype.AnyOf:
		for _, part := range w {
			if holdsForNull(part) {
				return true
			}
		}
	}
	return false
}

// value puts what a variable stands for in its place. A text that begins with
// two dollars begins with one.
func (c *conditions) value(op query.Op, v any) (any, error) {
	switch v := v.(type) {
	case string:
		switch {
		case strings.HasPrefix(v, "$$"):
			return v[1:], nil
		case !strings.HasPrefix(v, "$"):
			return v, nil
		}
		switch v {
		case "$user":
			return c.caller.User, nil
		case "$today":
			return doctype.FormatDatetime(c.now)[:len(doctype.DateLayout)], nil
		case "$now":
			return doctype.FormatDatetime(c.now), nil
		case "$roles":
			if op == query.In || op == query.NotIn {
				return c.roles(), nil
			}
			return nil, fault.Invalid("", "$roles stands for several values: only in and not in take it")
		}
		return nil, fault.Invalid("", "%s is none of $user, $roles, $today and $now; a text that begins with $ is written with $$", v)
	case []any:
		all := make([]any, 0, len(v))
		for _, item := range v {
			got, err := c.value(op, item)
			if err != nil {
				return nil, err
			}
			if several, ok := got.([]any); ok {
				all = append(all, several...)
			} else {
				all = append(all, got)
			}
		}
		return all, nil
	}
	return v, nil
}

func (c *conditions) roles() []any {
	all := make([]any, len(c.caller.Roles))
	for i, role := range c.caller.Roles {
		all[i] = role
	}
	return all
}
