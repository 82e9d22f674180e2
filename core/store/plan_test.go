package store_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/query"
	"armature/core/store"
)

// A list by one value of an indexed field answers alike for common, rare and
// absent values, on both databases, and its statement is the pinned one where a
// plan may be kept.
func TestListByOneValue(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) { listByOneValue(t, openSQLite(t), false) })
	t.Run("PostgreSQL", func(t *testing.T) { listByOneValue(t, openPostgres(t), true) })
}

func listByOneValue(t *testing.T, s document.Store, postgres bool) {
	dt := doctype.NewDocType(doctype.DocType{Name: "Job", Table: "d_job"}, []*doctype.Field{
		{Name: "state", Label: "State", Type: "Data", Kind: doctype.Text, Column: "state", Indexed: true},
	})
	err := s.Write(t.Context(), document.OwnTx, func(tx document.Tx) error {
		if err := tx.Migrate(t.Context(), dt); err != nil {
			return err
		}
		for i := range 300 {
			d := doctype.NewDocument(dt)
			d.Put("name", fmt.Sprintf("J%03d", i))
			at := doctype.FormatDatetime(time.Date(2026, 1, 1, 0, 0, i, 0, time.UTC))
			d.Put("creation", at)
			d.Put("modified", at)
			d.Put("state", "done")
			if i%100 == 0 {
				d.Put("state", "failed")
			}
			if err := tx.Insert(t.Context(), d); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]string{"done": "J299 J298 J297", "failed": "J200 J100 J000", "nowhere": ""} {
		var text string
		ctx := store.WithObserver(t.Context(), func(sql string, _ []any, _ time.Duration) { text = sql })
		var names []string
		err := s.Read(ctx, func(tx document.Tx) error {
			return tx.Rows(ctx, &doctype.Select{
				DocType: dt, Length: 3,
				Columns: []doctype.Column{{Operand: doctype.Operand{Field: dt.Columns[doctype.ColName]}, Key: "name"}},
				Where:   doctype.Compare{Operand: doctype.Operand{Field: dt.Field("state")}, Op: query.Eq, Value: value},
				Order:   []doctype.OrderBy{{Operand: doctype.Operand{Field: dt.Columns[doctype.ColModified]}, Desc: true}},
			}, func(v []any) error {
				names = append(names, v[0].(string))
				return nil
			})
		})
		if err != nil || strings.Join(names, " ") != want {
			t.Errorf("%s: %v, %v; want %s", value, names, err, want)
		}
		if pinned := strings.Contains(text, ">= (SELECT CAST($1 AS text))"); pinned != postgres {
			t.Errorf("statement %s", text)
		}
	}
}

// TestListKeepsItsPlan: the list by one value is read in the order of its index,
// whatever the statistics say, also where each execution is planned.
func TestListKeepsItsPlan(t *testing.T) {
	url := postgresURL(t)
	schema := newSchema(t, url)
	s := openSchema(t, url, schema)
	dt := doctype.NewDocType(doctype.DocType{Name: "Job", Table: "d_job"}, []*doctype.Field{
		{Name: "state", Label: "State", Type: "Link", Options: "Job", Kind: doctype.Text, Column: "state", Indexed: true, Length: doctype.DefaultLength},
		{Name: "count", Label: "Count", Type: "Int", Kind: doctype.Int, Column: "count", Indexed: true},
		{Name: "more", Label: "More", Type: "Long Text", Kind: doctype.Text, Column: "more"},
	})
	err := s.Write(t.Context(), document.OwnTx, func(tx document.Tx) error { return tx.Migrate(t.Context(), dt) })
	if err != nil {
		t.Fatal(err)
	}
	c, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(context.Background()) }()
	run := func(sql string) {
		t.Helper()
		if _, err := c.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	run("SET search_path = " + pgx.Identifier{schema}.Sanitize())
	run("ALTER TABLE d_job SET (autovacuum_enabled = off)")
	fill := func(from, to int, state string) {
		run(fmt.Sprintf(`INSERT INTO d_job (name, owner, creation, modified, modified_by, state, count, more)
			SELECT 'J' || i, 'a', now(), timestamp '2026-01-01' + i * interval '1 s', 'a', %s, i %% 3, repeat('x', 150) FROM generate_series(%d, %d) i`, state, from, to))
	}
	mixed := "CASE WHEN i % 10 = 0 THEN 'Open' ELSE 'Closed' END"
	stages := []struct {
		name string
		do   func()
	}{
		{"after a bulk insert", func() { fill(1, 10_000, mixed) }},
		{"with statistics of a small table", func() {
			run("TRUNCATE d_job")
			fill(1, 30, "'Other'")
			run("ANALYZE d_job")
			fill(31, 10_000, mixed)
		}},
		{"with statistics", func() { run("ANALYZE d_job") }},
	}
	for _, stage := range stages {
		stage.do()
		for field, values := range map[string][]any{"state": {"Open", "Closed", "Other"}, "count": {int64(0), int64(7)}} {
			for _, value := range values {
				var text string
				var args []any
				ctx := store.WithObserver(t.Context(), func(sql string, a []any, _ time.Duration) { text, args = sql, slices.Clone(a) })
				err := s.Read(ctx, func(tx document.Tx) error {
					return tx.Rows(ctx, &doctype.Select{
						DocType: dt, Length: 20,
						Columns: []doctype.Column{{Operand: doctype.Operand{Field: dt.Columns[doctype.ColName]}, Key: "name"}},
						Where:   doctype.Compare{Operand: doctype.Operand{Field: dt.Field(field)}, Op: query.Eq, Value: value},
						Order:   []doctype.OrderBy{{Operand: doctype.Operand{Field: dt.Columns[doctype.ColModified]}, Desc: true}},
					}, func([]any) error { return nil })
				})
				if err != nil {
					t.Fatal(err)
				}
				for _, mode := range []string{"force_generic_plan", "force_custom_plan", "auto"} {
					run("SET plan_cache_mode = " + mode)
					rows, err := c.Query(t.Context(), "EXPLAIN "+text, args...)
					if err != nil {
						t.Fatal(err)
					}
					lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
					if plan := strings.Join(lines, "\n"); err != nil || strings.Contains(plan, "Sort") || !strings.Contains(plan, "Index") {
						t.Errorf("%s, %s %v, %s: %v\n%s", stage.name, field, value, mode, err, plan)
					}
				}
			}
		}
	}
}
