package httpapi_test

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"armature/core/document"
	"armature/core/sites"
	"armature/core/sites/datafolder"
	"armature/core/sites/sitetest"
)

// TestIndexSwitchedOff: an index that no field asks for any more refuses
// nothing, whether the field lost the switch or left the definition.
func TestIndexSwitchedOff(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		field := func(change obj) []obj {
			f := obj{"fieldname": "code", "fieldtype": "Int"}
			for k, v := range change {
				f[k] = v
			}
			return []obj{f}
		}
		newDocType(t, s.Admin, "Part", field(obj{"unique": 1, "search_index": 1}), obj{"autoname": "Prompt"})
		s.Admin.Post("/api/resource/Part", obj{"name": "a", "code": 0}).OK(t)
		s.Admin.Post("/api/resource/Part", obj{"name": "b", "code": 0}).Fails(t, 417, "UniqueValidationError")
		change := func(fields []obj) {
			t.Helper()
			s.Admin.Put("/api/resource/DocType/Part", obj{"fields": fields}).OK(t)
		}
		change(field(obj{"search_index": 1}))
		s.Admin.Post("/api/resource/Part", obj{"name": "b", "code": 0}).OK(t)
		s.Admin.Delete("/api/resource/Part/b")
		change(field(obj{"unique": 1}))
		s.Admin.Post("/api/resource/Part", obj{"name": "c", "code": 0}).Fails(t, 417, "UniqueValidationError")
		change([]obj{{"fieldname": "other", "fieldtype": "Data"}})
		s.Admin.Post("/api/resource/Part", obj{"name": "c"}).OK(t)
		s.Admin.Put("/api/resource/DocType/Part", obj{"fields": field(obj{"unique": 1})}).Fails(t, 417, "NonUniqueError")
		s.Admin.Post("/api/resource/Part", obj{"name": "d", "other": "still there"}).OK(t)
	})
}

// TestDeletedAndMadeWithOtherTypes: a DocType made again under the name of a
// deleted one has the types it asks for; what still fits is back.
func TestDeletedAndMadeWithOtherTypes(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		remake := func(fields ...obj) {
			t.Helper()
			if r := s.Admin.Delete("/api/resource/DocType/Again"); r.Status != 202 {
				t.Fatalf("%d %s", r.Status, r.Text)
			}
			newDocType(t, s.Admin, "Again", fields, obj{"autoname": "Prompt"})
		}
		rows := func(field string) []any {
			t.Helper()
			return s.Admin.Get("/api/resource/Again", "fields", []string{field}, "order_by", "name asc").Column(t, field)
		}
		keep := obj{"fieldname": "keep", "fieldtype": "Data"}
		newDocType(t, s.Admin, "Again", []obj{keep, {"fieldname": "x", "fieldtype": "Data", "unique": 1}}, obj{"autoname": "Prompt"})
		s.Admin.Post("/api/resource/Again", obj{"name": "a", "keep": "kept", "x": "text"}).OK(t)

		remake(keep, obj{"fieldname": "x", "fieldtype": "Int", "unique": 1})
		if got := rows("keep"); !reflect.DeepEqual(got, []any{"kept"}) {
			t.Errorf("keep: %v", got)
		}
		if got := s.Admin.Post("/api/resource/Again", obj{"name": "b", "x": 7}).Data(t)["x"]; got != 7.0 {
			t.Errorf("x: %v", got)
		}
		s.Admin.Post("/api/resource/Again", obj{"name": "c", "x": 7}).Fails(t, 417, "UniqueValidationError")
		if got := rows("x"); !reflect.DeepEqual(got, []any{0.0, 7.0}) {
			t.Errorf("x: %v", got)
		}

		remake(keep, obj{"fieldname": "x", "fieldtype": "Datetime", "search_index": 1})
		moment := "2026-01-02 03:04:05.000006"
		s.Admin.Put("/api/resource/Again/b", obj{"x": moment}).OK(t)
		found := s.Admin.Get("/api/resource/Again", "filters", filters([]any{"x", ">", "2026-01-01"}), "fields", []string{"name", "x"}).List(t)
		if !reflect.DeepEqual(found, []any{obj{"name": "b", "x": moment}}) {
			t.Errorf("found %v", found)
		}

		newDocType(t, s.Admin, "Again Row", []obj{{"fieldname": "v", "fieldtype": "Data"}}, obj{"istable": 1})
		remake(keep, obj{"fieldname": "x", "fieldtype": "Table", "options": "Again Row"})
		s.Admin.Put("/api/resource/Again/a", obj{"x": []obj{{"v": "row"}}}).OK(t)
		remake(keep, obj{"fieldname": "x", "fieldtype": "Data", "unique": 1})
		if got := rows("x"); !reflect.DeepEqual(got, []any{"text", nil}) {
			t.Errorf("x: %v", got)
		}
		s.Admin.Put("/api/resource/Again/b", obj{"x": "text"}).Fails(t, 417, "UniqueValidationError")
	})
}

// TestTableOfAnotherName: a new DocType does not find the documents of a deleted
// one whose name differs in what table names leave out.
func TestTableOfAnotherName(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		fields := []obj{{"fieldname": "a", "fieldtype": "Data"}}
		newDocType(t, s.Admin, "Pay Roll", fields, obj{"autoname": "Prompt"})
		s.Admin.Post("/api/resource/Pay%20Roll", obj{"name": "secret"}).OK(t)
		if r := s.Admin.Delete("/api/resource/DocType/Pay%20Roll"); r.Status != 202 {
			t.Fatalf("%d %s", r.Status, r.Text)
		}
		newDocType(t, s.Admin, "Pay-Roll", fields, obj{"autoname": "Prompt"})
		if got := s.Admin.Get("/api/resource/Pay-Roll").List(t); len(got) != 0 {
			t.Errorf("found %v", got)
		}
		newDocType(t, s.Admin, "Pay Roll", fields, obj{"autoname": "Prompt"})
		if got := s.Admin.Get("/api/resource/Pay%20Roll").Column(t, "name"); !reflect.DeepEqual(got, []any{"secret"}) {
			t.Errorf("found %v", got)
		}
	})
}

// TestDocTypeChangeWaitsBriefly: while another holds the table (PostgreSQL) or
// the writer (SQLite), a change of the DocType answers within the bound and
// leaves nothing half done; documents are read meanwhile; afterwards it works.
func TestDocTypeChangeWaitsBriefly(t *testing.T) {
	const wait = 300 * time.Millisecond
	var layout datafolder.Layout
	impatient := func(c *sites.Config) {
		c.Store.LockWait, c.Store.WriteWait = wait, wait
		layout = c.Layout
	}
	test := func(t *testing.T, s *sitetest.Server, hold func(t *testing.T) (letGo func())) {
		newDocType(t, s.Admin, "Held", []obj{{"fieldname": "a", "fieldtype": "Data"}}, obj{"autoname": "Prompt"})
		s.Admin.Post("/api/resource/Held", obj{"name": "one", "a": "x"}).OK(t)
		changes := []obj{
			{"fields": append(definition(t, s.Admin, "Held"), obj{"fieldname": "b", "fieldtype": "Data"})},
			{"fields": withField(definition(t, s.Admin, "Held"), "a", obj{"unique": 1})},
			{"fields": withField(definition(t, s.Admin, "Held"), "a", obj{"fieldtype": "Int"})},
		}
		for i, change := range changes {
			before := s.Admin.Get("/api/resource/DocType/Held").OK(t).Text
			letGo := hold(t)
			begun := time.Now()
			r := s.Admin.Put("/api/resource/DocType/Held", change)
			took := time.Since(begun)
			if got := s.Admin.Get("/api/resource/Held/one").Data(t)["a"]; got != "x" {
				t.Errorf("change %d: read %v meanwhile", i, got)
			}
			letGo()
			r.Fails(t, 503, "ServiceUnavailable")
			if told := r.Told(t); !strings.Contains(told, "try again") {
				t.Errorf("change %d: told %q", i, told)
			}
			if took < wait/2 || took > wait+time.Minute {
				t.Errorf("change %d: answered after %v", i, took)
			}
			if after := s.Admin.Get("/api/resource/DocType/Held").OK(t).Text; after != before {
				t.Errorf("change %d: the definition is\n%s\nand was\n%s", i, after, before)
			}
		}
		s.Admin.Get("/api/resource/Held", "fields", []string{"b"}).Fails(t, 417, "DataError")
		s.Admin.Post("/api/resource/Held", obj{"name": "two", "a": "x"}).OK(t) // not unique
		s.Admin.Put("/api/resource/DocType/Held", changes[0]).OK(t)
		if got := s.Admin.Put("/api/resource/Held/one", obj{"b": "there"}).Data(t)["b"]; got != "there" {
			t.Errorf("b: %v", got)
		}
	}
	t.Run("SQLite, held by another process", func(t *testing.T) {
		s := sitetest.New(t, "", impatient)
		db := openRaw(t, "sqlite", filepath.Join(layout.Site(s.Tenant.Site.Name), "site.db"))
		test(t, s, func(t *testing.T) func() { return holdRaw(t, db, "BEGIN IMMEDIATE") })
	})
	t.Run("SQLite, held by this process", func(t *testing.T) {
		s := sitetest.New(t, "", impatient)
		test(t, s, func(t *testing.T) func() { return holdWriter(t, s.Tenant.Store) })
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		database := sitetest.Postgres(t)
		s := sitetest.New(t, database, impatient)
		db := openRaw(t, "pgx", database)
		lock := fmt.Sprintf(`LOCK TABLE "site_%s".d_held IN ROW EXCLUSIVE MODE`, s.Tenant.Site.Name)
		test(t, s, func(t *testing.T) func() { return holdRaw(t, db, "BEGIN", lock) })
	})
}

func openRaw(t *testing.T, driver, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// holdRaw leaves a transaction open until letGo.
func holdRaw(t *testing.T, db *sql.DB, statements ...string) (letGo func()) {
	t.Helper()
	c, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range statements {
		if _, err := c.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	return func() {
		_, err := c.ExecContext(t.Context(), "ROLLBACK")
		if err := errors.Join(err, c.Close()); err != nil {
			t.Error(err)
		}
	}
}

// holdWriter takes the writer of a site as a slow method does.
func holdWriter(t *testing.T, s document.Store) (letGo func()) {
	t.Helper()
	held, release, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- s.Write(t.Context(), document.OwnTx, func(tx document.Tx) error {
			if err := tx.BumpEpoch(t.Context()); err != nil {
				return err
			}
			close(held)
			<-release
			return document.ErrRollback
		})
	}()
	select {
	case <-held:
	case err := <-ended:
		t.Fatal(err)
	}
	return func() {
		close(release)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}
