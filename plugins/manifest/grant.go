package manifest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"armature/core/scope"
	"armature/runtime/abi"
)

// The grants that are a word each, beside those of imports.
const (
	Elevated   = "elevated"    // reaching documents without the caller's role checks
	Platform   = "platform"    // setting what decides who may do what
	SameOrigin = "same_origin" // pages on the origin of the site, which act as whoever opens them
	KV         = "kv"          // kv_get, kv_set and kv_delete
	ByClock    = "schedule"    // having methods called by the clock
)

// words are the grants that are no scopes of documents, methods and events.
var words = []string{Elevated, Platform, SameOrigin, KV, ByClock, abi.HTTPFetch, abi.ConnectedRequest, abi.Enqueue, abi.Publish, abi.Sendmail}

// narrowed are the imports that no grant stands for by itself: what they reach is
// decided by the scopes given.
var narrowed = []string{
	abi.DocGet, abi.DocList, abi.DocCount, abi.DocInsert, abi.DocUpdate, abi.DocDelete, abi.DocSubmit, abi.DocCancel, abi.MethodCall,
}

// older are the grants of manifests that name imports, and what each stands for.
var older = map[string]scope.Scope{
	abi.DocGet:     scope.Of(scope.Any, scope.Read),
	abi.DocList:    scope.Of(scope.Any, scope.Read),
	abi.DocCount:   scope.Of(scope.Any, scope.Read),
	abi.DocInsert:  scope.Of(scope.Any, scope.Create),
	abi.DocUpdate:  scope.Of(scope.Any, scope.Update),
	abi.DocDelete:  scope.Of(scope.Any, scope.Delete),
	abi.DocSubmit:  scope.Of(scope.Any, scope.Submit),
	abi.DocCancel:  scope.Of(scope.Any, scope.Submit),
	abi.MethodCall: scope.Methods(scope.Any),
}

// Older is what the name of an import stands for as a grant.
func Older(grant string) (scope.Scope, bool) {
	s, ok := older[grant]
	return s, ok
}

// Grantable lists the imports that reach beyond the plugin.
func Grantable() []string {
	return slices.DeleteFunc(abi.Capabilities(), func(name string) bool { return slices.Contains(abi.Free(), name) })
}

// NamesImports reports whether the grants are names of imports, as those of older
// manifests are.
func (m *Manifest) NamesImports() bool {
	return slices.ContainsFunc(m.Grants, func(g string) bool {
		return slices.Contains(narrowed, g) || strings.HasPrefix(g, "kv_")
	})
}

// All are the grants asked for, optional ones too.
func (m *Manifest) All() []string { return slices.Concat(m.Grants, m.OptionalGrants) }

// Asks reports whether the manifest asks for the import, or need not.
func (m *Manifest) Asks(imported string) bool {
	switch all := m.All(); {
	case !slices.Contains(Grantable(), imported), slices.Contains(all, imported):
		return true
	case m.NamesImports():
		return false
	case strings.HasPrefix(imported, "kv_"):
		return slices.Contains(all, KV)
	}
	return slices.Contains(narrowed, imported)
}

// Imports lists the imports that a script with this manifest has.
func (m *Manifest) Imports() []string {
	var all []string
	for _, name := range Grantable() {
		if m.Asks(name) {
			all = append(all, name)
		}
	}
	return all
}

// Brings lists the names of the DocTypes the plugin brings.
func (m *Manifest) Brings() []string {
	var names []string
	for _, text := range m.DocTypes {
		var def struct {
			Name string `json:"name"`
		}
		if json.Unmarshal(text, &def) == nil {
			names = append(names, def.Name)
		}
	}
	return names
}

// validGrants refuses what is no grant, and the two ways to write one mixed.
func (m *Manifest) validGrants() error {
	for _, list := range []struct {
		field  string
		grants []string
	}{{"grants", m.Grants}, {"optional_grants", m.OptionalGrants}} {
		if err := eachOf(list.field, list.grants, validGrant,
			"expected "+strings.Join(words, ", ")+", or a scope such as resource:ToDo:read, method:acme.todo.* or event:ToDo.validate"); err != nil {
			return err
		}
	}
	if !m.NamesImports() {
		return nil
	}
	for i, g := range m.Grants {
		if s, err := scope.Parse(g); g == KV || err == nil && s.Kind != scope.Capability {
			return wrong(fmt.Sprintf("grants[%d]", i), "%s does not go with names of imports, such as %s: write resource:<DocType>:read and the like for those", g, m.Grants[0])
		}
	}
	return nil
}

func validGrant(text string) bool {
	if slices.Contains(words, text) || slices.Contains(Grantable(), text) {
		return true
	}
	s, err := scope.Parse(text)
	if err != nil || s.Kind == scope.Capability || s.Kind == scope.All || s.Kind == scope.Sets {
		return false
	}
	switch s.Kind {
	case scope.Method:
		name := strings.TrimSuffix(s.Name, ".*")
		return s.Name == scope.Any || methodPath.MatchString(name) || scriptName.MatchString(name)
	case scope.Event:
		return plain(s.Name) && slices.Contains(abi.Events(), s.Event)
	}
	return plain(s.Name)
}
