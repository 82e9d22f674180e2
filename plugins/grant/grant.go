// Package grant decides what a plugin may do on a site.
//
// A plugin asks for what its module imports and its manifest lists. Most of that
// reaches no further than the caller could, and is given with the installation.
// The rest waits for an administrator: it leaves the server, outlives the
// request, or passes the caller's roles by. Each entry is an import name,
// elevated, or http_fetch and a host, such as http_fetch:api.example.com.
package grant

import (
	"slices"
	"strings"

	"armature/core/fault"
	"armature/plugins/manifest"
	"armature/runtime/abi"
	"armature/runtime/engine"
	"armature/runtime/hostapi"
)

// hostPrefix begins the entry of a host.
const hostPrefix = abi.HTTPFetch + ":"

// waiting are the entries that an administrator has to approve.
var waiting = append(abi.Approval(), manifest.Elevated)

// Given is what a plugin may do on a site.
type Given struct {
	Grants hostapi.Grants
	Hosts  []string // whom http_fetch may reach
	Limits []string // above the defaults that it asks for and has not
}

// Asked lists what a plugin asks for, sorted: the imports of its module that
// need a grant and that the manifest lists.
func Asked(m *manifest.Manifest, imports []engine.ImportName) []string {
	var asked []string
	for _, im := range imports {
		capabilities, _ := abi.Uses(im.Module, im.Name)
		for _, c := range capabilities {
			if slices.Contains(manifest.Grantable(), c) && m.Asks(c) {
				asked = append(asked, c)
			}
		}
	}
	if slices.Contains(m.Grants, manifest.Elevated) {
		asked = append(asked, manifest.Elevated)
	}
	if slices.Contains(asked, abi.HTTPFetch) {
		for _, host := range m.AllowedHosts {
			asked = append(asked, hostPrefix+host)
		}
	}
	slices.Sort(asked)
	return slices.Compact(asked)
}

// NeedsApproval reports whether an entry waits for an administrator.
func NeedsApproval(entry string) bool {
	return slices.Contains(waiting, entry) || strings.HasPrefix(entry, hostPrefix) || strings.HasPrefix(entry, limitPrefix)
}

// Waiting lists what is asked for and has to be approved and is not.
func Waiting(asked, approved []string) []string {
	var w []string
	for _, entry := range asked {
		if NeedsApproval(entry) && !covers(approved, entry) {
			w = append(w, entry)
		}
	}
	return w
}

// Give is what a plugin may do that asks for something of which an
// administrator has approved a part.
func Give(asked, approved []string) Given {
	var g Given
	for _, entry := range asked {
		isLimit := strings.HasPrefix(entry, limitPrefix)
		if NeedsApproval(entry) && !covers(approved, entry) {
			if isLimit {
				g.Limits = append(g.Limits, entry)
			}
			continue
		}
		host, isHost := strings.CutPrefix(entry, hostPrefix)
		switch {
		case isLimit:
		case isHost:
			g.Hosts = append(g.Hosts, host)
		case entry == manifest.Elevated:
			g.Grants |= hostapi.Elevated
		default:
			g.Grants |= hostapi.Grant(entry)
		}
	}
	return g
}

// Approve adds entries to what has been approved. Without names it approves all
// that waits, except elevated access, which is given by name. The error is a
// Validation fault: a name that the plugin does not ask for.
func Approve(asked, approved, names []string) ([]string, error) {
	for _, name := range names {
		if !slices.Contains(asked, name) {
			return nil, fault.Invalid("", "The plugin does not ask for %s; it asks for %s", name, strings.Join(asked, ", "))
		}
	}
	if len(names) == 0 {
		names = slices.DeleteFunc(Waiting(asked, approved), func(s string) bool { return s == manifest.Elevated })
	}
	all := slices.Concat(approved, names)
	if slices.ContainsFunc(names, func(s string) bool { return strings.HasPrefix(s, hostPrefix) }) {
		all = append(all, abi.HTTPFetch) // a host is of no use without
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}
