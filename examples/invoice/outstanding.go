package main

import (
	"math"

	"armature/sdk/go"
)

// Query says whose debts; empty is everybody's.
type Query struct {
	Customer string `json:"customer"`
}

// Debts is what customers owe.
type Debts struct {
	Total     float64 `json:"total"`
	Customers []Debt  `json:"customers"`
}

// Debt is what one customer owes.
type Debt struct {
	Customer    string  `json:"customer"`
	Invoices    int     `json:"invoices"`
	Outstanding float64 `json:"outstanding"`
}

// outstanding sums up the submitted invoices that are not paid. The database does
// the adding, over the invoices that the caller may see; only one row for each
// customer comes here.
func outstanding(q Query) (Debts, error) {
	where := []armature.Filter{armature.Eq("docstatus", 1), armature.Gt("outstanding", 0)}
	if q.Customer != "" {
		where = append(where, armature.Eq("customer", q.Customer))
	}
	customers, err := armature.ListAs[Debt]("Invoice", armature.Query{
		Fields:  []string{"customer", "count(name) as invoices", "sum(outstanding) as outstanding"},
		Where:   where,
		GroupBy: "customer",
		OrderBy: "outstanding desc",
		Limit:   armature.All,
	})
	if err != nil {
		return Debts{}, err
	}
	debts := Debts{Customers: []Debt{}} // nobody owes anything: an empty list, not null
	var total Money
	for _, c := range customers {
		sum := Money(math.Round(c.Outstanding * 100)) // the database has added fractions
		total += sum
		c.Outstanding = sum.Float()
		debts.Customers = append(debts.Customers, c)
	}
	debts.Total = total.Float()
	return debts, nil
}
