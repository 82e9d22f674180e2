package stubhost_test

import (
	"slices"
	"strings"
	"testing"

	"armature/sdk/go"
	"armature/sdk/go/internal/stubhost"
)

func TestList(t *testing.T) {
	h := stubhost.New(t)
	for _, d := range []armature.Doc{
		{"name": "A", "status": "Open", "n": 1, "modified": "2026-01-01"},
		{"name": "B", "status": "closed", "n": 10, "modified": "2026-01-03", "note": "x"},
		{"name": "C", "status": "Open", "n": 9.5, "modified": "2026-01-02", "note": ""},
	} {
		h.Put("Row", d)
	}
	tests := []struct {
		name  string
		query armature.Query
		want  string
	}{
		{"newest first", armature.Query{}, "B C A"},
		{"order", armature.Query{OrderBy: "n asc"}, "A C B"},
		{"page", armature.Query{Start: 1, Limit: 1}, "C"},
		{"past the end", armature.Query{Start: 9}, ""},
		{"eq ignores case", armature.Query{Where: []armature.Filter{armature.Eq("status", "Closed")}}, "B"},
		{"ne", armature.Query{Where: []armature.Filter{armature.Ne("status", "open")}}, "B"},
		{"numbers", armature.Query{Where: []armature.Filter{armature.Gt("n", 9), armature.Le("n", 10)}}, "B C"},
		{"lt", armature.Query{Where: []armature.Filter{armature.Lt("n", 9.5)}}, "A"},
		{"ge", armature.Query{Where: []armature.Filter{armature.Ge("n", 9.5)}}, "B C"},
		{"like", armature.Query{Where: []armature.Filter{armature.Like("status", "o_e%")}}, "C A"},
		{"in", armature.Query{Where: []armature.Filter{armature.In("name", "A", "B")}}, "B A"},
		{"in nothing", armature.Query{Where: []armature.Filter{armature.In("name")}}, ""},
		{"not in", armature.Query{Where: []armature.Filter{armature.NotIn("name", "A")}}, "B C"},
		{"set", armature.Query{Where: []armature.Filter{armature.IsSet("note")}}, "B"},
		{"not set", armature.Query{Where: []armature.Filter{armature.NotSet("note")}}, "C A"},
		{"between", armature.Query{Where: []armature.Filter{armature.Cond("n", "between", []int{1, 9})}}, "A"},
		{"any", armature.Query{Any: []armature.Filter{armature.Eq("name", "A"), armature.Eq("name", "B")}}, "B A"},
		{"where and any", armature.Query{Where: []armature.Filter{armature.Eq("status", "Open")}, Any: []armature.Filter{armature.Eq("name", "A"), armature.Eq("name", "B")}}, "A"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rows, err := armature.List("Row", tt.query)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, row := range rows {
				if len(row) != 1 {
					t.Errorf("row %v has more than a name", row)
				}
				names = append(names, row.Name())
			}
			if got := strings.Join(names, " "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if n, err := armature.Count("Row", armature.Eq("status", "Open")); n != 2 || err != nil {
		t.Errorf("count %d, %v", n, err)
	}
	if _, err := armature.Count("Row", armature.Cond("n", "timespan", "today")); armature.KindOf(err) != armature.KindNotImplemented {
		t.Errorf("an operator the stub lacks: %v", err)
	}
}

func TestDocumentLife(t *testing.T) {
	stubhost.New(t)
	doc, err := armature.Insert("Order", armature.Doc{"amount": 2.5, "note": nil})
	if err != nil || doc.Name() == "" || doc.DocType() != "Order" || doc.Int("docstatus") != 0 {
		t.Fatalf("inserted %v, %v", doc, err)
	}
	if _, there := doc["note"]; there {
		t.Error("a null field is shown")
	}
	if _, err := armature.Insert("Order", armature.Doc{"name": doc.Name()}); armature.KindOf(err) != armature.KindConflict {
		t.Errorf("same name: %v", err)
	}
	if _, err := armature.Cancel("Order", doc.Name()); armature.KindOf(err) != armature.KindValidation {
		t.Errorf("cancelled a draft: %v", err)
	}
	if doc, err = armature.Submit("Order", doc.Name()); err != nil || doc.Int("docstatus") != 1 {
		t.Errorf("submit: %v, %v", doc, err)
	}
	if doc, err = armature.Cancel("Order", doc.Name()); err != nil || doc.Int("docstatus") != 2 {
		t.Errorf("cancel: %v, %v", doc, err)
	}
	if _, err := armature.Update("Order", doc.Name(), armature.Doc{"modified": "long ago"}); armature.KindOf(err) != armature.KindValidation {
		t.Errorf("stale update: %v", err)
	}
	if err := armature.Delete("Order", doc.Name()); err != nil {
		t.Error(err)
	}
	if _, err := armature.Get("Order", doc.Name()); armature.KindOf(err) != armature.KindNotFound {
		t.Errorf("after delete: %v", err)
	}
}

func TestMethodsAndStore(t *testing.T) {
	h := stubhost.New(t)
	h.Method("acme.sum", func(args armature.Doc) (any, error) { return args.Int("a") + args.Int("b"), nil })
	if n, err := armature.Call[int]("acme.sum", armature.Doc{"a": 1, "b": 2}); n != 3 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	if _, err := armature.Call[any]("acme.nothing", nil); armature.KindOf(err) != armature.KindNotFound {
		t.Errorf("got %v", err)
	}
	if err := armature.Store("k", []int{1, 2}, 0); err != nil {
		t.Error(err)
	}
	if got, err := armature.Load[[]int]("k"); !slices.Equal(got, []int{1, 2}) || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
	if err := armature.Forget("k"); err != nil {
		t.Error(err)
	}
	if got, err := armature.Load[[]int]("k"); got != nil || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := armature.Fetch(armature.HTTPRequest{}); armature.KindOf(err) != armature.KindNotImplemented {
		t.Errorf("got %v", err)
	}
}

func TestHostEndsWithTheTest(t *testing.T) {
	t.Run("inner", func(t *testing.T) { stubhost.New(t) })
	defer func() {
		if recover() == nil {
			t.Error("a host outlived its test")
		}
	}()
	armature.Now()
}
