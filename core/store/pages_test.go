package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/query"
	"armature/core/store"
)

// A page of documents that others decide on is the same however it is looked
// for: by walking, by walking further, and by beginning with what few meet.
func TestPagesOfWhatOthersDecide(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) { pages(t, openSQLite(t)) })
	t.Run("PostgreSQL", func(t *testing.T) { pages(t, openPostgres(t)) })
}

const ordersMade = 1500

// pages makes orders of customers: all of one who is common, every tenth and
// every hundredth of others, and one of a customer who is rare.
func pages(t *testing.T, s document.Store) {
	customer := doctype.NewDocType(doctype.DocType{Name: "Customer", Table: "d_customer"}, []*doctype.Field{
		{Name: "grade", Label: "Grade", Type: "Data", Kind: doctype.Text, Column: "grade"}})
	order := doctype.NewDocType(doctype.DocType{Name: "Order", Table: "d_order", Permissions: []doctype.Rule{{IfOwner: true}}}, []*doctype.Field{
		{Name: "customer", Label: "Customer", Type: "Link", Options: "Customer", Kind: doctype.Text, Column: "customer"}})
	grade := func(i int) string {
		switch {
		case i == 3:
			return "rare"
		case i%100 == 0:
			return "hundredth"
		case i%10 == 0:
			return "tenth"
		}
		return "common"
	}
	at := func(i int) string {
		return doctype.FormatDatetime(time.Date(2026, 1, 1, 0, 0, i/2, 0, time.UTC)) // two in each moment
	}
	put := func(tx document.Tx, dt *doctype.DocType, name, field, value string, i int) error {
		d := doctype.NewDocument(dt)
		for key, v := range map[string]any{"name": name, "owner": "ann", "creation": at(i), "modified": at(i), field: value} {
			d.Put(key, v)
		}
		return tx.Insert(t.Context(), d)
	}
	err := s.Write(t.Context(), document.OwnTx, func(tx document.Tx) error {
		for _, dt := range []*doctype.DocType{customer, order} {
			if err := tx.Migrate(t.Context(), dt); err != nil {
				return err
			}
		}
		for _, g := range []string{"rare", "hundredth", "tenth", "common"} {
			if err := put(tx, customer, g, "grade", g, 0); err != nil {
				return err
			}
		}
		for i := range ordersMade {
			if err := put(tx, order, fmt.Sprintf("O%04d", i), "customer", grade(i), i); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	of := func(dt *doctype.DocType, field string) doctype.Operand {
		return doctype.Operand{Field: dt.Field(field)}
	}
	for round := range 3 { // what was in vain is remembered
		for _, desc := range []bool{true, false} {
			for _, g := range []string{"common", "tenth", "hundredth", "rare", "nobody"} {
				var want []string
				for i := range ordersMade {
					if grade(i) == g {
						want = append(want, fmt.Sprintf("O%04d", i))
					}
				}
				if desc {
					slices.Reverse(want)
				}
				want = want[:min(len(want), 20)]
				sel := &doctype.Select{DocType: order, Length: 20,
					Columns: []doctype.Column{{Operand: of(order, "name"), Key: "name"}},
					Order:   []doctype.OrderBy{{Operand: of(order, "modified"), Desc: desc}},
					Where: doctype.AllOf{doctype.AnyOf{
						doctype.AllOf{doctype.Compare{Operand: of(order, "owner"), Op: query.Eq, Value: "nobody"}},
						doctype.Some{Of: of(order, "customer"), Target: customer, Key: customer.Field("name"),
							Where: doctype.Compare{Operand: of(customer, "grade"), Op: query.Eq, Value: g}}}},
				}
				var ran []string
				ctx := store.WithObserver(t.Context(), func(sql string, _ []any, _ time.Duration) { ran = append(ran, sql) })
				var got []string
				var text []byte
				err := s.Read(ctx, func(tx document.Tx) (err error) {
					if text, _, err = tx.AppendRows(ctx, nil, sel, true); err != nil {
						return err
					}
					return tx.Rows(ctx, sel, func(v []any) error { got = append(got, v[0].(string)); return nil })
				})
				if err != nil {
					t.Fatal(err)
				}
				appended := strings.NewReplacer("[", "", "]", "", `"`, "").Replace(string(text))
				if !slices.Equal(got, want) || appended != strings.Join(want, ",") {
					t.Errorf("round %d, %s, desc %v: %v and %s, want %v by\n%s", round, g, desc, got, appended, want, strings.Join(ran, "\n"))
				}
				for _, text := range ran { // SQLite plans anew for each value that it sees
					if strings.Contains(text, "?1") && strings.Count(text, "?") != strings.Count(text, "(SELECT ?") {
						t.Errorf("the planner sees values: %s", text)
					}
				}
			}
		}
	}
}
