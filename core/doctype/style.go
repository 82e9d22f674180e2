package doctype

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// styles are the properties that a rich text editor sets and that change
// nothing but how a text looks.
var styles = []string{
	"color", "background-color", "text-align", "font-weight", "font-style", "text-decoration", "width", "height",
}

// Bounds of one declaration. What people and editors write is a tenth of it.
const maxStyleValue = 100

// styleValue is a value that needs no parser of CSS: words, numbers, colours.
var styleValue = regexp.MustCompile(`^(?i)(?:(?:rgb|hsl)a?\([0-9., %/a-z]*\)|[#a-z0-9.,% -])+$`)

var styleAttribute = regexp.MustCompile(`(?i)style`)

// plainStyles keeps of the style attributes in markup the declarations that a
// policy may let through. The policy's parser of CSS takes a time that grows
// with the square of a value's length and with the cube of some (25 KB of
// "url(": ten seconds), so what reaches it is short. Everything but these
// attributes stays as it was written.
func plainStyles(s string) string {
	if !styleAttribute.MatchString(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	z := html.NewTokenizer(strings.NewReader(s))
	for {
		kind := z.Next()
		raw := z.Raw()
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken || !styleAttribute.Match(raw) {
			b.Write(raw)
			if kind == html.ErrorToken {
				return b.String()
			}
			continue
		}
		token := z.Token()
		token.Attr = slices.DeleteFunc(token.Attr, func(a html.Attribute) bool { return a.Key == "style" && plainStyle(a.Val) == "" })
		for i := range token.Attr {
			if a := &token.Attr[i]; a.Key == "style" {
				a.Val = plainStyle(a.Val)
			}
		}
		b.WriteString(token.String())
	}
}

// plainStyle keeps the declarations of one attribute that name a known property
// once and have a plain value.
func plainStyle(s string) string {
	var kept []string
	var seen [16]bool
	for declaration := range strings.SplitSeq(s, ";") {
		property, value, ok := strings.Cut(declaration, ":")
		if !ok || len(declaration) > 2*maxStyleValue {
			continue
		}
		property = strings.ToLower(strings.TrimSpace(property))
		value = strings.TrimSpace(value)
		if bare := strings.TrimSuffix(strings.ToLower(value), "important"); len(bare) < len(value) {
			value = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value[:len(bare)]), "!"))
		}
		i := slices.Index(styles, property)
		if i < 0 || seen[i] || len(value) > maxStyleValue || !styleValue.MatchString(value) {
			continue
		}
		seen[i] = true
		kept = append(kept, property+": "+value)
	}
	return strings.Join(kept, "; ")
}
