package main

import (
	"fmt"

	"armature/sdk/go"
)

// Settled is what settle sets in a submitted invoice.
type Settled struct {
	Paid        float64 `json:"paid"`
	Outstanding float64 `json:"outstanding"`
}

// settle runs before a submitted invoice is changed. The server lets nothing
// change then but the two fields that say allow_on_submit; here they are made to
// agree, whether it was pay that changed them or somebody by REST.
func settle(e armature.Event[Invoice]) (Settled, error) {
	total, _ := units(e.Doc.GrandTotal, 100)
	paid, ok := units(e.Doc.Paid, 100)
	if !ok {
		return Settled{}, armature.Invalid("What was paid is not negative and has two decimals at most")
	}
	if paid > total {
		return Settled{}, &armature.Error{
			Kind: armature.KindValidation, Type: "OverpaymentError",
			Message: fmt.Sprintf("%.2f is more than the %.2f of %s", e.Doc.Paid, e.Doc.GrandTotal, e.Doc.Name),
		}
	}
	return Settled{Money(paid).Float(), Money(total - paid).Float()}, nil
}

// mayCancel refuses to cancel what somebody has paid for.
func mayCancel(e armature.Event[Invoice]) (armature.None, error) {
	if e.Doc.Paid > 0 {
		return armature.None{}, armature.Invalid(e.Doc.Name + " is paid, at least in part: give the money back first")
	}
	return armature.None{}, nil
}

// Payment is money that came in for an invoice.
type Payment struct {
	Name   string  `json:"name"`
	Amount float64 `json:"amount"`
}

// pay adds a payment to an invoice. Settle checks the sum.
func pay(p Payment) (armature.Doc, error) {
	amount, ok := units(p.Amount, 100)
	if !ok || amount == 0 {
		return nil, armature.Invalid("A payment is more than nothing, with two decimals at most")
	}
	invoice, err := armature.GetAs[Invoice]("Invoice", p.Name)
	if err != nil {
		return nil, err
	}
	if invoice.Docstatus != 1 {
		return nil, armature.Invalid(p.Name + " is not a submitted invoice")
	}
	before, _ := units(invoice.Paid, 100)
	// With modified the update is refused if somebody else has changed the invoice
	// since it was read: no payment gets lost between two that come at once.
	return armature.Update("Invoice", p.Name, armature.Doc{
		"paid":     Money(before + amount).Float(),
		"modified": invoice.Modified,
	})
}
