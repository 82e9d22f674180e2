package main

import (
	"errors"
	"math"
	"strings"
	"testing"

	"armature/sdk/go"
	"armature/sdk/go/armaturetest"
)

// draft is an invoice of rows of quantity and rate.
func draft(tax float64, rows ...[2]float64) armature.Doc {
	doc := armature.Doc{"customer": "ACME", "posting_date": "2026-01-02", "tax_rate": tax}
	items := []any{}
	for _, row := range rows {
		items = append(items, armature.Doc{"description": "Tea", "qty": row[0], "rate": row[1]})
	}
	doc["items"] = items
	return doc
}

// submitted is an invoice of one row that is to be paid.
func submitted(t *testing.T, s *armaturetest.Site, customer string, rate float64) (name string) {
	t.Helper()
	doc := draft(0, [2]float64{1, rate})
	doc["customer"] = customer
	name = s.Insert("Invoice", doc).Name()
	if _, err := armature.Submit("Invoice", name); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestAddUp(t *testing.T) {
	s := armaturetest.New(t)
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
			got, err := armature.Insert("Invoice", draft(tt.tax, tt.rows...))
			if err != nil {
				t.Fatal(err)
			}
			if got.Float("net_total") != tt.net || got.Float("tax_amount") != tt.vat || got.Float("grand_total") != tt.grand || got.Float("outstanding") != tt.grand {
				t.Errorf("got %v", got)
			}
			if len(got.Docs("items")) != len(tt.rows) {
				t.Errorf("rows %v", got.Docs("items"))
			}
		})
	}
	if got := s.Insert("Invoice", draft(0, [2]float64{1, 1})).Name(); !strings.HasPrefix(got, "INV-") {
		t.Errorf("named %s", got)
	}
}

func TestAddUpRefuses(t *testing.T) {
	armaturetest.New(t)
	row := func(qty, rate float64) armature.Doc {
		return draft(19, [2]float64{1, 1}, [2]float64{qty, rate})
	}
	late := row(1, 1)
	late["due_date"] = "2026-01-01"
	tests := []struct {
		name string
		doc  armature.Doc
		says string
	}{
		{"no quantity", row(0, 1), "Row #2: the quantity"},
		{"negative quantity", row(-1, 1), "Row #2: the quantity"},
		{"too fine a quantity", row(0.0001, 1), "Row #2: the quantity"},
		{"negative rate", row(1, -0.01), "Row #2: the rate"},
		{"too fine a rate", row(1, 0.00001), "Row #2: the rate"},
		{"too large an amount", row(1e9, 1e8), "Row #2: the amount"},
		{"too large a total", draft(0, [2]float64{1000, 9e7}, [2]float64{1000, 9e7}), "too large"},
		{"negative tax", draft(-1, [2]float64{1, 1}), "tax rate"},
		{"tax over 100", draft(101, [2]float64{1, 1}), "tax rate"},
		{"due before its date", late, "due before"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := armature.Insert("Invoice", tt.doc)
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
	s := armaturetest.New(t)
	open, unsent := submitted(t, s, "ACME", 0.3), s.Insert("Invoice", draft(0, [2]float64{1, 5})).Name()
	var doc armature.Doc
	for _, amount := range []float64{0.1, 0.1} {
		if err := s.Call("acme.invoice.pay", Payment{open, amount}, &doc); err != nil {
			t.Fatal(err)
		}
	}
	if doc.Float("paid") != 0.2 || doc.Float("outstanding") != 0.1 {
		t.Errorf("paid %v", doc)
	}
	for _, p := range []Payment{{open, 0}, {open, -1}, {open, 0.001}, {unsent, 1}} {
		if err := s.Call("acme.invoice.pay", p, nil); armature.KindOf(err) != armature.KindValidation {
			t.Errorf("%+v: %v", p, err)
		}
	}
	if err := s.Call("acme.invoice.pay", Payment{"I3", 1}, nil); armature.KindOf(err) != armature.KindNotFound {
		t.Errorf("an unknown invoice: %v", err)
	}
	var e *armature.Error
	if err := s.Call("acme.invoice.pay", Payment{open, 0.11}, nil); !errors.As(err, &e) || e.Type != "OverpaymentError" {
		t.Errorf("more than is owed: %v", err)
	}
	if _, err := armature.Cancel("Invoice", open); armature.KindOf(err) != armature.KindValidation {
		t.Errorf("a paid invoice is cancelled: %v", err)
	}
	if got := s.Get("Invoice", open); got.Float("paid") != 0.2 || got.Int("docstatus") != 1 {
		t.Errorf("stored %v", got)
	}
}

func TestCancel(t *testing.T) {
	s := armaturetest.New(t)
	if doc, err := armature.Cancel("Invoice", submitted(t, s, "ACME", 1)); err != nil || doc.Int("docstatus") != 2 {
		t.Errorf("got %v, %v", doc, err)
	}
}

func TestOutstanding(t *testing.T) {
	s := armaturetest.New(t)
	submitted(t, s, "A", 0.1)
	submitted(t, s, "B", 0.1)
	submitted(t, s, "B", 0.2)
	s.Insert("Invoice", draft(0, [2]float64{1, 7})) // not submitted: nobody owes it yet
	var got Debts
	if err := s.CallBy("GET", "acme.invoice.outstanding", nil, &got); err != nil {
		t.Fatal(err)
	}
	if got.Total != 0.4 || len(got.Customers) != 2 || got.Customers[0] != (Debt{"B", 2, 0.3}) {
		t.Errorf("got %+v", got)
	}
	if err := s.CallBy("GET", "acme.invoice.outstanding", Query{Customer: "A"}, &got); err != nil || got.Total != 0.1 {
		t.Errorf("of one customer: %+v, %v", got, err)
	}
}
