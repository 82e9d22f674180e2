package grant

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"armature/plugins/manifest"
	"armature/runtime/engine"
	"armature/runtime/hostapi"
)

// limitPrefix begins the entry of a limit above the default, such as
// limit:cpu_ms=60000. Approving one approves every lower one.
const limitPrefix = "limit:"

// Limits reports whether an entry is a limit.
func Limits(g string) bool { return strings.HasPrefix(g, limitPrefix) }

// limit is one that a manifest may ask for.
type limit struct {
	name    string
	unit    string
	normal  int // what every plugin has
	ofLimit func(*manifest.Limits) *int
}

func limits() []limit {
	e, h := engine.DefaultLimits(), hostapi.DefaultLimits
	ms := func(d time.Duration) int { return int(d.Milliseconds()) }
	return []limit{
		{"memory", "bytes", int(e.Memory), func(l *manifest.Limits) *int { return &l.Memory }},
		{"cpu_ms", "milliseconds of processor time", 100, func(l *manifest.Limits) *int { return &l.CPUMs }},
		{"wall_ms", "milliseconds", ms(e.Wall), func(l *manifest.Limits) *int { return &l.WallMs }},
		{"depth", "nested calls", e.Depth, func(l *manifest.Limits) *int { return &l.Depth }},
		{"input", "bytes", h.Input, func(l *manifest.Limits) *int { return &l.Input }},
		{"output", "bytes", h.Output, func(l *manifest.Limits) *int { return &l.Output }},
		{"host_calls", "calls", e.HostCalls, func(l *manifest.Limits) *int { return &l.HostCalls }},
		{"log", "bytes", h.Log, func(l *manifest.Limits) *int { return &l.Log }},
		{"http", "requests", h.HTTP, func(l *manifest.Limits) *int { return &l.HTTP }},
		{"tx_ms", "milliseconds with a transaction open", ms(h.Tx), func(l *manifest.Limits) *int { return &l.TxMs }},
	}
}

// AskedLimits lists the limits above the defaults that a manifest asks for.
func AskedLimits(l manifest.Limits) []string {
	return askedOver(l, func(x limit) int { return x.normal })
}

// AskedOfOperator lists the limits that a plugin in an operator's folder asks for:
// those above what the operator gives all of them. A zero field of most gives
// whatever a manifest may ask for.
func AskedOfOperator(l, most manifest.Limits) []string {
	return askedOver(l, func(x limit) int {
		if n := *x.ofLimit(&most); n > 0 {
			return max(n, x.normal)
		}
		return math.MaxInt
	})
}

func askedOver(l manifest.Limits, given func(limit) int) []string {
	var asked []string
	for _, x := range limits() {
		if n := *x.ofLimit(&l); n > given(x) {
			asked = append(asked, fmt.Sprintf("%s%s=%d", limitPrefix, x.name, n))
		}
	}
	slices.Sort(asked)
	return asked
}

// Words says in a sentence what an entry about a limit allows; "" for others.
func Words(entry string) string {
	name, n, ok := limitOf(entry)
	if !ok {
		return ""
	}
	for _, x := range limits() {
		if x.name == name {
			return fmt.Sprintf("a call may use %d %s; the usual is %d", n, x.unit, x.normal)
		}
	}
	return ""
}

// Described are entries as people read them: those about limits with what they
// allow in words.
func Described(entries []string) []string {
	all := slices.Clone(entries)
	for i, entry := range all {
		if words := Words(entry); words != "" {
			all[i] = entry + " (" + words + ")"
		}
	}
	return all
}

// Lowered is what a manifest asks for without the limits that wait.
func Lowered(l manifest.Limits, waiting []string) manifest.Limits {
	for _, x := range limits() {
		if slices.ContainsFunc(waiting, func(entry string) bool { name, _, ok := limitOf(entry); return ok && name == x.name }) {
			*x.ofLimit(&l) = 0
		}
	}
	return l
}

// coversLimit reports whether one of the entries is as high a limit, or higher.
func coversLimit(approved []string, entry string) bool {
	name, n, ok := limitOf(entry)
	return ok && slices.ContainsFunc(approved, func(other string) bool {
		of, most, ok := limitOf(other)
		return ok && of == name && most >= n
	})
}

func limitOf(entry string) (name string, n int, ok bool) {
	rest, ok := strings.CutPrefix(entry, limitPrefix)
	if !ok {
		return "", 0, false
	}
	name, value, _ := strings.Cut(rest, "=")
	n, err := strconv.Atoi(value)
	return name, n, err == nil
}
