// Package grant decides what a plugin may do on a site.
//
// A plugin has the DocTypes it brings and its own methods. What else it asks for
// is written like the scope of a token: documents of other DocTypes, other
// methods, events, and the capabilities, such as http_fetch, of which each host is
// an entry of its own (http_fetch:api.example.com). An older manifest names the
// imports of its module instead, which stand for wildcards.
//
// A person approves what is asked for. What lies in an operator's folder was
// approved by the operator who has put it there, as far as it reaches neither the
// platform itself nor beyond the request: that waits wherever it comes from.
package grant

import (
	"slices"
	"strings"

	"armature/core/doctypes"
	"armature/core/fault"
	"armature/core/method"
	"armature/core/scope"
	"armature/plugins/manifest"
	"armature/runtime/abi"
	"armature/runtime/engine"
	"armature/runtime/hostapi"
)

// hostPrefix begins the entry of a host.
const hostPrefix = abi.HTTPFetch + ":"

// waiting are the capabilities that a person approves wherever the plugin lies.
var waiting = append(abi.Approval(), manifest.Elevated, manifest.Platform)

// Given is what a plugin may do on a site.
type Given struct {
	Grants  hostapi.Grants
	Hosts   []string   // whom http_fetch may reach
	Limits  []string   // above the defaults that it asks for and has not
	Frame   *scope.Set // what narrows whom it acts as
	Missing []string   // what it needs and was not given: it must not serve
	// Powerful is whether it passes roles by, or reaches the platform.
	Powerful bool
}

// Asked lists what a plugin asks for beyond what is its own, sorted.
func Asked(m *manifest.Manifest, imports []engine.ImportName) []string {
	var asked []string
	if m.NamesImports() {
		asked = askedByImports(m, imports)
	} else {
		for _, g := range m.All() {
			asked = append(asked, entry(g))
		}
	}
	if slices.Contains(asked, abi.HTTPFetch) {
		for _, host := range m.AllowedHosts {
			asked = append(asked, hostPrefix+host)
		}
	}
	asked = append(asked, askedByHandlers(m)...)
	asked = append(asked, askedByDocTypes(m)...)
	asked = slices.DeleteFunc(asked, func(g string) bool { return g == manifest.KV || own(m, g) })
	slices.Sort(asked)
	return slices.Compact(asked)
}

// entry is a grant in the one form in which it is kept.
func entry(g string) string {
	if s, err := scope.Parse(g); err == nil {
		return s.String()
	}
	return g
}

// own reports whether a grant is of what the plugin has anyway.
func own(m *manifest.Manifest, g string) bool {
	s, err := scope.Parse(g)
	if err != nil {
		return false
	}
	switch s.Kind {
	case scope.Resource, scope.Event, scope.Sets:
		return slices.Contains(m.Brings(), s.Name) && !Platform(g)
	case scope.Method:
		return strings.HasPrefix(s.Name, m.Name+".")
	}
	return false
}

func askedByImports(m *manifest.Manifest, imports []engine.ImportName) []string {
	var asked []string
	for _, im := range imports {
		capabilities, _ := abi.Uses(im.Module, im.Name)
		for _, c := range capabilities {
			if !slices.Contains(manifest.Grantable(), c) || !m.Asks(c) || strings.HasPrefix(c, "kv_") {
				continue
			}
			if s, ok := manifest.Older(c); ok {
				c = s.String()
			}
			asked = append(asked, c)
		}
	}
	for _, g := range m.All() {
		if g == manifest.Elevated || g == manifest.Platform {
			asked = append(asked, g)
		}
	}
	return asked
}

func askedByHandlers(m *manifest.Manifest) []string {
	var asked []string
	for _, h := range m.Handlers() {
		asked = append(asked, scope.Handler(h.DocType, h.Event).String())
		for _, field := range h.Sets {
			asked = append(asked, scope.Scope{Kind: scope.Sets, Name: h.DocType, Event: h.Event, Field: field}.String())
		}
	}
	return asked
}

// optional lists what is asked for and not needed.
func optional(m *manifest.Manifest) []string {
	all := AskedLimits(m.Limits)
	for _, g := range m.OptionalGrants {
		all = append(all, entry(g))
		if g == abi.HTTPFetch {
			for _, host := range m.AllowedHosts {
				all = append(all, hostPrefix+host)
			}
		}
	}
	for _, h := range m.Handlers() {
		if h.Optional {
			all = append(all, scope.Handler(h.DocType, h.Event).String())
			for _, field := range h.Sets {
				all = append(all, scope.Scope{Kind: scope.Sets, Name: h.DocType, Event: h.Event, Field: field}.String())
			}
		}
	}
	return slices.DeleteFunc(all, func(g string) bool { return slices.Contains(m.Grants, g) })
}

// Optional lists what is asked for, sorted, without which the plugin serves, too.
func Optional(m *manifest.Manifest) []string {
	all := optional(m)
	slices.Sort(all)
	return slices.Compact(all)
}

// Platform reports whether an entry is about what is the platform's own.
func Platform(g string) bool {
	s, err := scope.Parse(g)
	if err != nil {
		return false
	}
	switch s.Kind {
	case scope.Resource, scope.Event, scope.Sets:
		return PlatformDocType(s.Name)
	case scope.Method:
		return !s.Wild() && !method.Ordinary(s.Name)
	}
	return s.Name == manifest.Platform
}

// PlatformDocType reports whether a DocType is one of the platform's own.
func PlatformDocType(name string) bool {
	all, err := doctypes.Protection()
	return err != nil || all[name].Platform
}

// Heard reports whether a handler was given what it hears and sets.
func (g Given) Heard(m *manifest.Manifest, h manifest.Handler) bool {
	if own(m, scope.Handler(h.DocType, h.Event).String()) {
		return true
	}
	for _, field := range h.Sets {
		if !g.Frame.Has(scope.Scope{Kind: scope.Sets, Name: h.DocType, Event: h.Event, Field: field}.String()) {
			return false
		}
	}
	return g.Frame.Event(h.DocType, h.Event, PlatformDocType(h.DocType))
}

// NeedsApproval reports whether an entry waits for a person; operator is whether
// the plugin lies in an operator's folder.
func NeedsApproval(g string, operator bool) bool {
	return !operator || Platform(g) || slices.Contains(waiting, g) || strings.HasPrefix(g, hostPrefix) || strings.HasPrefix(g, limitPrefix)
}

// ByName reports whether an entry is approved only where it is named.
func ByName(g string) bool { return g == manifest.Elevated || Platform(g) }

// Waiting lists what is asked for and has to be approved and is not.
func Waiting(asked, approved []string, operator bool) []string {
	var w []string
	for _, g := range asked {
		if NeedsApproval(g, operator) && !covers(approved, g) {
			w = append(w, g)
		}
	}
	return w
}

// Give is what a plugin may do that asks for something of which a part is
// approved.
func Give(m *manifest.Manifest, asked, approved []string, operator bool) Given {
	out, may := Given{}, optional(m)
	refused := Waiting(asked, approved, operator)
	var given []scope.Scope
	for _, g := range asked {
		isLimit := strings.HasPrefix(g, limitPrefix)
		if slices.Contains(refused, g) {
			switch {
			case isLimit:
				out.Limits = append(out.Limits, g)
			case !slices.Contains(may, g):
				out.Missing = append(out.Missing, g)
			}
			continue
		}
		if isLimit {
			continue
		}
		if host, isHost := strings.CutPrefix(g, hostPrefix); isHost {
			out.Hosts = append(out.Hosts, host)
			continue
		}
		s, err := scope.Parse(g)
		if err != nil {
			continue // a manifest that was read has none
		}
		given = append(given, s)
		out.Grants |= imports(g)
		out.Powerful = out.Powerful || g == manifest.Elevated || Platform(g)
	}
	for _, name := range m.Imports() {
		if _, ok := manifest.Older(name); ok || strings.HasPrefix(name, "kv_") {
			out.Grants |= hostapi.Grant(name)
		}
	}
	out.Frame = scope.Grants(m.Name, given...).Bringing(m.Brings()...)
	return out
}

func imports(g string) hostapi.Grants {
	if g == manifest.Elevated {
		return hostapi.Elevated
	}
	return hostapi.Grant(g)
}

// Approve adds entries to what has been approved. Without names it approves all
// that waits, except what is approved by name alone. To approve an event is to
// approve what its handler says it sets. The error is a Validation fault: a name
// that the plugin does not ask for.
func Approve(asked, approved, names []string, operator bool) ([]string, error) {
	all := slices.Clone(approved)
	for _, name := range names {
		g := named(name)
		if !slices.Contains(asked, g) {
			return nil, fault.Invalid("", "The plugin does not ask for %s; it asks for %s", name, strings.Join(asked, ", "))
		}
		all = append(all, g)
		switch {
		case strings.HasPrefix(g, hostPrefix):
			all = append(all, abi.HTTPFetch) // a host is of no use without
		case strings.HasPrefix(g, "event:"):
			all = append(all, slices.DeleteFunc(slices.Clone(asked), func(a string) bool {
				return !strings.HasPrefix(a, "sets:"+strings.TrimPrefix(g, "event:")+":")
			})...)
		}
	}
	if len(names) == 0 {
		all = append(all, slices.DeleteFunc(Waiting(asked, approved, operator), ByName)...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// Revoke takes entries away from what has been approved; without names all. The
// error is a Validation fault: a name that was never approved.
func Revoke(asked, approved, names []string) ([]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	left := slices.Clone(approved)
	for _, name := range names {
		g := named(name)
		if !slices.Contains(approved, g) {
			why := "was never approved"
			if slices.Contains(asked, g) && !NeedsApproval(g, true) {
				why = "comes with the folder it lies in: remove it there, or disable it"
			}
			return nil, fault.Invalid("", "%s is not among what was approved for the plugin, and %s", name, why)
		}
		left = slices.DeleteFunc(left, func(a string) bool {
			return a == g || strings.HasPrefix(g, "event:") && strings.HasPrefix(a, "sets:"+strings.TrimPrefix(g, "event:")+":")
		})
	}
	return left, nil
}

// named is the entry that somebody means by a name: itself, or the wildcard that
// the name of an import stands for.
func named(name string) string {
	if s, ok := manifest.Older(name); ok {
		return s.String()
	}
	return entry(name)
}

// InWords says what each entry means, in the order of the entries.
func InWords(entries []string) []string {
	words := make([]string, len(entries))
	for i, g := range entries {
		words[i] = g
		if s, err := scope.Parse(g); err == nil {
			words[i] = s.Words(Platform(g))
		}
		if said := Words(g); said != "" {
			words[i] = said
		}
	}
	return words
}
