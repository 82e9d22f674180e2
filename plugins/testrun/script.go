package testrun

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"

	"armature/plugins/bundle"
	"armature/plugins/manifest"
	"armature/plugins/script"
	"armature/runtime/engine"
)

// Names of what the module of a file of tests exports.
const (
	listExport = "list"
	runExport  = "run"
)

// Script runs the tests of a script's file and tells of each when it is over. plugin
// is what the tests are about, nil if that is nothing. What is wrong with the file is
// told in the same way; the error is ours, or that of ctx.
func (r *Runner) Script(ctx context.Context, f File, plugin *manifest.Manifest, tell func(Result)) error {
	shown, err := filepath.Rel(f.Root, f.Path)
	if err != nil {
		shown = f.Path
	}
	r.lines.Take()
	refused := func(err error) {
		result := refusal(shown, err)
		result.Log = r.lines.Take()
		tell(result)
	}
	s, err := script.ReadTest(f.Path, f.Main, f.Root)
	if err != nil {
		refused(err)
		return nil
	}
	m, err := r.engine.Load(ctx, bundle.Runnable(s))
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		refused(err)
		return nil
	}
	defer m.Release()
	return r.each(ctx, m, s, shown, plugin, tell)
}

// noted is a test as the file has noted it.
type noted struct {
	Name    string `json:"name"`
	Skipped bool   `json:"skipped"`
	Stack   string `json:"stack"` // of the call of test
}

// place matches a place in the code in a stack.
var place = regexp.MustCompile(`script\.js:(\d+):(\d+)`)

// line is the line in which the author calls test; 0 if it cannot be told.
func (n noted) line(s *script.Script) int {
	at := place.FindStringSubmatch(n.Stack)
	if at == nil {
		return 0
	}
	row, _ := strconv.Atoi(at[1])
	column, _ := strconv.Atoi(at[2])
	p, _ := s.Source(row, column)
	return p.Line
}

func (r *Runner) each(ctx context.Context, m *engine.Module, s *script.Script, file string, plugin *manifest.Manifest, tell func(Result)) error {
	text, err := r.run(ctx, m, listExport, nil)
	var tests []noted
	if err == nil {
		err = json.Unmarshal(text, &tests)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil { // the file has broken what it runs with
		tell(refusal(file, fmt.Errorf("the tests cannot be listed: %w", err)))
		return nil
	}
	if len(tests) == 0 {
		tell(Result{File: file, Error: `there is no test in it: import { test } from "armature:test", and call test(name, function)`})
	}
	for i, t := range tests {
		result := Result{File: file, Line: t.line(s), Test: t.Name, Skipped: t.Skipped}
		if !t.Skipped {
			if err := r.test(ctx, m, runExport, map[string]any{"index": i, "manifest": plugin}, &result); err != nil {
				return err
			}
		}
		tell(result)
	}
	return nil
}
