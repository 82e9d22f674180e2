package ratelimit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"armature/core/fault"
)

// value is one value of a configuration, with the name under which an error
// speaks of it ("rate_limit.window"). The zero value is one that is not there.
type value struct {
	name string
	text json.RawMessage
}

func (v value) null() bool { return len(v.text) == 0 || string(bytes.TrimSpace(v.text)) == "null" }

func (v value) wrong(format string, args ...any) error {
	return fault.Invalid("", "%s: %s", v.name, fmt.Sprintf(format, args...))
}

// parent is the name of the object the value is in.
func (v value) parent() string {
	parent, _, _ := strings.Cut(v.name, "[")
	return parent
}

// object reads an object that has the keys and no other; a key with a question
// mark may be left out. A null counts as left out.
func (v value) object(keys ...string) (map[string]value, error) {
	known := make([]string, len(keys))
	for i, key := range keys {
		known[i] = strings.TrimSuffix(key, "?")
	}
	all, err := v.members()
	if err != nil {
		return nil, v.wrong("must be an object with %s", strings.Join(known, ", "))
	}
	fields := make(map[string]value, len(all))
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if !slices.Contains(known, key) {
			return nil, v.wrong("the key %q is unknown; it may have %s", key, strings.Join(known, ", "))
		}
		if f := (value{name: v.name + "." + key, text: all[key]}); !f.null() {
			fields[key] = f
		}
	}
	for _, key := range keys {
		if _, ok := fields[key]; !ok && !strings.HasSuffix(key, "?") {
			return nil, v.wrong("%s is missing", key)
		}
	}
	return fields, nil
}

// each calls fn with every key of an object of any keys, in order.
func (v value) each(fn func(key string, f value) error) error {
	all, err := v.members()
	if err != nil {
		return v.wrong("must be an object")
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		f := value{name: v.name + "[" + key + "]", text: all[key]}
		if f.null() {
			continue
		}
		if err := fn(key, f); err != nil {
			return err
		}
	}
	return nil
}

func (v value) members() (all map[string]json.RawMessage, err error) {
	err = json.Unmarshal(v.text, &all)
	return all, err
}

// seconds reads a number of seconds, which may have a fraction.
func (v value) seconds(least float64) (time.Duration, error) {
	var s float64
	if err := json.Unmarshal(v.text, &s); err != nil {
		return 0, v.wrong("must be a number of seconds, not %s", v.shown())
	}
	if s < least || s > maxSeconds {
		return 0, v.wrong("must be %v to %d seconds, not %s", least, maxSeconds, v.shown())
	}
	// To the microsecond, which is what counters count: 0.29 has no exact float.
	return time.Duration(math.Round(s*1e6)) * time.Microsecond, nil
}

// count reads a whole number above 0.
func (v value) count(otherwise int64) (n int64, err error) {
	if v.null() {
		return otherwise, nil
	}
	if err := json.Unmarshal(v.text, &n); err != nil || n < 1 || n > maxCalls {
		return 0, v.wrong("must be a whole number from 1 to %d, not %s", int64(maxCalls), v.shown())
	}
	return n, nil
}

func (v value) truth(otherwise bool) (b bool, err error) {
	if v.null() {
		return otherwise, nil
	}
	if err := json.Unmarshal(v.text, &b); err != nil {
		return false, v.wrong("must be true or false, not %s", v.shown())
	}
	return b, nil
}

func (v value) word() (s string, err error) {
	if v.null() {
		return "", nil
	}
	if err := json.Unmarshal(v.text, &s); err != nil || s == "" {
		return "", v.wrong("must be a name, not %s", v.shown())
	}
	return s, nil
}

func (v value) words() (list []string, err error) {
	if v.null() {
		return nil, nil
	}
	if err := json.Unmarshal(v.text, &list); err != nil || len(list) == 0 || slices.Contains(list, "") {
		return nil, v.wrong("must be a list of names, not %s", v.shown())
	}
	return list, nil
}

// shown is the value as an error quotes it.
func (v value) shown() string {
	const most = 40
	if len(v.text) > most {
		return strings.ToValidUTF8(string(v.text[:most]), "") + "..."
	}
	return string(v.text)
}
