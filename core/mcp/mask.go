package mcp

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"armature/core/doctype"
)

// Bounds of what is kept of arguments.
const (
	maskedText = 200      // bytes of a text
	maskedRows = 20       // members of a list
	maskedDeep = 8        // objects in objects
	maxDetails = 12 << 10 // bytes of all of it
)

// hidden stands for what is not kept.
const hidden = "***"

// maskedJSON are arguments as they may be kept and shown: without secrets, and with
// long texts cut. Secrets are what Password fields of any DocType are to hold, and what
// goes by a name that secrets have.
func (s *Service) maskedJSON(text []byte) any {
	v, ok := decoded(text)
	if !ok {
		return "(not JSON)"
	}
	m := mask{schema: s.c.Documents.Schema()}
	return m.value(v, 0)
}

func decoded(text []byte) (v any, ok bool) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, true
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return v, d.Decode(&v) == nil && !d.More()
}

// mask takes secrets out of values.
type mask struct {
	schema    *doctype.Schema
	passwords map[string]bool // names of Password fields of any DocType
}

// secret reports whether a secret goes by a name.
func (m *mask) secret(name string) bool {
	plain := strings.ToLower(strings.Map(func(c rune) rune {
		if c == '_' || c == '-' || c == ' ' || c == '.' {
			return -1
		}
		return c
	}, name))
	for _, part := range []string{"password", "passwd", "passphrase", "secret", "token", "apikey", "authorization", "credential", "privatekey", "cookie", "signature"} {
		if strings.Contains(plain, part) {
			return true
		}
	}
	if slices.Contains([]string{"pwd", "pin", "otp", "code", "auth", "key", "recoverycode", "usercode"}, plain) {
		return true
	}
	if m.passwords == nil {
		m.passwords = map[string]bool{}
		for dt := range m.schema.All {
			for _, f := range dt.Fields {
				if f.IsPassword() {
					m.passwords[f.Name] = true
				}
			}
		}
	}
	return m.passwords[name]
}

func (m *mask) value(v any, deep int) any {
	if deep > maskedDeep {
		return "..."
	}
	switch v := v.(type) {
	case map[string]any:
		return m.object(v, deep)
	case []any:
		return m.list(v, deep)
	case string:
		return m.text(v, deep)
	}
	return v
}

func (m *mask) object(of map[string]any, deep int) any {
	shown := make(map[string]any, len(of))
	// {"fieldname": "new_password", "value": "..."} names the secret beside it.
	named := false
	for _, v := range of {
		if text, ok := v.(string); ok && len(text) <= maskedText && m.secret(text) {
			named = true
		}
	}
	for name, v := range of {
		_, text := v.(string)
		switch {
		case v == nil, v == "":
			shown[cutAt(name, maskedText)] = v
		case m.secret(name), named && text && (name == "value" || name == "val"):
			shown[cutAt(name, maskedText)] = hidden
		default:
			shown[cutAt(name, maskedText)] = m.value(v, deep+1)
		}
	}
	return shown
}

// list is a list; in one such as a condition of a filter, what follows the name of a
// secret is one.
func (m *mask) list(of []any, deep int) any {
	shown := make([]any, 0, min(len(of), maskedRows+1))
	named := false
	for i, v := range of {
		if i == maskedRows {
			return append(shown, "...")
		}
		text, isText := v.(string)
		_, isObject := v.(map[string]any)
		switch {
		case named && !isObject:
			shown = append(shown, hidden)
		default:
			shown = append(shown, m.value(v, deep+1))
		}
		if isText && len(text) <= maskedText && m.secret(text) {
			named = true
		}
	}
	return shown
}

// text is a text, cut, or what is in it where it is JSON, as methods take documents.
func (m *mask) text(text string, deep int) any {
	if trimmed := strings.TrimSpace(text); strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[") {
		if v, ok := decoded([]byte(trimmed)); ok {
			return m.value(v, deep+1)
		}
	}
	if len(text) > maskedText {
		return cutAt(text, maskedText) + "..."
	}
	return text
}
