package oauth

import (
	"context"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"armature/core/auth"
	"armature/core/doctype"
	"armature/core/document"
)

// shown is what a client is called on a page. One that nobody here has checked is
// called what it likes to be, unless that could be taken for the site, for a client
// that an administrator has made, or for nothing that can be read: then it is
// called by where its answers go. It is asked when a page is shown, because the
// other client may be the younger one.
func (s *Service) shown(ctx context.Context, c *client) (string, error) {
	if !c.itself {
		return c.name, nil
	}
	names, err := s.takenNames(ctx)
	if err != nil {
		return "", err
	}
	if !readable(c.name) || resembles(c.name, append(names, s.c.Name())) {
		if c.host != "" {
			return c.host, nil
		}
		return *nameless(c.redirects[0]), nil
	}
	return c.name, nil
}

// takenNames are the names of the clients that administrators have made.
func (s *Service) takenNames(ctx context.Context) ([]string, error) {
	v, err := s.c.Auth.Remember(ctx, "oauth client names", func(ctx context.Context) (any, error) {
		dt, err := s.c.Catalog.Schema().Platform(clientName)
		if err != nil {
			return nil, err
		}
		sel := &doctype.Select{DocType: dt}
		for _, name := range []string{"app_name", "registered", "skip_authorization"} {
			sel.Columns = append(sel.Columns, doctype.Column{Operand: doctype.Operand{Field: dt.Field(name)}, Key: name})
		}
		var names []string
		err = s.c.Store.Read(ctx, func(tx document.Tx) error {
			names = nil
			return tx.Rows(ctx, sel, func(v []any) error {
				name, _ := v[0].(string)
				if isFalse(v[1]) || !isFalse(v[2]) {
					names = append(names, name)
				}
				return nil
			})
		})
		return names, err
	})
	if err != nil {
		return nil, err
	}
	return append([]string(nil), v.([]string)...), nil
}

// isFalse reports whether the value of a Check is not ticked.
func isFalse(v any) bool {
	switch v := v.(type) {
	case int64:
		return v == 0
	case bool:
		return !v
	}
	return v == nil
}

// words are the parts of a name between what is neither letter nor digit.
func words(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return !unicode.In(r, unicode.L, unicode.N, unicode.M) })
}

// readable reports whether a name has letters, and none that are there to be taken
// for others: of several scripts in a word, or of one that all look Latin.
func readable(name string) bool {
	all := words(strings.ToLower(norm.NFKC.String(name)))
	for _, word := range all {
		if auth.Ambiguous(word) != "" {
			return false
		}
	}
	return len(all) > 0
}

// shortest of a name that another one is not to contain: who has a client "App"
// does not own the word.
const shortestName = 4

// resembles reports whether a name is one of others to a reader who is in a hurry,
// or has one of them in it.
func resembles(name string, others []string) bool {
	look := likeness(name)
	for _, other := range others {
		like := likeness(other)
		if like == look && like != "" || len([]rune(like)) >= shortestName && strings.Contains(look, like) {
			return true
		}
	}
	return false
}

// likeness is what is left of a name when case, accents and all between the letters
// are gone and letters that look alike are one.
func likeness(name string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(name) {
		if unicode.Is(unicode.M, r) {
			continue
		}
		// A capital I is an l before it is an i: fonts differ less in these two.
		for _, l := range strings.ToLower(string(r)) {
			if like, ok := alike[l]; ok {
				l = like
			}
			if unicode.IsLetter(l) || unicode.IsDigit(l) {
				b.WriteRune(l)
			}
		}
	}
	return pairsAlike.Replace(b.String())
}

// pairsAlike are two letters that look like one.
var pairsAlike = strings.NewReplacer("rn", "m", "vv", "w")

// alike maps what looks like a letter of ASCII, in lower case, to the one that
// stands for all of them.
var alike = func() map[rune]rune {
	table := map[rune]rune{}
	for letter, others := range map[rune]string{
		'a': "аα@ɑ", 'b': "ьβ", 'c': "сϲ", 'd': "ԁɗ", 'e': "еεҽ", 'f': "ƒ", 'g': "ɡ", 'h': "һհ", 'j': "јϳ", 'k': "кκ",
		'l': "i1|!ӏіıιǀǃɩ", 'm': "мṃ", 'n': "ոռπ", 'o': "0оοօσ", 'p': "рρ", 'q': "ԛզ", 'r': "гᴦ", 's': "5$ѕꜱ", 't': "тτ",
		'u': "υսᴜ", 'v': "νѵ", 'w': "ԝωш", 'x': "хχ", 'y': "уүγʏ", 'z': "ᴢ2", '3': "зȝ",
	} {
		for _, other := range others {
			table[other] = letter
		}
	}
	return table
}()
