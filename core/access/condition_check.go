package access

import (
	"time"

	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/identity"
)

// CheckConditions makes sure that the conditions of a DocType's rules can be
// resolved when it is saved into a schema, and that this breaks none of another
// DocType that looks into it. One that was broken before keeps nobody from working.
func CheckConditions(sc *doctype.Schema, dt *doctype.DocType, caller *identity.Caller, now time.Time) error {
	types := append(others(sc, dt.Name), dt)
	after := conditions{doctype.NewSchema(sc.Version, types), caller, now}
	before := conditions{sc, caller, now}
	for _, of := range types {
		if err := after.check(of); err != nil && (of == dt || before.check(of) == nil) {
			return err
		}
	}
	return nil
}

// CheckDropped refuses to delete a DocType into which conditions of others look.
func CheckDropped(sc *doctype.Schema, name string, caller *identity.Caller, now time.Time) error {
	types := others(sc, name)
	after := conditions{doctype.NewSchema(sc.Version, types), caller, now}
	before := conditions{sc, caller, now}
	for _, of := range types {
		if err := after.check(of); err != nil && before.check(of) == nil {
			return fault.New(fault.Validation, "LinkExistsError", "%s", fault.From(err).Message)
		}
	}
	return nil
}

func others(sc *doctype.Schema, name string) (all []*doctype.DocType) {
	for dt := range sc.All {
		if dt.Name != name {
			all = append(all, dt)
		}
	}
	return all
}

// check resolves the conditions of a DocType's rules.
func (c *conditions) check(dt *doctype.DocType) error {
	for i := range dt.Permissions {
		r := &dt.Permissions[i]
		if r.Condition == nil {
			continue
		}
		if _, err := c.resolve(dt, r.Condition); err != nil {
			return fault.Invalid("", "%s: the condition of role %s: %s", dt.Name, r.Role, fault.From(err).Message)
		}
	}
	return nil
}

// Broken calls yield for every rule of a schema that gives nothing because its
// condition, as it is stored, cannot be read. Such a one was written past the checks.
func Broken(sc *doctype.Schema, now time.Time, yield func(dt *doctype.DocType, r *doctype.Rule, err error)) {
	if sc == nil {
		return
	}
	c := conditions{sc, identity.Root(), now}
	for dt := range sc.All {
		for i := range dt.Permissions {
			r := &dt.Permissions[i]
			err := r.Broken
			if r.Condition != nil {
				_, err = c.resolve(dt, r.Condition)
			}
			if err != nil {
				yield(dt, r, err)
			}
		}
	}
}
