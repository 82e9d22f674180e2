package manifest

import (
	"fmt"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"armature/core/document"
	"armature/runtime/abi"
)

// reserved is the first part of the platform's own names.
const reserved = "framework"

var (
	pluginName = regexp.MustCompile(`^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$`)
	scriptName = regexp.MustCompile(`^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$`)
	methodPath = regexp.MustCompile(`^[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)+$`)
	hostName   = regexp.MustCompile(`^((\*\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*|\[[0-9a-f:.]+\])(:[0-9]{1,5})?$`)
	numericEnd = regexp.MustCompile(`(^|\.)([0-9]+|0x[0-9a-f]*)$`)
)

// forms says what the names of plugins look like.
var forms = map[*regexp.Regexp]string{
	pluginName: "at least two lower-case parts",
	scriptName: "lower-case parts of letters, digits and underscores",
}

// verbs are the HTTP verbs a method may allow.
var verbs = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete}

// check refuses with the field's name before the reason.
func check(ok bool, field, format string, args ...any) error {
	if ok {
		return nil
	}
	return wrong(field, format, args...)
}

func wrong(field, format string, args ...any) error {
	return &Error{Field: field, Text: fmt.Sprintf(format, args...)}
}

// first returns the first error of a list.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *Manifest) validate(name *regexp.Regexp) error {
	if err := first(
		validName(m.Name, name),
		check(m.Version != "" && len(m.Version) <= 64, "version", "expected 1 to 64 characters"),
		check(m.ABI == abi.Version, "abi", "expected %d, the version this server speaks, found %d", abi.Version, m.ABI),
		check(len(m.Description) <= 4096, "description", "over 4096 characters"),
		m.Limits.validate(),
	); err != nil {
		return err
	}
	seen := map[string]bool{}
	for i, method := range m.Methods {
		field := fmt.Sprintf("methods[%d]", i)
		if err := method.validate(field, m.Name); err != nil {
			return err
		}
		if seen[method.Path] {
			return wrong(field+".path", "%s is listed twice", method.Path)
		}
		seen[method.Path] = true
	}
	for _, h := range m.Handlers() {
		if err := h.validate(); err != nil {
			return err
		}
	}
	if err := m.validSchedules(); err != nil {
		return err
	}
	if err := m.completeRoutes(); err != nil {
		return err
	}
	for i, text := range m.DocTypes {
		if text[0] != '{' {
			return wrong(fmt.Sprintf("doctypes[%d]", i), "expected the JSON of a DocType, an object")
		}
	}
	return first(
		m.validGrants(),
		eachOf("allowed_hosts", m.AllowedHosts, reachable,
			"expected a lower-case host name such as api.example.com or *.example.com, an address such as 192.0.2.1 or [2001:db8::1], and a port where it is not the usual"),
	)
}

func validName(name string, form *regexp.Regexp) error {
	head, _, _ := strings.Cut(name, ".")
	return first(
		check(name != "", "name", "missing"),
		check(form.MatchString(name) && len(name) <= 100, "name",
			"expected %s joined by dots, such as acme.todo, found %q", forms[form], name),
		check(head != reserved, "name", "%s is reserved", head),
	)
}

func (x Method) validate(field, plugin string) error {
	return first(
		check(x.Path != "", field+".path", "missing"),
		check(strings.HasPrefix(x.Path, plugin+".") && methodPath.MatchString(x.Path) && len(x.Path) <= 200, field+".path",
			"expected %s. and a name of letters, digits and underscores, found %q", plugin, x.Path),
		exportName(field+".export", x.Export),
		eachOf(field+".verbs", x.Verbs, func(s string) bool { return slices.Contains(verbs, s) },
			"expected "+strings.Join(verbs, ", ")),
		eachOf(field+".roles", x.Roles, plain, "expected the name of a role"),
		check(x.Input == "" || plain(x.Input), field+".input", "expected the name of an argument"),
		check(x.Tx == "" || x.Tx == TxManual, field+".tx", "expected %q or nothing, found %q", TxManual, x.Tx),
	)
}

func (h Handler) validate() error {
	field := fmt.Sprintf("events[%q]", h.DocType+"."+h.Event)
	return first(
		check(plain(h.DocType), field, "expected a DocType, a dot and an event, such as ToDo.validate"),
		check(slices.Contains(abi.Events(), h.Event), field, "unknown event %q; expected one of %s", h.Event, strings.Join(abi.Events(), ", ")),
		exportName(field, h.Export),
		check(h.Event != document.AfterCommit || len(h.Sets) == 0, field+".sets", "expected nothing: the document was written before"),
		check(h.RunAs == "" || h.RunAs == RunAsPlugin, field+".run_as", "expected %q or nothing, found %q", RunAsPlugin, h.RunAs),
		eachOf(field+".sets", h.Sets, func(s string) bool { return s == AnyField || fieldPath.MatchString(s) },
			"expected a field such as total, a field of a table such as lines.amount, or "+AnyField),
	)
}

var fieldPath = regexp.MustCompile(`^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)?$`)

// exportName refuses what the host calls on its own account and what it adds.
func exportName(field, name string) error {
	own := []string{abi.Memory, abi.Initialize, abi.Warm, abi.Resume}
	return first(
		check(name != "", field, "missing"),
		check(len(name) <= 200, field, "over 200 characters"),
		check(!slices.Contains(own, name) && !strings.HasPrefix(name, abi.ReservedPrefix), field, "%q is reserved", name),
	)
}

// plain reports whether s is a name people give: not empty, one line, no space
// around it.
func plain(s string) bool {
	return s != "" && len(s) <= 140 && strings.TrimSpace(s) == s && !strings.ContainsAny(s, "\n\r\t\x00")
}

// eachOf checks every entry of a list, and that none is given twice.
func eachOf(field string, list []string, ok func(string) bool, expected string) error {
	for i, s := range list {
		if !ok(s) {
			return wrong(fmt.Sprintf("%s[%d]", field, i), "%s, found %q", expected, s)
		}
		if slices.Contains(list[:i], s) {
			return wrong(fmt.Sprintf("%s[%d]", field, i), "%q is given twice", s)
		}
	}
	return nil
}

// validate refuses what no server gives.
func (l Limits) validate() error {
	within := func(field string, v, most int) error {
		return check(v >= 0 && v <= most, "limits."+field, "expected 1 to %d, found %d", most, v)
	}
	return first(
		within("memory", l.Memory, abi.MaxMemory),
		within("cpu_ms", l.CPUMs, abi.MaxCPUMs),
		within("wall_ms", l.WallMs, abi.MaxWallMs),
		within("depth", l.Depth, abi.MaxDepth),
		within("input", l.Input, abi.MaxInput),
		within("output", l.Output, abi.MaxOutput),
		within("host_calls", l.HostCalls, abi.MaxHostCalls),
		within("log", l.Log, abi.MaxLog),
		within("http", l.HTTP, abi.MaxHTTP),
		within("tx_ms", l.TxMs, abi.MaxTxMs),
	)
}

// reachable reports whether http_fetch could ever match the pattern of a host. An
// address in another spelling than the usual, such as 127.1 or 0x7f000001, never
// would: a name whose last part is a number is an address to some resolvers.
func reachable(pattern string) bool {
	match := hostName.FindStringSubmatch(pattern)
	if match == nil {
		return false
	}
	host := match[1]
	if port := match[len(match)-1]; port != "" {
		if n, err := strconv.ParseUint(port[1:], 10, 16); err != nil || n == 0 {
			return false
		}
	}
	if inner, found := strings.CutPrefix(host, "["); found {
		a, err := netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		return err == nil && a.Is6()
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Is4() || !numericEnd.MatchString(host)
}
