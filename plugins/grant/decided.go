package grant

import (
	"slices"
	"strings"

	"armature/core/fault"
	"armature/core/scope"
	"armature/plugins/manifest"
	"armature/runtime/abi"
)

// Decided is what people have decided on what a plugin asks for.
type Decided struct {
	Approved []string
	Revoked  []string // taken back of what came with the folder
	Operator bool     // it lies in an operator's folder
}

// Everything is the name under which all that waits is approved, except what is
// approved by name alone.
const Everything = "all"

// Waiting lists what is asked for and has to be approved and is not.
func (d Decided) Waiting(asked []string) []string {
	var w []string
	for _, g := range asked {
		if d.waits(g) {
			w = append(w, g)
		}
	}
	return w
}

func (d Decided) waits(g string) bool {
	return !covers(d.Approved, g) && (NeedsApproval(g, d.Operator) || covers(d.Revoked, g))
}

// Approve adds entries to what has been approved. No names are Everything. To
// approve an event is to approve what its handler says it sets, and to approve
// http_fetch the hosts that this version asks for. The error is a Validation fault: a
// name that the plugin does not ask for.
func (d Decided) Approve(asked, names []string) (Decided, error) {
	var all []string
	if len(names) == 0 || slices.Contains(names, Everything) {
		all = slices.DeleteFunc(d.Waiting(asked), ByName)
	}
	for _, name := range names {
		if name == Everything {
			continue
		}
		g := named(name)
		if !slices.Contains(asked, g) {
			return d, fault.Invalid("", "The plugin does not ask for %s; it asks for %s", name, strings.Join(asked, ", "))
		}
		all = append(all, g)
		all = append(all, along(asked, g)...)
		if strings.HasPrefix(g, hostPrefix) {
			all = append(all, abi.HTTPFetch) // a host is of no use without
		}
	}
	d.Revoked = slices.DeleteFunc(slices.Clone(d.Revoked), func(g string) bool { return slices.Contains(all, g) })
	d.Approved = slices.Concat(d.Approved, all)
	slices.Sort(d.Approved)
	d.Approved = slices.Compact(d.Approved)
	return d, nil
}

// Revoke takes entries back: those that are named, with what is of no use
// without them, or without names all. What came with a folder stays revoked until it is approved. The
// error is a Validation fault: a name of what the plugin has not.
func (d Decided) Revoke(asked, names []string) (Decided, error) {
	var back []string
	for _, name := range names {
		g := named(name)
		switch {
		case slices.Contains(d.Approved, g), slices.Contains(asked, g) && !d.waits(g):
			back = append(back, g)
			back = append(back, along(slices.Concat(asked, d.Approved), g)...)
		case slices.Contains(asked, g):
			return d, fault.Invalid("", "%s was not approved: the plugin has not got it", name)
		default:
			return d, fault.Invalid("", "The plugin does not ask for %s; it asks for %s", name, strings.Join(asked, ", "))
		}
	}
	if len(names) == 0 {
		back = slices.Concat(asked, d.Approved)
	}
	d.Approved = slices.DeleteFunc(slices.Clone(d.Approved), func(g string) bool {
		// A wildcard that was approved for an older version would go on giving it.
		return slices.ContainsFunc(back, func(b string) bool { return covers([]string{g}, b) })
	})
	if d.Operator {
		given := slices.DeleteFunc(back, func(g string) bool { return NeedsApproval(g, true) })
		d.Revoked = slices.Concat(d.Revoked, given)
		slices.Sort(d.Revoked)
		d.Revoked = slices.Compact(d.Revoked)
	}
	return d, nil
}

// along lists the entries that are of no use without another and are decided on with
// it: what the handler of an event sets, the hosts that http_fetch may reach.
func along(asked []string, g string) []string {
	prefix := ""
	if at, ok := strings.CutPrefix(g, "event:"); ok {
		prefix = "sets:" + at + ":"
	} else if g == abi.HTTPFetch {
		prefix = hostPrefix
	} else {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(asked), func(g string) bool { return !strings.HasPrefix(g, prefix) })
}

// covers reports whether one of the entries holds another: is the same, a higher
// limit, or a wildcard, which holds nothing of the platform's own.
func covers(entries []string, entry string) bool {
	if slices.Contains(entries, entry) {
		return true
	}
	if Limits(entry) {
		return coversLimit(entries, entry)
	}
	wanted, err := scope.Parse(entry)
	if err != nil || wanted.Kind == scope.Capability {
		return false
	}
	return slices.ContainsFunc(entries, func(other string) bool {
		s, err := scope.Parse(other)
		return err == nil && s.Covers(wanted) && (s.Name == wanted.Name || !Platform(entry))
	})
}

// named is the entry that somebody means by a name: itself, or the wildcard that
// the name of an import stands for.
func named(name string) string {
	if s, ok := manifest.Older(name); ok {
		return s.String()
	}
	return entry(name)
}
