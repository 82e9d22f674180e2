package main

import (
	"errors"
	"math"
	"strings"
	"testing"

	"armature/sdk/go"
	"armature/sdk/go/stubhost"
)

// draft is an event with a new invoice of rows of quantity and rate.
func draft(tax float64, rows ...[2]float64) armature.Event[Invoice] {
	e := armature.Event[Invoice]{Event: "validate", Doc: Invoice{Customer: "ACME", PostingDate: "2026-01-02", TaxRate: tax}}
	for i, row := range rows {
		e.Doc.Items = append(e.Doc.Items, Item{Name: string(rune('a' + i)), Description: "Tea", Qty: row[0], Rate: row[1]})
	}
	return e
}

func TestAddUp(t *testing.T) {
	tests := []struct {
		name            string
		tax             float64
		rows            [][2]float64
		net, vat, grand float64
	}{
		{"plain", 19, [][2]float64{{2, 50}}, 100, 19, 119},
		{"no tax", 0, [][2]float64{{3, 0.1}}, 0.3, 0, 0.3},
		{"nothing to pay", 19, [][2]float64{{1, 0}}, 0, 0, 0},
		{"half a cent goes up", 0, [][2]float64{{0.5, 0.01}}, 0.01, 0, 0.01},
		{"less goes down", 0, [][2]float64{{0.499, 0.01}}, 0, 0, 0},
		{"1.005 is a half, though not in binary", 0, [][2]float64{{1, 1.005}}, 1.01, 0, 1.01},
		{"each row is rounded", 0, [][2]float64{{1, 0.333}, {1, 0.333}, {1, 0.333}}, 0.99, 0, 0.99},
		{"the tax once", 19, [][2]float64{{1, 0.02}, {1, 0.02}, {1, 0.02}}, 0.06, 0.01, 0.07},
		{"broken rates", 7.7, [][2]float64{{12.345, 9.99}, {0.001, 1234.5678}}, 124.56, 9.59, 134.15},
		{"large", 100, [][2]float64{{1000000, 99999}}, 99999e6, 99999e6, 199998e6},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got Totals
			if err := stubhost.New(t).Call(exportAddUp, draft(tt.tax, tt.rows...), &got); err != nil {
				t.Fatal(err)
			}
			if got.NetTotal != tt.net || got.TaxAmount != tt.vat || got.GrandTotal != tt.grand || got.Outstanding != tt.grand {
				t.Errorf("got %+v", got)
			}
			if len(got.Items) != len(tt.rows) || got.Items[0].Name != "a" {
				t.Errorf("rows %+v", got.Items)
			}
		})
	}
}

func TestAddUpRefuses(t *testing.T) {
	row := func(qty, rate float64) armature.Event[Invoice] {
		return draft(19, [2]float64{1, 1}, [2]float64{qty, rate})
	}
	late := row(1, 1)
	late.Doc.DueDate = "2026-01-01"
	nameless := row(1, 1)
	nameless.Doc.Items[1].Description = " "
	tests := []struct {
		name  string
		event armature.Event[Invoice]
		says  string
	}{
		{"no quantity", row(0, 1), "Row #2: the quantity"},
		{"negative quantity", row(-1, 1), "Row #2: the quantity"},
		{"too fine a quantity", row(0.0001, 1), "Row #2: the quantity"},
		{"negative rate", row(1, -0.01), "Row #2: the rate"},
		{"too fine a rate", row(1, 0.00001), "Row #2: the rate"},
		{"too large a rate", row(1, 1e17), "Row #2: the rate"},
		{"too large an amount", row(1e9, 1e8), "Row #2: the amount"},
		{"too large a total", draft(0, [2]float64{1000, 9e7}, [2]float64{1000, 9e7}), "too large"},
		{"negative tax", draft(-1, [2]float64{1, 1}), "tax rate"},
		{"tax over 100", draft(101, [2]float64{1, 1}), "tax rate"},
		{"no description", nameless, "Row #2: say what"},
		{"due before its date", late, "due before"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := stubhost.New(t).Call(exportAddUp, tt.event, nil)
			if armature.KindOf(err) != armature.KindValidation || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestUnits(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -0.01, 0.001, 1e20} {
		if n, ok := units(x, 100); ok {
			t.Errorf("%v became %d", x, n)
		}
	}
	// Every amount survives the way out and back in.
	for _, n := range []uint64{0, 1, 29, 57, 115, 1 << 40, largest - 1, largest} {
		if back, ok := units(Money(n).Float(), 100); !ok || back != n {
			t.Errorf("%d became %d, %t", n, back, ok)
		}
	}
}

func TestPay(t *testing.T) {
	h := stubhost.New(t)
	h.Put("Invoice", armature.Doc{"name": "I1", "docstatus": int64(1), "grand_total": 0.3, "paid": 0.1})
	h.Put("Invoice", armature.Doc{"name": "I2", "docstatus": int64(0), "grand_total": 5.0})
	var doc armature.Doc
	if err := h.Call(exportPay, Payment{"I1", 0.2}, &doc); err != nil || doc.Float("paid") != 0.3 {
		t.Errorf("paid %v, %v", doc, err)
	}
	for _, p := range []Payment{{"I1", 0}, {"I1", -1}, {"I1", 0.001}, {"I2", 1}} {
		if err := h.Call(exportPay, p, nil); armature.KindOf(err) != armature.KindValidation {
			t.Errorf("%+v: %v", p, err)
		}
	}
	if err := h.Call(exportPay, Payment{"I3", 1}, nil); armature.KindOf(err) != armature.KindNotFound {
		t.Errorf("an unknown invoice: %v", err)
	}
}

func TestPayNoticesAnotherPayment(t *testing.T) {
	h := stubhost.New(t)
	h.Put("Invoice", armature.Doc{"name": "I1", "docstatus": int64(1), "grand_total": 9.0})
	h.On("doc_get", func(armature.Doc) (any, error) {
		doc := h.Doc("Invoice", "I1")
		doc["modified"] = "2020-01-01 00:00:00.000000" // as it was before the other one
		return doc, nil
	})
	var e *armature.Error
	if err := h.Call(exportPay, Payment{"I1", 1}, nil); !errors.As(err, &e) || e.Type != "TimestampMismatchError" {
		t.Errorf("got %v", err)
	}
}

func TestSettle(t *testing.T) {
	change := func(paid float64) armature.Event[Invoice] {
		return armature.Event[Invoice]{Doc: Invoice{Name: "I1", GrandTotal: 0.3, Paid: paid}}
	}
	var got Settled
	if err := stubhost.New(t).Call(exportSettle, change(0.1), &got); err != nil || got.Outstanding != 0.2 {
		t.Errorf("got %+v, %v", got, err)
	}
	for paid, excType := range map[float64]string{0.31: "OverpaymentError", -0.1: "ValidationError", 0.001: "ValidationError"} {
		var e *armature.Error
		if err := stubhost.New(t).Call(exportSettle, change(paid), nil); !errors.As(err, &e) || e.Type != excType {
			t.Errorf("%v: %v", paid, err)
		}
	}
	if err := stubhost.New(t).Call(exportMayCancel, change(0), nil); err != nil {
		t.Error(err)
	}
	if err := stubhost.New(t).Call(exportMayCancel, change(0.1), nil); armature.KindOf(err) != armature.KindValidation {
		t.Errorf("a paid invoice is cancelled: %v", err)
	}
}

func TestOutstanding(t *testing.T) {
	h := stubhost.New(t)
	var asked armature.Doc
	h.On("doc_list", func(in armature.Doc) (any, error) { // the stub does not group
		asked = in
		return []armature.Doc{{"customer": "B", "invoices": 2, "outstanding": 0.30000000000000004}, {"customer": "A", "invoices": 1, "outstanding": 0.1}}, nil
	})
	var got Debts
	if err := h.Call(exportOutstanding, Query{Customer: "B"}, &got); err != nil {
		t.Fatal(err)
	}
	if got.Total != 0.4 || len(got.Customers) != 2 || got.Customers[0] != (Debt{"B", 2, 0.3}) {
		t.Errorf("got %+v", got)
	}
	if filters, _ := asked["filters"].([]any); len(filters) != 3 {
		t.Errorf("asked %v", asked)
	}
}
