// Package doctypes holds the DocTypes and records every site has, as JSON, and
// installs them.
//
// Install may be repeated at every start: a DocType whose definition equals the
// stored one is left alone, a changed one is migrated, a record that exists is
// never touched again, since it is the user's by then.
package doctypes

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"armature/core/doctype"
)

//go:embed definitions/*.json records/*.json
var files embed.FS

// builtin is one shipped DocType: its definition, the same as the values of a
// DocType document, and the hash by which a change is noticed.
type builtin struct {
	doctype.Definition
	values map[string]any
	hash   string
}

// all is everything shipped.
type all struct {
	types   []*builtin
	records []map[string]any
	boot    *doctype.Schema
	parts   map[string]string // Shipped.Parts, but for the tables beside
}

// shipped is everything, read once: it is the same for every site.
var shipped = sync.OnceValues(func() (*all, error) {
	a := &all{parts: map[string]string{}}
	var err error
	if a.types, err = load(); err != nil {
		return nil, fmt.Errorf("read built-in DocTypes: %w", err)
	}
	types := make([]*doctype.DocType, 0, len(a.types))
	for _, b := range a.types {
		dt, err := doctype.Define(b.Definition)
		if err != nil {
			return nil, fmt.Errorf("built-in DocType %s: %w", b.Name, err)
		}
		types = append(types, dt)
		a.parts["DocType "+b.Name] = b.hash
	}
	a.boot = doctype.NewSchema(0, types)
	if a.records, err = records(); err != nil {
		return nil, fmt.Errorf("read built-in records: %w", err)
	}
	for _, r := range a.records {
		text, err := json.Marshal(r)
		if err != nil {
			return nil, err
		}
		a.parts[fmt.Sprintf("record of %v: %v", r["doctype"], cmp.Or(r["name"], r["email"], r["file_name"]))] = hashed(text)
	}
	return a, nil
})

// load reads every shipped definition; the three in which DocTypes themselves
// are stored come first.
func load() ([]*builtin, error) {
	names, err := fs.Glob(files, "definitions/*.json")
	if err != nil {
		return nil, err
	}
	all := make([]*builtin, 0, len(names))
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		b, err := parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, b)
	}
	slices.SortStableFunc(all, func(a, b *builtin) int { return rank(a.Name) - rank(b.Name) })
	return all, nil
}

func rank(name string) int {
	switch name {
	case doctype.DocTypeName, doctype.DocFieldName, doctype.DocPermName:
		return 0
	}
	return 1
}

func parse(text []byte) (*builtin, error) {
	b := &builtin{}
	if err := strict(text, &b.values); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &b.Definition); err != nil {
		return nil, err
	}
	for _, key := range []string{"protection", "protected_fields", "decided_fields"} {
		delete(b.values, key) // see Protection: nothing that a site stores or changes
	}
	stored, err := json.Marshal(b.values)
	if err != nil {
		return nil, err
	}
	b.hash = hashed(stored)
	return b, nil
}

func hashed(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func strict(text []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	return dec.Decode(into)
}

// records reads the shipped records in the order in which they may link to each
// other.
func records() ([]map[string]any, error) {
	var all []map[string]any
	for _, name := range []string{"role", "priority", "user", "file"} {
		text, err := files.ReadFile("records/" + name + ".json")
		if err != nil {
			return nil, err
		}
		var some []map[string]any
		if err := strict(text, &some); err != nil {
			return nil, fmt.Errorf("records/%s.json: %w", name, err)
		}
		all = append(all, some...)
	}
	return all, nil
}

// title is what the log calls a set of DocTypes.
func title(changed []*builtin) string {
	names := make([]string, len(changed))
	for i, b := range changed {
		names[i] = b.Name
	}
	return strings.Join(names, ", ")
}
