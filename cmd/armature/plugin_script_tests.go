package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"armature/core/egress"
	"armature/plugins/bundle"
	"armature/plugins/script"
	"armature/plugins/scripttest"
)

// isScriptTest reports whether what is to be tested is a script: a file, a folder
// that is a plugin, or one without sources of another language, but with tests of
// scripts.
func isScriptTest(path string) bool {
	info, err := os.Stat(path)
	switch {
	case err != nil || !info.IsDir():
		return script.Is(path) || script.IsTest(path)
	case bundle.IsScript(path):
		return true
	}
	_, other := languageOf(path)
	_, none := scripttest.Find(path)
	return other != nil && none == nil
}

// testScript runs the tests of scripts.
func (a *app) testScript(ctx context.Context, path string) (err error) {
	files, err := scripttest.Find(path)
	if err != nil {
		return fmt.Errorf("test %s: %w", path, err)
	}
	r, err := scripttest.New(ctx, scripttest.Config{CacheDir: testCache(), Reaches: reaches})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close(context.WithoutCancel(ctx))) }()
	var results []scripttest.Result
	failed := 0
	for _, f := range files {
		if err := r.Run(ctx, f, func(result scripttest.Result) {
			results = append(results, result)
			if result.Failed() {
				failed++
			}
			a.showTest(result)
		}); err != nil {
			return fmt.Errorf("test %s: %w", path, err)
		}
	}
	if failed == 0 {
		return a.say(map[string]any{"passed": true, "tests": results}, "the tests pass")
	}
	if a.json {
		if err := a.printJSON(map[string]any{"passed": false, "tests": results}); err != nil {
			return err
		}
	}
	return fmt.Errorf("test %s: %d of %d tests fail", path, failed, len(results))
}

// showTest prints how a test went where the tools of other languages print.
func (a *app) showTest(r scripttest.Result) {
	if a.json {
		return
	}
	name := r.File
	if r.Line > 0 {
		name += fmt.Sprintf(":%d", r.Line)
	}
	if r.Test != "" {
		name += ": " + r.Test
	}
	verdict := "pass"
	switch {
	case r.Failed():
		verdict = "FAIL"
	case r.Skipped:
		verdict = "skip"
	}
	took := ""
	if r.Took >= 100*time.Millisecond {
		took = fmt.Sprintf(" (%d ms)", r.Took.Milliseconds())
	}
	fmt.Fprintf(a.stderr, "%s  %s%s\n", verdict, name, took)
	for _, line := range r.Log {
		fmt.Fprintf(a.stderr, "      | %s\n", under(line, "      | "))
	}
	if r.Failed() {
		fmt.Fprintf(a.stderr, "      %s\n", under(r.Error, "      "))
	}
	for _, frame := range r.Trace {
		fmt.Fprintf(a.stderr, "      at %s\n", frame)
	}
}

// under is a text whose further lines begin as the first one does.
func under(text, with string) string { return strings.ReplaceAll(text, "\n", "\n"+with) }

// reaches reports whether a URL is at one of the hosts.
func reaches(hosts []string, url string) bool {
	set, err := egress.ParseHosts(hosts...)
	return err == nil && set.Allows(url)
}

// testCache is where the interpreter is kept compiled for the next run of tests:
// with the user's other caches, since there need not be a data folder. Without one
// it is compiled every time.
func testCache() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	dir = filepath.Join(dir, "armature")
	if os.MkdirAll(dir, 0o700) != nil {
		return ""
	}
	f, err := os.CreateTemp(dir, "writable-*")
	if err != nil {
		return ""
	}
	if errors.Join(f.Close(), os.Remove(f.Name())) != nil {
		return ""
	}
	return dir
}
