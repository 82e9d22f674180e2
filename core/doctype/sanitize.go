package doctype

import (
	"regexp"
	"sync"

	"github.com/microcosm-cc/bluemonday"
)

// tag finds what a browser could take for markup; "a < b" is none.
var tag = regexp.MustCompile(`<[A-Za-z!/?]`)

// policy lets through what a rich text editor makes and nothing that runs:
// no scripts, no event attributes, no javascript: addresses.
var policy = sync.OnceValue(func() *bluemonday.Policy {
	p := bluemonday.UGCPolicy()
	p.AllowDataURIImages()
	p.AllowAttrs("class").Globally()
	p.AllowStyles(styles...).Globally()
	p.AllowAttrs("data-value", "data-id", "data-list", "data-row").Globally()
	return p
})

// Sanitize makes markup in a text field safe to show, in time linear in its
// length. Fields that hold code, or that say so (ignore_xss_filter), are left as
// they are; so are those of e-mail addresses, whose angle brackets are no markup
// and which are checked.
func (f *Field) Sanitize(s string) string {
	if f.IgnoreXSSFilter || f.Kind != Text || !tag.MatchString(s) {
		return s
	}
	if verbatim := f.typ().verbatim; verbatim != nil && verbatim(f) {
		return s
	}
	return policy().Sanitize(plainStyles(s))
}
