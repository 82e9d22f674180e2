package doctype

import "strings"

// NamingField is the field whose value names documents of the DocType; empty
// when another rule does.
func (dt *DocType) NamingField() string {
	field, _ := strings.CutPrefix(dt.Autoname, "field:")
	if field == dt.Autoname {
		return ""
	}
	return field
}

// Numbered reports whether the rule gives documents numbers for names.
func Numbered(rule string) bool { return rule == "autoincrement" }

// Counts reports whether naming a new document of the DocType takes a counter.
func (dt *DocType) Counts() bool {
	rule := dt.Autoname
	return len(dt.Naming) > 0 || Numbered(rule) || strings.HasPrefix(rule, "naming_series:") || strings.Contains(rule, "#") ||
		(strings.Contains(rule, ".") && !strings.Contains(rule, ":"))
}
