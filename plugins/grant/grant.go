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
	"cmp"
	"slices"
	"strings"

	"armature/core/doctypes"
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
var waiting = append(abi.Approval(), manifest.Elevated, manifest.Platform, manifest.SameOrigin, manifest.ByClock, RunAs)

// RunAs is the entry of a plugin some of whose handlers run as a user of its own.
const RunAs = "run_as:plugin"

// Given is what a plugin may do on a site.
type Given struct {
	Grants  hostapi.Grants
	Hosts   []string   // whom http_fetch may reach
	Limits  []string   // above the defaults that it asks for and has not
	Frame   *scope.Set // what narrows whom it acts as
	Missing []string   // what it needs and was not given: it must not serve
	// Powerful is whether it passes roles by, or reaches the platform.
	Powerful bool
	// SameOrigin is whether its pages are the site's own.
	SameOrigin bool
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
	if len(m.Schedules) > 0 {
		asked = append(asked, manifest.ByClock, RunAs)
	}
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
		if g == manifest.Elevated || g == manifest.Platform || g == manifest.SameOrigin {
			asked = append(asked, g)
		}
	}
	return asked
}

func askedByHandlers(m *manifest.Manifest) []string {
	var asked []string
	for _, h := range m.Handlers() {
		if h.RunAs == manifest.RunAsPlugin {
			asked = append(asked, RunAs)
		}
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
		return !s.Wild() && !method.Wildcard(s.Name)
	}
	return s.Name == manifest.Platform || s.Name == manifest.SameOrigin
}

// PlatformDocType reports whether a DocType is one of the platform's own.
func PlatformDocType(name string) bool {
	all, err := doctypes.Protection()
	return err != nil || all[name].Platform
}

// Scheduled reports whether a plugin was given what its schedules need.
func (g Given) Scheduled() bool {
	return g.Frame.Has(manifest.ByClock) && g.Frame.Has(RunAs)
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
	return !operator || Platform(g) || slices.Contains(waiting, g) || strings.HasPrefix(g, hostPrefix) || strings.HasPrefix(g, limitPrefix) || IsMove(g)
}

// ByName reports whether an entry is approved only where it is named.
func ByName(g string) bool { return g == manifest.Elevated || Platform(g) }

// Give is what a plugin may do that asks for something of which a part was given.
func (d Decided) Give(m *manifest.Manifest, asked []string) Given {
	out, may := Given{}, optional(m)
	refused := d.Waiting(asked)
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
		if isLimit || IsMove(g) {
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
		out.SameOrigin = out.SameOrigin || g == manifest.SameOrigin
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

// InWords says what each entry means, in the order of the entries.
func InWords(entries []string) []string {
	words := make([]string, len(entries))
	for i, g := range entries {
		words[i] = g
		if s, err := scope.Parse(g); err == nil {
			words[i] = s.Words(Platform(g))
		}
		if said := cmp.Or(Words(g), moveWords(g)); said != "" {
			words[i] = said
		}
	}
	return words
}
