package doctype

import (
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"armature/core/fault"
)

var (
	phone      = regexp.MustCompile(`^[0-9 +()./,#*x-]{1,40}$`)
	inBrackets = regexp.MustCompile(`<[^<>\s/"]+@[^<>\s/"]+>`)
	personName = regexp.MustCompile(`^[\p{L}\p{M}][\p{L}\p{M}\p{Pd}0-9'.,&() ]*$`)
)

// Check applies the rules of the field to a canonical value. where stands before
// the label in what a refusal says: "Row #1: " or nothing.
func (f *Field) Check(v any, where string) error {
	switch v := v.(type) {
	case int64:
		if f.NonNegative && v < 0 {
			return fault.Invalid("NonNegativeError", "%s%s cannot be negative", where, f.Title())
		}
	case float64:
		if f.NonNegative && v < 0 {
			return fault.Invalid("NonNegativeError", "%s%s cannot be negative", where, f.Title())
		}
	case string:
		// Hooks may have put a value that never went through Coerce.
		if most := f.MaxLength(); most > 0 && len(v) > most && utf8.RuneCountInString(v) > most {
			return fault.Invalid("CharacterLengthExceededError",
				"%s%s: the value is too big, at most %d characters are allowed", where, f.Title(), most)
		}
		if v == "" {
			return nil
		}
		if check := f.typ().check; check != nil {
			return check(f, v, where)
		}
	}
	return nil
}

// checkChoice checks that a value is one of the field's choices.
func checkChoice(f *Field, v, where string) error {
	if f.Options == "" || slices.Contains(f.SelectOptions(), v) {
		return nil
	}
	return fault.Invalid("", "%s%s cannot be \"%s\". It should be one of \"%s\"",
		where, f.Title(), v, strings.Join(f.SelectOptions(), `", "`))
}

// sayChoices and sayTarget are what JSON Schema says of a choice and of a link.
func sayChoices(f *Field, schema map[string]any) {
	if f.Options != "" {
		schema["enum"] = f.SelectOptions()
	}
}

func sayTarget(f *Field, schema map[string]any) { schema["description"] = "Name of a " + f.Options }

// checkFormat checks the forms a Data field may ask for in its options.
func checkFormat(f *Field, v, where string) error {
	switch f.Options {
	case "Email":
		// Addresses with commas between them, each with a name or without; no groups,
		// and nothing else in angle brackets: the text is not sanitised.
		rest := inBrackets.ReplaceAllString(v, "")
		if _, err := mail.ParseAddressList(v); err != nil || strings.ContainsAny(rest, "<>;") {
			return fault.Invalid("InvalidEmailAddressError", "%s%s is not a valid Email Address", where, v)
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

// Blank reports whether text counts as missing: markup without a word or a
// picture does.
func (f *Field) Blank(s string) bool {
	if strings.TrimSpace(s) == "" {
		return true
	}
	if !f.typ().markup || strings.Contains(s, "<img") {
		return false
	}
	return strings.TrimSpace(markup.ReplaceAllString(s, "")) == ""
}

var markup = regexp.MustCompile(`<[^>]*>`)
