package httpapi

import (
	"strings"
	"unicode/utf8"

	"armature/core/fault"
)

// pair is one argument of a query string or form.
type pair struct{ key, value string }

// clean reports whether a pair is text that any database keeps.
func (p pair) clean() bool { return cleanText(p.key) && cleanText(p.value) }

func cleanText(s string) bool {
	return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0
}

func notText() error { return fault.Invalid("DataError", "The arguments must be valid UTF-8 text") }

// appendPairs parses a query string or form. The first of several values counts.
func appendPairs(pairs []pair, query string) ([]pair, error) {
	for query != "" {
		var field string
		field, query, _ = strings.Cut(query, "&")
		if field == "" {
			continue
		}
		if len(pairs) == maxArguments {
			return nil, fault.Invalid("DataError", "The request has too many arguments")
		}
		key, value, _ := strings.Cut(field, "=")
		p := pair{unescape(key), unescape(value)}
		if !p.clean() {
			return nil, notText()
		}
		if pairs == nil {
			pairs = make([]pair, 0, 1+strings.Count(query, "&")%16+1)
		}
		pairs = append(pairs, p)
	}
	return pairs, nil
}

// unescape undoes %XX and plus signs. A percent sign that begins no escape
// stays as it is: clients write like-patterns such as "J%" without escaping.
func unescape(s string) string {
	if !strings.ContainsAny(s, "%+") {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '+':
			out = append(out, ' ')
		case s[i] == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
			out = append(out, unhex(s[i+1])<<4|unhex(s[i+2]))
			i += 2
		default:
			out = append(out, s[i])
		}
	}
	return string(out)
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func unhex(c byte) byte {
	switch {
	case c >= 'a':
		return c - 'a' + 10
	case c >= 'A':
		return c - 'A' + 10
	}
	return c - '0'
}

// withoutSecrets is a query string without the arguments that are credentials.
func withoutSecrets(query string) string {
	if !strings.Contains(query, "sid") && !strings.Contains(query, "token") && !strings.Contains(query, "%") {
		return query
	}
	var kept []string
	for field := range strings.SplitSeq(query, "&") {
		key, _, _ := strings.Cut(field, "=")
		switch unescape(key) {
		case "sid", "csrf_token", "access_token":
		default:
			kept = append(kept, field)
		}
	}
	return strings.Join(kept, "&")
}
