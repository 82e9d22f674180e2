package document

import (
	"context"
	"fmt"
	"strings"

	"armature/core/access"
	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/identity"
)

// The values of docstatus.
const (
	draft     = 0
	submitted = 1
	cancelled = 2
)

// admitStatus checks the docstatus a change leads to (reference, section 2.5)
// and the right it needs.
func (s *Service) admitStatus(ctx context.Context, tx Tx, caller *identity.Caller, doc, before *doctype.Document) error {
	from, to := int64(draft), doc.Docstatus()
	if before != nil {
		from = before.Docstatus()
	}
	refuse := func() error {
		return fault.Invalid("DocstatusTransitionError", "Cannot change docstatus of %s from %d to %d", doc.Type.Name, from, to)
	}
	switch {
	case from == cancelled:
		return fault.Invalid("", "Cannot edit cancelled document")
	case to == draft && from == draft:
		return nil
	case !doc.Type.Submittable, to < draft, to > cancelled:
		return refuse()
	case from == draft && to == submitted, from == submitted && to == submitted:
		return s.may(tx, caller).Demand(ctx, doc, access.Submit)
	case from == submitted && to == cancelled:
		return s.may(tx, caller).Demand(ctx, doc, access.Cancel)
	}
	return refuse()
}

// prepare runs the hooks before a write and the field rules, in the order of
// the reference (sections 2.4 and 2.6).
func (s *Service) prepare(ctx context.Context, tx Tx, caller *identity.Caller, doc, before *doctype.Document) error {
	stampRows(doc, caller) // the name is new
	if err := s.fetch(ctx, tx, caller, doc, before); err != nil {
		return err
	}
	if err := s.fireBefore(ctx, tx, caller, doc, before, beforeWrite(doc, before)); err != nil {
		return err
	}
	stampRows(doc, caller) // hooks may have added rows
	if err := keepNamingField(doc, before); err != nil {
		return err
	}
	if err := s.nameRows(ctx, tx, doc, before); err != nil {
		return err
	}
	settleEmpty(doc, before)
	for _, row := range RowsOf(doc) {
		settleEmpty(row, nil)
	}
	if err := s.admitSize(doc); err != nil {
		return err
	}
	if err := s.checkFields(doc, before); err != nil {
		return err
	}
	if err := s.checkTree(ctx, tx, doc, before); err != nil {
		return err
	}
	return s.checkStatusLinks(ctx, tx, caller, doc, before)
}

func beforeWrite(doc, before *doctype.Document) []string {
	from := int64(draft)
	if before != nil {
		from = before.Docstatus()
	}
	switch to := doc.Docstatus(); {
	case from == submitted && to == cancelled:
		return []string{BeforeCancel}
	case from == submitted:
		return []string{BeforeUpdateAfterSubmit}
	case to == submitted:
		return []string{BeforeValidate, Validate, BeforeSubmit}
	}
	return []string{BeforeValidate, Validate, BeforeSave}
}

func afterUpdate(doc, before *doctype.Document) []string {
	switch from, to := before.Docstatus(), doc.Docstatus(); {
	case from == submitted && to == cancelled:
		return []string{OnCancel, OnChange}
	case from == submitted:
		return []string{OnUpdateAfterSubmit, OnChange}
	case to == submitted:
		return []string{OnUpdate, OnSubmit, OnChange}
	}
	return []string{OnUpdate, OnChange}
}

// RowsOf returns the rows of all child tables of the document.
func RowsOf(doc *doctype.Document) []*doctype.Document {
	var all []*doctype.Document
	for _, t := range doc.Type.Tables {
		all = append(all, doc.Rows(t.Name)...)
	}
	return all
}

// settleEmpty decides between null and the empty string, of which a client may
// send either for no text. In a unique field no text is null, which any number of
// documents may have; in one that is not nullable it is the empty string. What the
// document held before stays as it is.
func settleEmpty(doc, before *doctype.Document) {
	for _, f := range doc.Type.Columns {
		if !f.Unique && !f.NotNullable || f.Kind != doctype.Text || f.Standard {
			continue
		}
		v := doc.Values()[f.Index]
		switch {
		case before != nil && before.Values()[f.Index] == v:
		case v == nil && f.NotNullable:
			doc.Values()[f.Index] = ""
		case v == "" && f.Unique && !f.NotNullable:
			doc.Values()[f.Index] = nil
		}
	}
}

// checkFields applies the rules of the fields to the document and its rows.
func (s *Service) checkFields(doc, before *doctype.Document) error {
	if err := checkMandatory(doc); err != nil {
		return err
	}
	if err := checkValues(doc, before, ""); err != nil {
		return err
	}
	for _, t := range doc.Type.Tables {
		if err := keepTable(doc, before, t); err != nil {
			return err
		}
		stored := rowsByName(before, t)
		for i, row := range doc.Rows(t.Name) {
			if err := checkMandatory(row); err != nil {
				return err
			}
			if err := checkValues(row, stored[row.Name()], fmt.Sprintf("Row #%d: ", i+1)); err != nil {
				return err
			}
		}
	}
	return checkSubmitted(doc, before)
}

func checkMandatory(doc *doctype.Document) error {
	var missing []string
	for _, f := range doc.Type.Fields {
		if !f.Required || f.Kind == doctype.NoValue || f.Kind == doctype.Check {
			continue
		}
		if f.Kind == doctype.Rows {
			if len(doc.Rows(f.Name)) == 0 {
				missing = append(missing, f.Name)
			}
			continue
		}
		if s, isText := doc.Values()[f.Index].(string); doc.Values()[f.Index] == nil || isText && f.Blank(s) {
			missing = append(missing, f.Name)
		}
	}
	if len(missing) > 0 {
		return fault.Invalid("MandatoryError", "[%s, %s]: %s", doc.Type.Name, doc.Name(), strings.Join(missing, ", "))
	}
	return nil
}

// checkValues checks each value that before does not hold already.
func checkValues(doc, before *doctype.Document, where string) error {
	for _, f := range doc.Type.Columns {
		v := doc.Values()[f.Index]
		if f.Standard || before != nil && before.Values()[f.Index] == v {
			continue
		}
		if before != nil && f.SetOnlyOnce && said(f, before.Values()[f.Index]) {
			return unchangeable(f, where)
		}
		if err := f.Check(v, where); err != nil {
			return err
		}
	}
	return checkKinds(doc, before, where)
}

// said reports whether a field holds something: not null, nothing or 0.
func said(f *doctype.Field, v any) bool { return v != "" && v != f.Zero() }

func unchangeable(f *doctype.Field, where string) error {
	return fault.Invalid("CannotChangeConstantError", "%sValue cannot be changed for %s", where, f.Title())
}

// keepTable refuses other rows in a table that is set only once. Rows that came
// without their names and say the same are the stored ones.
func keepTable(doc, before *doctype.Document, t *doctype.Field) error {
	if before == nil || !t.SetOnlyOnce || len(before.Rows(t.Name)) == 0 {
		return nil
	}
	was, is := before.Rows(t.Name), doc.Rows(t.Name)
	if len(was) != len(is) {
		return unchangeable(t, "")
	}
	for i := range was {
		for _, f := range was[i].Type.Columns {
			if !f.Standard && was[i].Values()[f.Index] != is[i].Values()[f.Index] {
				return unchangeable(t, "")
			}
		}
	}
	doc.PutRows(t.Name, was)
	return nil
}

func rowsByName(doc *doctype.Document, t *doctype.Field) map[string]*doctype.Document {
	if doc == nil {
		return nil
	}
	rows := make(map[string]*doctype.Document)
	for _, row := range doc.Rows(t.Name) {
		rows[row.Name()] = row
	}
	return rows
}

// checkKinds refuses a Dynamic Link that says a name and not of which DocType.
func checkKinds(doc, before *doctype.Document, where string) error {
	for _, f := range doc.Type.Columns {
		if !f.IsDynamicLink() || doc.TextAt(f.Index) == "" || doc.LinkTarget(f) != "" {
			continue
		}
		kind := doc.Type.Field(f.Options)
		if kind == nil || before != nil && before.TextAt(f.Index) == doc.TextAt(f.Index) && before.LinkTarget(f) == "" {
			continue
		}
		return fault.Invalid("", "%s%s must be set first: it says which DocType %s is of", where, kind.Title(), f.Title())
	}
	return nil
}

// checkSubmitted refuses changes to a submitted document in fields that do not
// allow them.
func checkSubmitted(doc, before *doctype.Document) error {
	if before == nil || before.Docstatus() != submitted || doc.Docstatus() != submitted {
		return nil
	}
	for _, f := range doc.Type.Fields {
		if f.Standard || f.AllowOnSubmit || f.Kind == doctype.NoValue {
			continue
		}
		same := false
		if f.Kind == doctype.Rows {
			same = doctype.SameRows(doc.Rows(f.Name), before.Rows(f.Name))
		} else {
			same = doc.Values()[f.Index] == before.Values()[f.Index]
		}
		if !same {
			return fault.Invalid("UpdateAfterSubmitError", "Not allowed to change %s after submission", f.Title())
		}
	}
	return nil
}
