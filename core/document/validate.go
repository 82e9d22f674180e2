package document

import (
	"context"
	"fmt"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"armature/core/fault"
	"armature/core/identity"
	"armature/core/permission"
)

// The values of docstatus.
const (
	draft     = 0
	submitted = 1
	cancelled = 2
)

// admitStatus checks the docstatus a change leads to (reference, section 2.5)
// and the right it needs.
func (s *Service) admitStatus(ctx context.Context, tx Tx, caller *identity.Caller, doc, before *Document) error {
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
		return s.mayDo(ctx, tx, caller, doc, permission.Submit)
	case from == submitted && to == cancelled:
		return s.mayDo(ctx, tx, caller, doc, permission.Cancel)
	}
	return refuse()
}

// mayDo asks for one right on one document.
func (s *Service) mayDo(ctx context.Context, tx Tx, caller *identity.Caller, doc *Document, right permission.Right) error {
	g, err := s.guard(ctx, tx, caller, doc.Type, right)
	if err != nil {
		return err
	}
	return g.admit(ctx, s, tx, doc.values)
}

// prepare runs the hooks before a write and the field rules, in the order of
// the reference (sections 2.4 and 2.6).
func (s *Service) prepare(ctx context.Context, tx Tx, caller *identity.Caller, doc, before *Document) error {
	stampRows(doc, caller) // the name is new
	if err := s.fetch(ctx, tx, doc); err != nil {
		return err
	}
	if err := s.fireAll(ctx, tx, caller, doc, before, beforeWrite(doc, before)); err != nil {
		return err
	}
	stampRows(doc, caller) // hooks may have added rows
	keepNamingField(doc)
	settleEmpty(doc, before)
	for _, row := range RowsOf(doc) {
		settleEmpty(row, nil)
	}
	if err := s.checkFields(doc, before); err != nil {
		return err
	}
	if err := s.checkTree(ctx, tx, doc, before); err != nil {
		return err
	}
	return s.checkStatusLinks(ctx, tx, doc, before)
}

func beforeWrite(doc, before *Document) []string {
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

func afterUpdate(doc, before *Document) []string {
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
func RowsOf(doc *Document) []*Document {
	var all []*Document
	for _, t := range doc.Type.Tables {
		all = append(all, doc.Rows(t.Name)...)
	}
	return all
}

// settleEmpty decides between null and the empty string, of which a client may
// send either for no text. In a unique field no text is null, which any number of
// documents may have; in one that is not nullable it is the empty string. What the
// document held before stays as it is.
func settleEmpty(doc, before *Document) {
	for _, f := range doc.Type.Columns {
		if !f.Unique && !f.NotNullable || f.Storage != Text || f.Standard {
			continue
		}
		v := doc.values[f.Index]
		switch {
		case before != nil && before.values[f.Index] == v:
		case v == nil && f.NotNullable:
			doc.values[f.Index] = ""
		case v == "" && f.Unique && !f.NotNullable:
			doc.values[f.Index] = nil
		}
	}
}

// checkFields applies the rules of the fields to the document and its rows.
func (s *Service) checkFields(doc, before *Document) error {
	if err := checkMandatory(doc); err != nil {
		return err
	}
	if err := checkValues(doc, before, ""); err != nil {
		return err
	}
	for _, t := range doc.Type.Tables {
		for i, row := range doc.Rows(t.Name) {
			if err := checkMandatory(row); err != nil {
				return err
			}
			if err := checkValues(row, nil, fmt.Sprintf("Row #%d: ", i+1)); err != nil {
				return err
			}
		}
	}
	return checkSubmitted(doc, before)
}

func checkMandatory(doc *Document) error {
	var missing []string
	for _, f := range doc.Type.Fields {
		if !f.Required || f.Storage == NoStorage || f.Storage == Check {
			continue
		}
		if f.Storage == Rows {
			if len(doc.Rows(f.Name)) == 0 {
				missing = append(missing, f.Name)
			}
			continue
		}
		if s, isText := doc.values[f.Index].(string); doc.values[f.Index] == nil || isText && blank(f, s) {
			missing = append(missing, f.Name)
		}
	}
	if len(missing) > 0 {
		return fault.Invalid("MandatoryError", "[%s, %s]: %s", doc.Type.Name, doc.Name(), strings.Join(missing, ", "))
	}
	return nil
}

var markup = regexp.MustCompile(`<[^>]*>`)

// blank reports whether text counts as missing: markup without a word or a
// picture does.
func blank(f *Field, s string) bool {
	if strings.TrimSpace(s) == "" {
		return true
	}
	if f.Type != "Text Editor" && f.Type != "HTML Editor" || strings.Contains(s, "<img") {
		return false
	}
	return strings.TrimSpace(markup.ReplaceAllString(s, "")) == ""
}

// checkValues checks each value that before does not hold already.
func checkValues(doc, before *Document, where string) error {
	for _, f := range doc.Type.Columns {
		v := doc.values[f.Index]
		if f.Standard || before != nil && before.values[f.Index] == v {
			continue
		}
		if before != nil && f.SetOnlyOnce && before.values[f.Index] != zero(f) {
			return fault.Invalid("CannotChangeConstantError", "%sValue cannot be changed for %s", where, f.label())
		}
		if err := checkValue(f, v, where); err != nil {
			return err
		}
	}
	return nil
}

func checkValue(f *Field, v any, where string) error {
	switch v := v.(type) {
	case int64:
		if f.NonNegative && v < 0 {
			return fault.Invalid("NonNegativeError", "%s%s cannot be negative", where, f.label())
		}
	case float64:
		if f.NonNegative && v < 0 {
			return fault.Invalid("NonNegativeError", "%s%s cannot be negative", where, f.label())
		}
	case string:
		// Hooks may have put a value that never went through Coerce.
		if max := f.MaxLength(); max > 0 && len(v) > max && utf8.RuneCountInString(v) > max {
			return fault.Invalid("CharacterLengthExceededError",
				"%s%s: the value is too big, at most %d characters are allowed", where, f.label(), max)
		}
		if v == "" {
			return nil
		}
		if f.Type == "Select" && f.Options != "" && !slices.Contains(f.SelectOptions(), v) {
			return fault.Invalid("", "%s%s cannot be \"%s\". It should be one of \"%s\"",
				where, f.label(), v, strings.Join(f.SelectOptions(), `", "`))
		}
		if f.Type == "Data" {
			return checkFormat(f, v, where)
		}
	}
	return nil
}

var (
	phone      = regexp.MustCompile(`^[0-9 +()./,#*x-]{1,40}$`)
	personName = regexp.MustCompile(`^[\p{L}\p{M}][\p{L}\p{M}\p{Pd}0-9'.,&() ]*$`)
)

// checkFormat checks the forms a Data field may ask for in its options.
func checkFormat(f *Field, v, where string) error {
	switch f.Options {
	case "Email":
		for _, one := range strings.Split(v, ",") {
			if a, err := mail.ParseAddress(strings.TrimSpace(one)); err != nil || !strings.Contains(a.Address, "@") {
				return fault.Invalid("InvalidEmailAddressError", "%s%s is not a valid Email Address", where, v)
			}
		}
	case "Phone":
		if !phone.MatchString(v) {
			return fault.Invalid("InvalidPhoneNumberError", "%s%s is not a valid Phone Number", where, v)
		}
	case "Name":
		if !personName.MatchString(v) {
			return fault.Invalid("InvalidNameError", "%s%s is not a valid Name", where, v)
		}
	case "URL":
		if u, err := url.Parse(v); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return fault.Invalid("", "%s%s is not a valid URL", where, v)
		}
	}
	return nil
}

// checkSubmitted refuses changes to a submitted document in fields that do not
// allow them.
func checkSubmitted(doc, before *Document) error {
	if before == nil || before.Docstatus() != submitted || doc.Docstatus() != submitted {
		return nil
	}
	for _, f := range doc.Type.Fields {
		if f.Standard || f.AllowOnSubmit || f.Storage == NoStorage {
			continue
		}
		same := false
		if f.Storage == Rows {
			same = sameRows(doc.Rows(f.Name), before.Rows(f.Name))
		} else {
			same = doc.values[f.Index] == before.values[f.Index]
		}
		if !same {
			return fault.Invalid("UpdateAfterSubmitError", "Not allowed to change %s after submission", f.label())
		}
	}
	return nil
}
