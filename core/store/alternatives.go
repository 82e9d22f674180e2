package store

import (
	"slices"

	"armature/core/doctype"
	"armature/core/query"
)

// maxArms is how many ways a list is begun from at most.
const maxArms = 16

// arm is one way to find documents: one condition by which an index finds
// them, and what else they must meet.
type arm struct {
	by   doctype.Where
	also doctype.AllOf
}

// found turns a condition into one that begins with what an index can find: any
// of several conditions, each with a value of an indexed column, or with the
// documents that few others name. ok is false where there is no such way.
func found(w doctype.Where) (by doctype.Where, ok bool) {
	arms, ok := armsOf(w)
	if !ok {
		return nil, false
	}
	some := make(doctype.AnyOf, len(arms))
	for i, a := range arms {
		some[i] = append(doctype.AllOf{a.by}, a.also...)
	}
	return some, true
}

func armsOf(w doctype.Where) (arms []arm, ok bool) {
	switch w := w.(type) {
	case doctype.Compare:
		if w.Op == query.Eq && w.Join == 0 && indexed(w.Field) && !isZero(w.Value) {
			return []arm{{by: w}}, true
		}
	case doctype.Some:
		if !w.Not && w.Below == nil && w.Of.Join == 0 && indexed(w.Of.Field) {
			w.Begin = true
			return []arm{{by: w}}, true
		}
	case doctype.AnyOf:
		for _, part := range w {
			more, ok := armsOf(part)
			if !ok || len(arms)+len(more) > maxArms {
				return nil, false
			}
			arms = append(arms, more...)
		}
		return arms, true
	case doctype.AllOf:
		return armsOfAll(w)
	}
	return nil, false
}

// armsOfAll begins with the last of the parts that an index finds, in which
// rules come after what narrows them.
func armsOfAll(all doctype.AllOf) ([]arm, bool) {
	for i, part := range slices.Backward(all) {
		arms, ok := armsOf(part)
		if !ok {
			continue
		}
		others := slices.Concat(all[:i], all[i+1:])
		for n := range arms {
			arms[n].also = slices.Concat(arms[n].also, others)
		}
		return arms, true
	}
	return nil, false
}

// indexed reports whether an index finds the documents with a value of a field.
func indexed(f *doctype.Field) bool {
	return f.Unique || f.Indexed || f.IsLink() || f.Standard && (f.Name == "name" || f.Name == "owner")
}
