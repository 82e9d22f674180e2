package document_test

import (
	"slices"
	"strings"
	"testing"

	"armature/core/access"
	"armature/core/document"
	"armature/core/document/documenttest"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/query"
)

// What a write names and its DocType does not have is told, or refused.
func TestUnknownFields(t *testing.T) {
	refuse := false
	s := documenttest.New(t, document.ServiceConfig{RefuseUnknown: func() bool { return refuse }}, rowsOf("Line", "", "n|Int"), plain("Order", "", "n|Int", "lines|Table|Line"))
	values := `{"name": "a", "color": 1, "_mine": 2, "doctype": "Order", "lines": [{"n": 1, "size": 2}, {"size": 3}]}`
	insert := func() (named []string, err error) {
		err = s.Store.Write(t.Context(), document.OwnTx, func(tx document.Tx) error {
			_, err := s.Documents.As(identity.Root(), tx).Insert(t.Context(), "Order", documenttest.Values(t, values))
			named = document.UnknownFields(tx)
			return err
		})
		return named, err
	}
	if named, err := insert(); err != nil || !slices.Equal(named, []string{"color", "lines.size"}) {
		t.Errorf("%v, %v", named, err)
	}
	if got := string(document.AppendUnknown([]byte(`{"a":1}`), []string{"color"})); got != `{"a":1,"_unknown_fields":["color"]}` {
		t.Error(got)
	}
	refuse = true
	if _, err := insert(); fault.KindOf(err) != fault.Validation || !strings.Contains(err.Error(), "Order has no field color, lines.size") {
		t.Errorf("%v", err)
	}
	refuse = false
	err := s.Store.Write(t.Context(), document.OwnTx, func(tx document.Tx) error {
		inner, err := document.CollectUnknown(tx, func() error {
			_, err := s.Documents.As(identity.Root(), tx).Update(t.Context(), "Order", "a", map[string]any{"color": 2})
			return err
		})
		if outer := document.UnknownFields(tx); !slices.Equal(inner, []string{"color"}) || outer != nil {
			t.Errorf("%v and %v", inner, outer)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// How much of a transaction a write takes.
func TestModes(t *testing.T) {
	var events []string
	c := document.ServiceConfig{Hooks: []document.Hooks{recorder{"Guests", true, "", &events, nil}, recorder{"Hooked", false, "", &events, nil}}}
	s := documenttest.New(t, c, rowsOf("Line", "", "n|Int"), plain("Plain", "", "n|Int"), plain("Tables", "", "lines|Table|Line"), plain("Tree", `"is_tree": 1`), plain("Counts", `"autoname": "C-.##"`),
		plain("Tracked", `"track_changes": 1`), plain("Hooked", "", "n|Int"), plain("Guests", "", "n|Int"), plain("One", `"issingle": 1, "autoname": ""`))
	for name, want := range map[string]document.Mode{"Plain": document.OneWrite, "Tables": document.GroupedTx, "Tree": document.GroupedTx, "Counts": document.GroupedTx, "Tracked": document.GroupedTx,
		"Hooked": document.GroupedTx, "Guests": document.PluginTx, "Line": document.PluginTx, "DocType": document.OwnTx, "None": document.OneWrite} {
		if got := s.Documents.WriteMode(name); got != want {
			t.Errorf("writing %s: %d, want %d", name, got, want)
		}
		if got := s.Documents.DeleteMode(name); got != min(want, document.GroupedTx) {
			t.Errorf("deleting %s: %d", name, got)
		}
	}
	for name, want := range map[string]bool{"Plain": true, "Tables": false, "One": false, "Line": false, "None": true} {
		if got := s.Documents.ReadsOnce(name, document.ReadOptions{}); got != want {
			t.Errorf("reading %s once: %v", name, got)
		}
	}
	if s.Documents.ReadsOnce("Plain", document.ReadOptions{ExpandLinks: true}) {
		t.Error("links are read with their document")
	}
	err := s.Store.Write(t.Context(), document.OwnTx, func(tx document.Tx) error {
		return s.Documents.LockInOrder(t.Context(), tx, []document.Key{{DocType: "Plain", Name: "b"}, {DocType: "None", Name: "x"}, {DocType: "Line", Name: "x"}, {DocType: "Plain"}})
	})
	if err != nil {
		t.Error(err)
	}
}

// What is asked of the door besides reading and writing.
func TestAsked(t *testing.T) {
	s := documenttest.New(t, document.ServiceConfig{}, documenttest.Definition("Job", "", fields("t|Data", `high|Data||"permlevel": 1`),
		[]string{`"role": "All", "read": 1, "write": 1, "create": 1, "if_owner": 1`}))
	s.Owned(clerk.User, "Job", `{"name": "mine", "t": "x", "high": "h"}`)
	s.Insert("Job", `{"name": "other"}`)
	err := s.Do(clerk, func(docs document.Acting) error {
		ctx := t.Context()
		denied := func(what string, err error) {
			if fault.KindOf(err) != fault.Permission {
				t.Errorf("%s: %v", what, err)
			}
		}
		_, err := docs.Demand(ctx, "Job", "mine", access.Delete)
		denied("deleting", err)
		_, err = docs.GetToChange(ctx, "Job", "other")
		denied("another's to change", err)
		_, err = docs.DemandField(ctx, "Job", "mine", "high", access.Write)
		denied("a level", err)
		_, err = docs.DemandField(ctx, "Job", "other", "t", access.Read)
		denied("a field of another's", err)
		denied("a new one with a level", docs.DemandNew(ctx, "Job", "high"))
		if err := docs.DemandNew(ctx, "None", ""); fault.KindOf(err) != fault.NotFound {
			t.Errorf("a new one of no DocType: %v", err)
		}
		if _, err := docs.DemandField(ctx, "Job", "mine", "t", access.Write); err != nil {
			t.Error(err)
		}
		if doc, err := docs.GetToChange(ctx, "Job", "mine"); err != nil || doc.Text("t") != "x" {
			t.Error(err)
		}
		rights, err := docs.Rights(ctx, "Job", "mine")
		if err != nil || rights["read"] != 1 || rights["delete"] != 0 {
			t.Errorf("%v, %v", rights, err)
		}
		_, err = docs.Rights(ctx, "Job", "other")
		denied("rights on another's", err)
		x, err := docs.Explain(ctx, "Job", "other", access.Read)
		if err != nil || x.Allowed {
			t.Errorf("%+v, %v", x, err)
		}
		if _, err := docs.Explain(ctx, "None", "", access.Read); fault.KindOf(err) != fault.NotFound {
			t.Errorf("explaining no DocType: %v", err)
		}
		reach, err := docs.ReachOf(ctx, "Job")
		if err != nil || len(reach) != 1 || reach[0].Where == nil || reach[0].Target.Name != "Job" {
			t.Errorf("%+v, %v", reach, err)
		}
		n, err := docs.Count(ctx, "Job", every(t))
		if err != nil || n != 1 {
			t.Errorf("%d, %v", n, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Do(identity.Anonymous(), func(docs document.Acting) error {
		_, err := docs.Count(t.Context(), "None", every(t))
		return err
	})
	if fault.KindOf(err) != fault.Permission {
		t.Errorf("a guest learns which DocTypes there are not: %v", err)
	}
}

func every(t testing.TB) *query.Query {
	t.Helper()
	q, err := documenttest.Query(t, `{}`)
	if err != nil {
		t.Fatal(err)
	}
	return q
}
