package httpapi_test

import (
	"fmt"
	"maps"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"armature/core/sites/sitetest"
)

// definition reads a DocType as a client does before it changes it.
func definition(t testing.TB, c *sitetest.Client, name string) (fields []any) {
	t.Helper()
	return c.Get("/api/resource/DocType/" + name).Data(t)["fields"].([]any)
}

// withField is the fields with one changed.
func withField(fields []any, name string, change obj) []any {
	changed := []any{}
	for _, f := range fields {
		field := maps.Clone(f.(obj))
		if field["fieldname"] == name {
			maps.Copy(field, change)
		}
		changed = append(changed, field)
	}
	return changed
}

func TestDocTypeChanges(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		newDocType(t, s.Admin, "Item", []obj{{"fieldname": "code", "fieldtype": "Data"}, {"fieldname": "size", "fieldtype": "Data"}}, obj{"autoname": "Prompt"})
		for i, size := range []any{"1", "2.0", "large", nil, "1"} {
			s.Admin.Post("/api/resource/Item", obj{"name": fmt.Sprint("i", i), "code": "c", "size": size}).OK(t)
		}
		change := func(t *testing.T, body obj) *sitetest.Reply {
			t.Helper()
			return s.Admin.On(t).Put("/api/resource/DocType/Item", body)
		}
		column := func(t *testing.T, name string) []any {
			t.Helper()
			return s.Admin.On(t).Get("/api/resource/Item", "fields", []string{name}, "order_by", "name asc").Column(t, name)
		}
		expect := func(t *testing.T, got []any, want ...any) {
			t.Helper()
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		}
		t.Run("another type converts what it can", func(t *testing.T) {
			change(t, obj{"fields": withField(definition(t, s.Admin, "Item"), "size", obj{"fieldtype": "Int"})}).OK(t)
			expect(t, column(t, "size"), 1.0, 2.0, 0.0, 0.0, 1.0)
			s.Admin.Put("/api/resource/Item/i3", obj{"size": 30}).OK(t)
			change(t, obj{"fields": withField(definition(t, s.Admin, "Item"), "size", obj{"fieldtype": "Long Text"})}).OK(t)
			expect(t, column(t, "size"), "1", "2", "0", "30", "1")
		})
		t.Run("another name keeps the values", func(t *testing.T) {
			change(t, obj{"fields": withField(definition(t, s.Admin, "Item"), "size", obj{"fieldname": "measure"})}).OK(t)
			expect(t, column(t, "measure"), "1", "2", "0", "30", "1")
			s.Admin.Get("/api/resource/Item", "fields", []string{"size"}).Fails(t, 417, "DataError")
			// A new field under the old name does not see what was there.
			change(t, obj{"fields": append(definition(t, s.Admin, "Item"), obj{"fieldname": "size", "fieldtype": "Long Text"})}).OK(t)
			expect(t, column(t, "size"), nil, nil, nil, nil, nil)
			expect(t, column(t, "measure"), "1", "2", "0", "30", "1")
		})
		t.Run("a field that comes back has its values", func(t *testing.T) {
			fields := definition(t, s.Admin, "Item")
			change(t, obj{"fields": []obj{{"fieldname": "size", "fieldtype": "Long Text"}}}).OK(t)
			change(t, obj{"fields": fields}).OK(t)
			expect(t, column(t, "code"), "c", "c", "c", "c", "c")
		})
		t.Run("unique over duplicates", func(t *testing.T) {
			unique := func() []any { return withField(definition(t, s.Admin, "Item"), "code", obj{"unique": 1}) }
			r := change(t, obj{"fields": unique()}).Fails(t, 417, "NonUniqueError")
			if !strings.Contains(r.Told(t), "the value c") {
				t.Errorf("told %q", r.Told(t))
			}
			for i := range 5 {
				s.Admin.Put(fmt.Sprint("/api/resource/Item/i", i), obj{"code": fmt.Sprint("c", i)}).OK(t)
			}
			change(t, obj{"fields": unique()}).OK(t)
			s.Admin.Put("/api/resource/Item/i1", obj{"code": "c2"}).Fails(t, 417, "UniqueValidationError")
			change(t, obj{"fields": withField(definition(t, s.Admin, "Item"), "code", obj{"unique": 0})}).OK(t)
			s.Admin.Put("/api/resource/Item/i1", obj{"code": "c2"}).OK(t)
		})
		t.Run("a longer length", func(t *testing.T) {
			long := strings.Repeat("é", 300)
			s.Admin.Put("/api/resource/Item/i1", obj{"code": long}).Fails(t, 417, "CharacterLengthExceededError")
			change(t, obj{"fields": withField(definition(t, s.Admin, "Item"), "code", obj{"length": 300, "search_index": 1})}).OK(t)
			if got := s.Admin.Put("/api/resource/Item/i1", obj{"code": long}).Data(t)["code"]; got != long {
				t.Errorf("got %v", got)
			}
		})
		t.Run("refused", func(t *testing.T) {
			change(t, obj{"autoname": "autoincrement"}).Fails(t, 417, "ValidationError")
			change(t, obj{"istable": 1}).Fails(t, 417, "ValidationError")
			change(t, obj{"fields": withField(definition(t, s.Admin, "Item"), "code", obj{"fieldtype": "Link"})}).Fails(t, 417, "DoctypeLinkError")
			s.Admin.Put("/api/resource/DocType/ToDo", obj{"autoname": "Prompt"}).Fails(t, 403, "PermissionError")
			if r := s.Admin.Delete("/api/resource/DocType/ToDo"); r.Status != 417 {
				t.Errorf("%d %s", r.Status, r.Text)
			}
		})
		t.Run("deleted and made again", func(t *testing.T) {
			if r := s.Admin.Delete("/api/resource/DocType/Item"); r.Status != 202 {
				t.Fatalf("%d %s", r.Status, r.Text)
			}
			s.Admin.Get("/api/resource/Item").Fails(t, 404, "DoesNotExistError")
			newDocType(t, s.Admin, "Item", []obj{{"fieldname": "code", "fieldtype": "Data"}}, obj{"autoname": "Prompt"})
			expect(t, s.Admin.Get("/api/resource/Item", "filters", filters([]any{"name", "=", "i4"}), "fields", []string{"code"}).Column(t, "code"), "c4")
		})
	})
}

// TestDocTypesChangedAtOnce: several administrators make and change DocTypes at
// the same time; every change that is answered is there.
func TestDocTypesChangedAtOnce(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		const admins = 4
		replies := make([][]*sitetest.Reply, admins)
		newDocType(t, s.Admin, "Shared One", nil, nil)
		var wg sync.WaitGroup
		for a := range admins {
			wg.Go(func() {
				// Names that differ only in punctuation want the same table.
				name := "Same" + []string{" ", "-", "_", "  "}[a] + "Table"
				replies[a] = append(replies[a],
					s.Admin.Post("/api/resource/DocType", obj{"name": name, "module": "Custom", "custom": 1, "autoname": "Prompt",
						"fields": []obj{{"fieldname": "x", "fieldtype": "Data"}}}),
					s.Admin.Put("/api/resource/DocType/Shared%20One", obj{"fields": []obj{{"fieldname": fmt.Sprint("f", a), "fieldtype": "Data"}}}))
			})
		}
		wg.Wait()
		for _, some := range replies {
			for _, r := range some {
				r.OK(t)
			}
		}
		tables := map[any]bool{}
		for _, row := range s.Admin.Get("/api/resource/DocType", "filters", filters([]any{"name", "like", "Same%"}), "fields", []string{"name", "table_name"}).List(t) {
			tables[row.(obj)["table_name"]] = true
		}
		if len(tables) != admins {
			t.Errorf("tables %v", tables)
		}
		if got := definition(t, s.Admin, "Shared%20One"); len(got) != 1 {
			t.Errorf("fields %v", got)
		}
	})
}

// TestDocTypeChangesUnderLoad: nobody who reads and writes documents notices
// that their DocType changes.
func TestDocTypeChangesUnderLoad(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		const workers, changes = 8, 6
		newDocType(t, s.Admin, "Busy", []obj{{"fieldname": "n", "fieldtype": "Int"}}, obj{"autoname": "Prompt"})
		var stop atomic.Bool
		var wg sync.WaitGroup
		failed := make([]string, workers)
		written := make([]int, workers)
		for w := range workers {
			wg.Go(func() {
				for i := 0; !stop.Load() && failed[w] == ""; i++ {
					name := fmt.Sprintf("w%d-%d", w, i)
					for _, r := range []*sitetest.Reply{
						s.Admin.Post("/api/resource/Busy", obj{"name": name, "n": i}),
						s.Admin.Put("/api/resource/Busy/"+name, obj{"n": i + 1}),
						s.Admin.Get("/api/resource/Busy/" + name),
						s.Admin.Get("/api/resource/Busy", "fields", []string{"*"}, "filters", filters([]any{"n", ">", 3}), "limit", "5"),
					} {
						if r.Status != 200 {
							failed[w] = fmt.Sprint(r.Status, " ", r.Text)
						}
					}
					written[w]++
				}
			})
		}
		for c := range changes {
			fields := append(definition(t, s.Admin, "Busy"), obj{"fieldname": fmt.Sprint("f", c), "fieldtype": []string{"Data", "Int", "Date"}[c%3], "search_index": c % 2})
			if c == changes-1 {
				fields = withField(fields, "f0", obj{"fieldtype": "Float"})
			}
			s.Admin.Put("/api/resource/DocType/Busy", obj{"fields": fields}).OK(t)
		}
		stop.Store(true)
		wg.Wait()
		total := 0
		for w := range workers {
			if failed[w] != "" {
				t.Errorf("worker %d: %s", w, failed[w])
			}
			total += written[w]
		}
		count := s.Admin.Get(client+"get_count", "doctype", "Busy").Message(t)
		if count != float64(total) {
			t.Errorf("%v documents, %d were written", count, total)
		}
	})
}
