package hostapi

import "unicode/utf8"

// key names a document.
type key struct {
	DocType string `json:"doctype"`
	Name    string `json:"name"`
	Lock    bool   `json:"lock"` // of doc_get: nobody else changes it until the transaction ends
}

// readKey reads a request that is a key.
func readKey(name string, request []byte) (key, error) {
	if k, ok := plainKey(request); ok {
		return k, nil
	}
	var k key
	err := decode(name, request, &k)
	return k, err
}

func (k key) check(name string) error {
	if err := need(name, "doctype", k.DocType); err != nil {
		return err
	}
	return need(name, "name", k.Name)
}

// plainKey reads a key as nearly every guest writes it: two members, no spaces and
// no escapes. It takes a tenth of what decode takes, which for a small document is
// noticed. Whatever else a request may be is left to decode.
func plainKey(request []byte) (k key, ok bool) {
	rest, ok := cutPrefix(request, `{`)
	if !ok {
		return k, false
	}
	for i := range 2 {
		if i > 0 {
			if rest, ok = cutPrefix(rest, `,`); !ok {
				return k, false
			}
		}
		into := &k.DocType
		after, ok := cutPrefix(rest, `"doctype":"`)
		if !ok {
			if after, ok = cutPrefix(rest, `"name":"`); !ok {
				return k, false
			}
			into = &k.Name
		}
		if *into, rest, ok = plainText(after); !ok {
			return k, false
		}
	}
	return k, string(rest) == "}"
}

// plainText is the text up to a quote, and what follows that.
func plainText(b []byte) (text string, rest []byte, ok bool) {
	for i, c := range b {
		switch {
		case c == '"':
			return string(b[:i]), b[i+1:], utf8.Valid(b[:i])
		case c < ' ' || c == '\\':
			return "", nil, false
		}
	}
	return "", nil, false
}

// cutPrefix is bytes.CutPrefix of a text.
func cutPrefix(b []byte, prefix string) (rest []byte, ok bool) {
	if len(b) < len(prefix) || string(b[:len(prefix)]) != prefix {
		return nil, false
	}
	return b[len(prefix):], true
}
