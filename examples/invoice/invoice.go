package main

import (
	"fmt"
	"strings"

	"armature/sdk/go"
)

// Invoice is the document, as far as this plugin looks at it.
type Invoice struct {
	Name        string  `json:"name"`
	Modified    string  `json:"modified"`
	Docstatus   int     `json:"docstatus"`
	Customer    string  `json:"customer"`
	PostingDate string  `json:"posting_date"`
	DueDate     string  `json:"due_date"`
	TaxRate     float64 `json:"tax_rate"`
	Items       []Item  `json:"items"`
	GrandTotal  float64 `json:"grand_total"`
	Paid        float64 `json:"paid"`
}

// Item is a row of the invoice's child table.
type Item struct {
	Name        string  `json:"name"`
	Description string  `json:"description"`
	Qty         float64 `json:"qty"`
	Rate        float64 `json:"rate"`
}

// Totals is what add_up sets in an invoice. A row that comes with its name keeps
// what it does not mention.
type Totals struct {
	Items       []Amount `json:"items"`
	NetTotal    float64  `json:"net_total"`
	TaxAmount   float64  `json:"tax_amount"`
	GrandTotal  float64  `json:"grand_total"`
	Paid        float64  `json:"paid"`
	Outstanding float64  `json:"outstanding"`
}

// Amount is what add_up sets in a row.
type Amount struct {
	Name   string  `json:"name"`
	Amount float64 `json:"amount"`
}

// addUp runs before a draft is written and before it is submitted, whoever
// writes it: what a client says the totals are does not count.
//
// Each row is rounded to cents, so that the rows an invoice shows add up to the
// total it shows; the tax is worked out once, of that total.
func addUp(e armature.Event[Invoice]) (Totals, error) {
	doc := e.Doc
	if doc.DueDate != "" && doc.DueDate < doc.PostingDate {
		return Totals{}, armature.Invalid("The invoice is due before its date")
	}
	percent, ok := units(doc.TaxRate, 100)
	if !ok || doc.TaxRate > 100 {
		return Totals{}, armature.Invalid("The tax rate is between 0 and 100 percent, with two decimals at most")
	}
	var totals Totals
	var net Money
	for i, item := range doc.Items {
		amount, err := item.amount()
		if err != nil {
			return Totals{}, armature.Invalid(fmt.Sprintf("Row #%d: %s", i+1, err))
		}
		if net += amount; net > largest {
			return Totals{}, armature.Invalid("The invoice is too large")
		}
		totals.Items = append(totals.Items, Amount{item.Name, amount.Float()})
	}
	tax, _ := times(uint64(net), percent, 100*100)
	totals.NetTotal = net.Float()
	totals.TaxAmount = tax.Float()
	totals.GrandTotal = (net + tax).Float()
	totals.Outstanding = totals.GrandTotal
	return totals, nil
}

func (i Item) amount() (Money, error) {
	if strings.TrimSpace(i.Description) == "" {
		return 0, fmt.Errorf("say what it is")
	}
	qty, ok := units(i.Qty, 1000)
	if !ok || qty == 0 {
		return 0, fmt.Errorf("the quantity is more than nothing, with three decimals at most")
	}
	rate, ok := units(i.Rate, 10000)
	if !ok {
		return 0, fmt.Errorf("the rate is from 0 to a billion, with four decimals at most")
	}
	amount, ok := times(rate, qty, 1000*10000/100)
	if !ok {
		return 0, fmt.Errorf("the amount is too large")
	}
	return amount, nil
}
