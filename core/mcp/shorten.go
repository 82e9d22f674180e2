package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"armature/core/account"
)

// How long a text is shown, in bytes, and from which length of an answer on anything is
// cut: an agent pays for each word that it reads.
const (
	listText  = 300
	readText  = 4000
	roomy     = 8 << 10
	maxAnswer = 256 << 10
	maxLinks  = 20
)

// shorten cuts the long texts of an answer. Where an object with a name has one, a link
// leads to it: uri is that of the document of a path, whose first part is the name of
// the object, empty where there is none.
func shorten(ctx context.Context, raw []byte, most int, uri func(path ...string) string) (*result, error) {
	if err := admit(ctx, len(raw)); err != nil {
		return nil, err
	}
	res := &result{raw: raw}
	if len(raw) <= roomy && !hasLong(raw, most) {
		return res, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v map[string]any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("shorten an answer: %w", err)
	}
	cutter := &cutter{most: most, uri: uri, res: res}
	cutter.object(v)
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	if res.raw = bytes.TrimSpace(text.Bytes()); len(res.raw) > maxAnswer {
		raw, err := json.Marshal(map[string]any{"cut": true, "text": cutAt(string(res.raw), maxAnswer/4), "next": "Ask for less: fewer rows, or fewer fields."})
		return &result{raw: raw, links: res.links}, err
	}
	return res, nil
}

// answerFactor is how many times its length an answer takes while it is decoded to be cut,
// and becomes a message that holds it as text and as JSON; freeAnswer is how long it may be,
// in bytes, that a request has paid for.
const (
	answerFactor = 10
	freeAnswer   = 4 << 10
)

// admit charges an answer of so many bytes to the account of memory, before it is made
// one. Errors: Unavailable, TooLarge.
func admit(ctx context.Context, size int) error {
	if size <= freeAnswer {
		return nil
	}
	return account.From(ctx).Reach(ctx, account.Answer, answerFactor*int64(size))
}

// hasLong reports whether a short answer may hold a long text.
func hasLong(raw []byte, most int) bool { return len(raw) > most }

type cutter struct {
	most int
	uri  func(path ...string) string
	res  *result
}

func (k *cutter) object(v map[string]any) {
	name, _ := v["name"].(string)
	for key, value := range v {
		switch value := value.(type) {
		case string:
			if len(value) > k.most {
				v[key] = fmt.Sprintf("%s… (%d of %d bytes)", cutAt(value, k.most), k.most, len(value))
				k.link(name, key)
			}
		case map[string]any:
			k.object(value)
		case []any:
			k.array(value)
		}
	}
}

func (k *cutter) array(v []any) {
	for i, value := range v {
		switch value := value.(type) {
		case string:
			if len(value) > k.most {
				v[i] = fmt.Sprintf("%s… (%d of %d bytes)", cutAt(value, k.most), k.most, len(value))
			}
		case map[string]any:
			k.object(value)
		case []any:
			k.array(value)
		}
	}
}

// link says where what was cut is whole.
func (k *cutter) link(name, key string) {
	if name == "" || len(k.res.links) >= maxLinks {
		return
	}
	if uri := k.uri(name); uri != "" {
		for _, l := range k.res.links {
			if l.uri == uri {
				return
			}
		}
		k.res.links = append(k.res.links, link{uri, name})
	}
}

// cutAt cuts text to at most n bytes, between two letters.
func cutAt(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
