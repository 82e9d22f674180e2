package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

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
	err := s.Write(t.Context(), document.Alone, func(tx document.Tx) error {
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
		if pinned := strings.Contains(text, ">= $1"); pinned != postgres {
			t.Errorf("statement %s", text)
		}
	}
}
