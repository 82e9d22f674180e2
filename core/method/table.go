package method

import (
	"fmt"
	"slices"
	"strings"
)

// Table holds the platform's own methods by path. It is complete once made and
// may be shared by every site.
type Table struct {
	methods map[string]*Method
}

// NewTable makes a table of the given groups. A path that is empty or taken, a
// method without a function or a tier and an unknown verb are refused: they are mistakes
// of whoever wires the server.
func NewTable(groups ...[]*Method) (*Table, error) {
	t := &Table{methods: make(map[string]*Method)}
	for _, group := range groups {
		for _, m := range group {
			if err := t.add(m); err != nil {
				return nil, err
			}
		}
	}
	return t, nil
}

func (t *Table) add(m *Method) error {
	switch {
	case m.Path == "" || strings.ContainsAny(m.Path, "/ "):
		return fmt.Errorf("register method %q: not a dotted path", m.Path)
	case m.Func == nil:
		return fmt.Errorf("register method %s: no function", m.Path)
	case m.Tier == 0:
		return fmt.Errorf("register method %s: no tier, so that nobody can say how plugins come to it", m.Path)
	case t.methods[m.Path] != nil:
		return fmt.Errorf("register method %s: the path is taken", m.Path)
	}
	for _, v := range m.Verbs {
		if !slices.Contains(defaultVerbs, v) {
			return fmt.Errorf("register method %s: unknown verb %q", m.Path, v)
		}
	}
	t.methods[m.Path] = m
	return nil
}

// Lookup returns the method at path, or nil.
func (t *Table) Lookup(path string) *Method { return t.methods[path] }

// Paths lists every path, sorted.
func (t *Table) Paths() []string {
	paths := make([]string, 0, len(t.methods))
	for p := range t.methods {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	return paths
}
