package transcript

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// anything is what three dots outside a string become before the text is read as
// JSON: no JSON of a server holds it.
const anything = "\ufdd0..."

// Match compares what a command printed with what the README says. The error
// names the place of the first difference.
func Match(got, want string) error {
	got, want = strings.TrimSpace(got), strings.TrimSpace(want)
	for isJSON(want) {
		pattern, restWant, err := decode(dots(want))
		if err != nil {
			return fmt.Errorf("the README's answer is not JSON: %w", err)
		}
		value, restGot, err := decode(got)
		if err != nil {
			return fmt.Errorf("the answer is not JSON: %w", err)
		}
		if err := same("", value, pattern); err != nil {
			return err
		}
		got, want = restGot, undot(restWant)
	}
	return sameText("the text", got, want)
}

func isJSON(s string) bool { return strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[") }

// decode reads one JSON value and returns what comes after it.
func decode(text string) (value any, rest string, err error) {
	dec := json.NewDecoder(strings.NewReader(text))
	if err := dec.Decode(&value); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("there is none")
		}
		return nil, "", err
	}
	return value, strings.TrimSpace(text[dec.InputOffset():]), nil
}

// dots makes JSON of JSON with three dots in it. What follows the value is
// left to undot.
func dots(text string) string {
	var b strings.Builder
	var inside []byte // brackets that are open
	quoted, key := false, false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quoted && c == '\\' && i+1 < len(text):
			b.WriteByte(c)
			i++
			c = text[i]
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			inside = append(inside, c)
			key = c == '{'
		case (c == '}' || c == ']') && len(inside) > 0:
			inside, key = inside[:len(inside)-1], false
		case c == ':':
			key = false
		case c == ',' && len(inside) > 0:
			key = inside[len(inside)-1] == '{'
		case strings.HasPrefix(text[i:], "..."):
			b.WriteString(`"` + anything + `"`)
			if key {
				b.WriteString(`:0`)
			}
			i += 2
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

func undot(text string) string { return strings.ReplaceAll(text, `"`+anything+`"`, "...") }

func same(path string, got, want any) error {
	switch want := want.(type) {
	case map[string]any:
		return sameObject(path, got, want)
	case []any:
		return sameArray(path, got, want)
	case string:
		if want == anything {
			return nil
		}
		text, ok := got.(string)
		if !ok {
			return differs(path, got, want)
		}
		return sameText(place(path), text, want)
	}
	if got != want {
		return differs(path, got, want)
	}
	return nil
}

func sameObject(path string, got any, want map[string]any) error {
	object, ok := got.(map[string]any)
	if !ok {
		return differs(path, got, want)
	}
	_, more := want[anything]
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if name == anything {
			continue
		}
		value, there := object[name]
		if !there {
			return fmt.Errorf("%s is missing", place(path+"."+name))
		}
		if err := same(path+"."+name, value, want[name]); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if _, wanted := want[name]; !wanted && !more {
			return fmt.Errorf("%s is not in the README", place(path+"."+name))
		}
	}
	return nil
}

// sameArray compares element by element; dots at the end stand for any more of
// them, dots elsewhere for one.
func sameArray(path string, got any, want []any) error {
	array, ok := got.([]any)
	if !ok {
		return differs(path, got, want)
	}
	if n := len(want); n > 0 && want[n-1] == anything {
		want = want[:n-1]
		array = array[:min(len(array), len(want))]
	}
	if len(array) != len(want) {
		return fmt.Errorf("%s has %d elements, in the README %d", place(path), len(array), len(want))
	}
	for i := range want {
		if err := same(fmt.Sprintf("%s[%d]", path, i), array[i], want[i]); err != nil {
			return err
		}
	}
	return nil
}

func sameText(where, got, want string) error {
	lines := strings.Split(want, "\n")
	for i, line := range lines {
		if lines[i] = strings.ReplaceAll(regexp.QuoteMeta(line), `\.\.\.`, `.*`); line == "..." && len(lines) > 1 {
			lines[i] = `(?s:.*)`
		}
	}
	pattern := strings.Join(lines, "\n")
	if !regexp.MustCompile("^" + pattern + "$").MatchString(got) {
		return fmt.Errorf("%s is %q, in the README %q", where, got, want)
	}
	return nil
}

func differs(path string, got, want any) error {
	g, _ := json.Marshal(got)
	w, _ := json.Marshal(want)
	return fmt.Errorf("%s is %s, in the README %s", place(path), g, undot(string(w)))
}

func place(path string) string {
	if path == "" {
		return "the answer"
	}
	return strings.TrimPrefix(path, ".")
}
