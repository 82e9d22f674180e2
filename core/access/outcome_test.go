package access_test

import (
	"testing"

	"armature/core/document"
	"armature/core/document/documenttest"
	"armature/core/fault"
	"armature/core/identity"
)

// A change must not lead out of what the caller may write; what follows from the
// documents around it is seen once it is stored.
func TestOutcome(t *testing.T) {
	s := world(t, `[["firm.login","=","$user"]]`)
	tests := []struct {
		name   string
		caller *identity.Caller
		change string
		out    bool
	}{
		{"within", documenttest.User(bob, "Ruled"), `{"n": 7}`, false},
		{"out of the rule", documenttest.User(bob, "Ruled"), `{"firm": "Acme"}`, true},
		{"out of a User Permission", restricted(documenttest.User(bob, "Writer"), identity.Restriction{Allow: "Firm", Value: "Bolt"}), `{"firm": "Acme"}`, true},
		{"to nothing", restricted(documenttest.User(bob, "Writer"), identity.Restriction{Allow: "Firm", Value: "Bolt"}), `{"firm": null}`, false},
		{"nothing limits", documenttest.User(bob, "Writer"), `{"firm": "Acme"}`, false},
	}
	for _, test := range tests {
		err := s.Do(test.caller, func(docs document.Acting) error {
			if _, err := docs.Update(t.Context(), "Job", "two", documenttest.Values(t, test.change)); err != nil {
				return err
			}
			return document.ErrRollback
		})
		if (fault.KindOf(err) == fault.Permission) != test.out || err != nil && !test.out {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// A rule that looks into the DocType itself sees the change only when it is stored.
func TestOutcomeOfItself(t *testing.T) {
	s := documenttest.New(t, document.ServiceConfig{}, documenttest.Definition("Knot", "",
		[]string{`"fieldname": "n", "fieldtype": "Int"`, `"fieldname": "up", "fieldtype": "Link", "options": "Knot"`},
		[]string{`"role": "All", "read": 1, "write": 1, "create": 1, "condition": "[[\"up.n\",\"<\",5]]"`}))
	s.Insert("Knot", `{"name": "self", "n": 1}`)
	caller := documenttest.User(bob)
	change := func(values string) error {
		return s.Do(caller, func(docs document.Acting) error {
			_, err := docs.Update(t.Context(), "Knot", "self", documenttest.Values(t, values))
			return err
		})
	}
	if err := change(`{"up": "self"}`); err != nil {
		t.Error(err)
	}
	if err := change(`{"n": 9}`); fault.KindOf(err) != fault.Permission {
		t.Errorf("a change out of what it sees of itself: %v", err)
	}
}
