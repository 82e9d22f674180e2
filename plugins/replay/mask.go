package replay

import (
	"bytes"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// secretNames are parts of the names under which secrets are found, in lower
// case and without what separates words.
var secretNames = []string{
	"password", "passwd", "passphrase", "pwd", "secret", "token", "apikey", "authorization", "cookie",
	"credential", "privatekey", "accesskey", "sessionid",
}

// secretKeys are names that are secret as a whole.
var secretKeys = []string{"sid", "pin", "otp", "cvc", "cvv", "auth"}

// credential is one as it stands in a header.
var credential = regexp.MustCompile(`(?i)\b(?:bearer|basic|token)\s+([A-Za-z0-9._~+/:=-]{8,})`)

// separators are what stands between the words of a name.
var separators = strings.NewReplacer("_", "", "-", "", " ", "", ".", "")

// Mask puts stars in place of the secrets in the record: what stands under a name
// such as password or Authorization, or under one of fields, in its input, in
// what the guest asked and was told and in its outcome, and the same values
// wherever else they occur. The stars are as many as the characters, and the same
// in all places, so that a call that only passes a secret on is repeated as it
// was; one that computes with it ends otherwise.
func (c *Call) Mask(fields []string) {
	s := NewSecrets(fields)
	s.Learn([]byte(c.Input))
	s.Learn([]byte(c.Outcome.Output))
	s.Learn([]byte(c.Outcome.Message))
	if c.Tape != nil {
		for _, a := range c.Tape.Answers {
			s.Learn(a.Request)
			s.Learn(a.Answer)
		}
	}
	if len(s.values) == 0 {
		return
	}
	c.Masked = true
	c.Input, c.Outcome.Output, c.Outcome.Message = s.Hide(c.Input), s.Hide(c.Outcome.Output), s.Hide(c.Outcome.Message)
	for i, line := range c.Outcome.Trace {
		c.Outcome.Trace[i] = s.Hide(line)
	}
	if c.Tape == nil {
		return
	}
	for i := range c.Tape.Answers {
		a := &c.Tape.Answers[i]
		a.Request, a.Answer = s.hide(a.Request), s.hide(a.Answer)
		if a.Error != nil {
			a.Error.Message = s.Hide(a.Error.Message)
		}
	}
}

// Secrets are values that must not be shown.
type Secrets struct {
	fields map[string]bool
	values map[string]bool
}

// NewSecrets knows none yet. fields are names under which secrets stand, beyond
// those that say so.
func NewSecrets(fields []string) *Secrets {
	s := &Secrets{fields: map[string]bool{}, values: map[string]bool{}}
	for _, f := range fields {
		s.fields[f] = true
	}
	return s
}

// Learn looks for secrets in a text: JSON, a form, or any other.
func (s *Secrets) Learn(text []byte) {
	for _, m := range credential.FindAllSubmatch(text, -1) {
		if word := string(m[1]); len(word) >= 20 || strings.ContainsAny(word, "0123456789") {
			s.add(word)
		}
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err == nil {
		s.walk(v, false)
		return
	}
	if len(text) > 1<<20 || !bytes.Contains(text, []byte("=")) || bytes.ContainsAny(text, " \n{<") {
		return
	}
	form, err := url.ParseQuery(string(text))
	if err != nil {
		return
	}
	for name, values := range form {
		for _, value := range values {
			s.walk(value, s.named(name))
		}
	}
}

func (s *Secrets) walk(v any, secret bool) {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			s.walk(inner, secret || s.named(name))
		}
		if name, ok := v["fieldname"].(string); ok && s.named(name) {
			s.walk(v["value"], true)
		}
	case []any:
		for _, inner := range v {
			s.walk(inner, secret)
		}
	case json.Number:
		if secret {
			s.add(v.String())
		}
	case string:
		if secret {
			s.add(v)
			return
		}
		if strings.ContainsAny(v, "{[=") || credential.MatchString(v) {
			s.Learn([]byte(v)) // such as the body of a request
		}
	}
}

// named reports whether what stands under a name is secret.
func (s *Secrets) named(name string) bool {
	if s.fields[name] || slices.Contains(secretKeys, strings.ToLower(name)) {
		return true
	}
	name = separators.Replace(strings.ToLower(name))
	return slices.ContainsFunc(secretNames, func(part string) bool { return strings.Contains(name, part) })
}

func (s *Secrets) add(value string) {
	if strings.Trim(value, "*") == "" {
		return // nothing, or stars already
	}
	s.values[value] = true
	// "token KEY:SECRET": each of its parts is one, too.
	if _, rest, ok := strings.Cut(value, " "); ok && credential.MatchString(value) {
		s.add(rest)
	}
	if key, secret, ok := strings.Cut(value, ":"); ok && len(key) >= short && len(secret) >= short && !strings.ContainsAny(value, "/ ") {
		s.add(key)
		s.add(secret)
	}
}

// short values are hidden only where they are all of a JSON string or number: they
// would be found in every text.
const short = 5

// Hide returns the text with stars in place of the secrets.
func (s *Secrets) Hide(text string) string { return string(s.hide([]byte(text))) }

func (s *Secrets) hide(text []byte) []byte {
	all := make([]string, 0, len(s.values))
	for v := range s.values {
		all = append(all, v)
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) }) // a part of another comes after it
	for _, v := range all {
		for _, form := range forms(v) {
			stars := strings.Repeat("*", len(form))
			if strings.Trim(form, "0123456789") == "" {
				stars = strings.Repeat("9", len(form)) // it may be a number
			}
			if len(form) < short {
				text = bytes.ReplaceAll(text, []byte(`"`+form+`"`), []byte(`"`+stars+`"`))
				continue
			}
			text = bytes.ReplaceAll(text, []byte(form), []byte(stars))
		}
	}
	return text
}

// forms are how a value stands in a text: as it is, within JSON, once and twice,
// and in a form.
func forms(v string) []string {
	all := []string{v}
	inner := v
	for range 2 {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if enc.Encode(inner) != nil {
			break
		}
		quoted := strings.TrimSuffix(b.String(), "\n")
		inner = quoted[1 : len(quoted)-1]
		all = append(all, inner)
	}
	all = append(all, url.QueryEscape(v), url.PathEscape(v))
	slices.Sort(all)
	return slices.Compact(all)
}
