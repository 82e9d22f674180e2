package site

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agnivade/levenshtein"
)

// Setting is a key of a site's configuration: what a person may set, and what it
// means. Settings is the one list of them.
type Setting struct {
	Key     string
	Kind    Kind
	Default string // in JSON, or in words where it depends on something; empty: nothing
	Meaning string // a sentence, for people
	Since   int    // the first format of sites in which it counts

	read func(*Config, json.RawMessage) error // takes the value over into a Config; nil: whoever uses the key reads it
}

// Kind is what values a setting has.
type Kind uint8

// The kinds of values.
const (
	Text     Kind = iota
	Switch        // true or false; 1 and 0 do as well
	Count         // a whole number above 0
	Lifetime      // hours and minutes, or hours, minutes and seconds, with a colon between
	Names         // a list of texts; one text is a list of one
	Object        // an object of its own
)

// String says what a value is, for people.
func (k Kind) String() string {
	return [...]string{"text", "true or false", "a whole number above 0", `a time such as "170:00"`, "a list of texts", "an object"}[k]
}

// check refuses a value of another kind. It is asked when somebody sets the key:
// what stands in a file already is read as leniently as it always was.
func (k Kind) check(value json.RawMessage) error {
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		return err
	}
	ok := false
	switch k {
	case Text:
		_, ok = v.(string)
	case Switch:
		_, isBool := v.(bool)
		ok = isBool || v == float64(0) || v == float64(1)
	case Count:
		n, isNumber := v.(float64)
		ok = isNumber && n > 0 && n == float64(int64(n)) && n < 1<<53
	case Lifetime:
		text, _ := v.(string)
		_, ok = ParseLifetime(text)
	case Names:
		ok = isNames(v)
	case Object:
		_, ok = v.(map[string]any)
	}
	if !ok {
		return fmt.Errorf("must be %s", k)
	}
	return nil
}

func isNames(v any) bool {
	if _, ok := v.(string); ok {
		return true
	}
	list, ok := v.([]any)
	return ok && !slices.ContainsFunc(list, func(one any) bool { _, ok := one.(string); return !ok })
}

// ParseLifetime reads HH:MM and HH:MM:SS, with as many hours as one likes; ok is
// false for anything else, and for no time at all.
func ParseLifetime(text string) (d time.Duration, ok bool) {
	parts := strings.Split(text, ":")
	if len(parts) != 2 && len(parts) != 3 {
		return 0, false
	}
	for i, unit := range []time.Duration{time.Hour, time.Minute, time.Second}[:len(parts)] {
		n, err := strconv.Atoi(parts[i])
		if err != nil || n < 0 || n > 1_000_000 {
			return 0, false
		}
		d += time.Duration(n) * unit
	}
	return d, d > 0
}

// Settings are all there are, sorted by key. The caller must not change the list.
func Settings() []Setting { return settings }

// FindSetting is the one of a key; nil where there is none.
func FindSetting(key string) *Setting {
	i, ok := slices.BinarySearchFunc(settings, key, func(s Setting, key string) int { return strings.Compare(s.Key, key) })
	if !ok {
		return nil
	}
	return &settings[i]
}

// checkSetting refuses a key that is no setting and a value it cannot have.
func checkSetting(key string, value json.RawMessage) error {
	s := FindSetting(key)
	if s == nil {
		return unknown(key)
	}
	if s.read != nil { // says more of what is wrong
		return nil
	}
	if err := s.Kind.check(value); err != nil {
		return fmt.Errorf("site configuration: %s %w", key, err)
	}
	return nil
}

// unknown is the error for a key that is no setting. It names the one that was
// probably meant.
func unknown(key string) error {
	best, distance := "", 1+len(key)/3
	for _, s := range settings {
		if d := levenshtein.ComputeDistance(strings.ToLower(key), s.Key); d < distance {
			best, distance = s.Key, d
		}
	}
	if best != "" {
		return fmt.Errorf("site configuration: %s is no setting; did you mean %s?", key, best)
	}
	return fmt.Errorf("site configuration: %s is no setting; `armature site settings` lists them", key)
}
