package plugindev

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"armature/cmd/armature/plugintest"
	"armature/cmd/armature/terminal"
	"armature/plugins/bundle"
	"armature/plugins/testrun"
)

// devOutput is what plugin dev prints: lines for a person, or a JSON object for
// each, with its kind in "event".
type devOutput struct {
	*terminal.Terminal
	mu sync.Mutex
}

// event prints one thing that has happened.
func (o *devOutput) event(v map[string]any, text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.JSON {
		_ = o.PrintJSON(v)
		return
	}
	fmt.Fprintln(o.Stdout, strings.TrimSuffix(text, "\n"))
}

// tools shows what compilers have printed.
func (o *devOutput) tools(text string) {
	if strings.TrimSpace(text) != "" {
		o.event(map[string]any{"event": "output", "text": text}, text)
	}
}

// failed says that a version does not compile or load.
func (o *devOutput) failed(err error, serving string) {
	text := terminal.Explain(err)
	rest := "nothing serves yet"
	if serving != "" {
		rest = "the version of " + serving + " goes on serving"
	}
	o.event(map[string]any{"event": "failed", "error": text, "serving": serving},
		fmt.Sprintf("%s  FAILED  %s\n          %s", time.Now().Format(time.TimeOnly), indented(text), rest))
}

// serves says that a version has been built and serves.
func (o *devOutput) serves(b *bundle.Bundle, built, whole time.Duration, remarks []string) {
	var methods []string
	for _, m := range b.Manifest.Methods {
		methods = append(methods, m.Path)
	}
	text := fmt.Sprintf("%s  %s %s serves: built in %.2f s, loaded in %.2f s", time.Now().Format(time.TimeOnly),
		b.Manifest.Name, b.Manifest.Version, built.Seconds(), (whole - built).Seconds())
	for _, remark := range remarks {
		text += "\n          " + indented(remark)
	}
	o.event(map[string]any{
		"event": "serves", "plugin": b.Manifest.Name, "version": b.Manifest.Version, "hash": b.Hash, "methods": methods,
		"build_ms": built.Milliseconds(), "ms": whole.Milliseconds(), "remarks": remarks,
	}, text)
}

// tested says how the tests went: those that fail, and how many there are. printed is
// what a language's own tests have said.
func (o *devOutput) tested(results []testrun.Result, printed string, err error, took time.Duration) {
	failed := 0
	text := printed
	for _, r := range results {
		if r.Failed() {
			failed++
			text += plugintest.Text(r)
		}
	}
	verdict := "the tests pass"
	if len(results) > 0 {
		verdict = fmt.Sprintf("%d tests pass", len(results))
	}
	switch {
	case err != nil:
		verdict = "FAILED  " + terminal.Explain(err)
	case failed > 0:
		verdict = fmt.Sprintf("FAILED  %d of %d tests fail", failed, len(results))
	}
	o.event(map[string]any{"event": "tests", "passed": err == nil && failed == 0, "tests": results, "output": printed, "ms": took.Milliseconds()},
		fmt.Sprintf("%s%s  %s, in %.2f s", text, time.Now().Format(time.TimeOnly), indented(verdict), took.Seconds()))
}

// indented puts the lines after the first below it.
func indented(text string) string { return strings.ReplaceAll(text, "\n", "\n          ") }

// line prints a line that a log has as JSON.
func (o *devOutput) line(raw json.RawMessage) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	var members []slog.Attr
	var at, level, message string
	if _, err := dec.Token(); err != nil {
		return
	}
	for dec.More() {
		name, err := dec.Token()
		var value any
		if err != nil || dec.Decode(&value) != nil {
			return
		}
		switch name {
		case slog.TimeKey:
			at = fmt.Sprint(value)
		case slog.LevelKey:
			level = fmt.Sprint(value)
		case slog.MessageKey:
			message = fmt.Sprint(value)
		default:
			members = append(members, slog.Any(name.(string), value))
		}
	}
	when, err := time.Parse(time.RFC3339Nano, at)
	if err != nil {
		when = time.Now()
	}
	o.logged(when, level, message, members)
}

// unneeded are attributes that say to an author what is known anyway.
var unneeded = map[string]bool{"site": true, "plugin": true, "version": true, "user": true, "request": true, "fuel": true, "duration": true, "id": true, "from": true, "client": true, "bytes": true, "processing_us": true}

// lineWriter prints what is written to it, lines that are JSON.
type lineWriter struct{ out *devOutput }

func (w lineWriter) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		w.out.line(line)
	}
	return len(p), nil
}

func (o *devOutput) logged(at time.Time, level, message string, attrs []slog.Attr) {
	object := map[string]any{"event": "log", "level": level, "message": message}
	text := fmt.Sprintf("%s  %-5s %s", at.Local().Format(time.TimeOnly), level, indented(message))
	for _, a := range attrs {
		value := a.Value.Resolve().Any()
		if err, ok := value.(error); ok {
			value = err.Error()
		}
		object[a.Key] = value
		switch {
		case a.Key == "trace":
			for _, frame := range frames(value) {
				text += "\n            in " + frame
			}
		case unneeded[a.Key]:
		case a.Key == "duration_us":
			if us, ok := value.(float64); ok {
				text += fmt.Sprintf("  %.1f ms", us/1000)
			}
		case a.Key == "error" || a.Key == "status" || a.Key == "path" || a.Key == "method":
			text += "  " + indented(fmt.Sprint(value))
		default:
			text += fmt.Sprintf("  %s=%v", a.Key, value)
		}
	}
	o.event(object, text)
}

// frames are the lines of a trace, whether it comes from a logger or from JSON.
func frames(value any) (list []string) {
	switch v := value.(type) {
	case []string:
		return v
	case []any:
		for _, frame := range v {
			list = append(list, fmt.Sprint(frame))
		}
	}
	return list
}

// devLog is the log of a server of plugin dev's own: what plugins log, and what
// goes wrong.
type devLog struct {
	out   *devOutput
	attrs []slog.Attr
}

// Enabled satisfies slog.Handler: all that plugins log is shown.
func (h devLog) Enabled(context.Context, slog.Level) bool { return true }

// Handle satisfies slog.Handler.
func (h devLog) Handle(_ context.Context, r slog.Record) error {
	attrs := append([]slog.Attr{}, h.attrs...)
	r.Attrs(func(a slog.Attr) bool {
		attrs = append(attrs, a)
		return true
	})
	ofPlugin := false
	for _, a := range attrs {
		ofPlugin = ofPlugin || a.Key == "plugin"
	}
	switch r.Message {
	case "plugin loaded", "plugin not loaded", "plugin removed", "plugin not loaded, the old version goes on serving":
		return nil // it is told with the build
	case "request failed":
		if r.Level < slog.LevelError {
			return nil // by a plugin, which is told as its call
		}
	}
	if ofPlugin || r.Level >= slog.LevelWarn {
		h.out.logged(r.Time, r.Level.String(), r.Message, attrs)
	}
	return nil
}

// WithAttrs satisfies slog.Handler.
func (h devLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return devLog{h.out, append(append([]slog.Attr{}, h.attrs...), attrs...)}
}

// WithGroup satisfies slog.Handler; nothing here groups.
func (h devLog) WithGroup(string) slog.Handler { return h }

// news hands on the lines of a log that are new: it is asked for the latest ones
// again and again.
type news struct {
	last  string
	begun bool // what was there at the beginning is old
}

func (n *news) of(lines []json.RawMessage) []json.RawMessage {
	fresh := lines
	for i := len(lines) - 1; i >= 0; i-- {
		if string(lines[i]) == n.last {
			fresh = lines[i+1:]
			break
		}
	}
	if !n.begun {
		fresh = nil
	}
	n.begun = true
	if len(lines) > 0 {
		n.last = string(lines[len(lines)-1])
	}
	return fresh
}
