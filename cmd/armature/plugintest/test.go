// Package plugintest is the commands that run tests: of plugins, and of SDKs.
package plugintest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"armature/cmd/armature/installation"
	"armature/plugins/bundle"
	"armature/plugins/script"
	"armature/plugins/testrun"
	"armature/plugins/toolchain"
	"armature/plugins/watch"
)

// group is the commands that run tests.
type group struct {
	*installation.Installation
}

// Commands are the commands that run tests of plugins and of SDKs.
func Commands(in *installation.Installation) []*cobra.Command {
	a := &group{in}
	return []*cobra.Command{a.testCommand(), a.execCommand(), a.conformanceCommand()}
}

func (g *group) testCommand() *cobra.Command {
	var again bool
	cmd := &cobra.Command{
		Use:   "test [DIR | SCRIPT]",
		Short: "Run a plugin's own tests",
		Long: "Run a plugin's own tests on real sites in this process, of which each test has a fresh one in memory with\n" +
			"the plugin installed: documents, permissions, hooks and naming are the server's, and what runs plugins\n" +
			"there runs them here. The time, randomness, who calls, settings and what URLs answer are the test's.\n\n" +
			"Go and Rust: the tests of the language, as WebAssembly (see plugin exec). C, C++, Zig, AssemblyScript and\n" +
			"WebAssembly text: the exports test.* of what each *_test.c, *_test.cpp, *_test.zig, assembly/*_test.ts or\n" +
			"*_test.wat is compiled to. JavaScript and TypeScript: test(name, function) in *.test.js or *.test.ts,\n" +
			"beside the script or in its folder. SCRIPT is a script, or one of its tests.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := "."
			if len(args) == 1 {
				path = args[0]
			}
			if again {
				return g.testAgain(cmd.Context(), path)
			}
			return g.testOnce(cmd.Context(), path)
		},
	}
	cmd.Flags().BoolVar(&again, "watch", false, "run them again whenever a file is saved")
	return cmd
}

// aheadOnce and aheadAgain are how many sites are made before tests need them: of
// tests that run again and again, those wait for somebody to save.
const (
	aheadOnce  = 2
	AheadAgain = 12
)

// testOnce runs the tests of a plugin.
func (g *group) testOnce(ctx context.Context, path string) error {
	t, err := NewTester(g.Installation, path, aheadOnce)
	if err != nil {
		return err
	}
	defer t.Close()
	var results []testrun.Result
	failed := 0
	err = t.Round(ctx, func(r testrun.Result) {
		results = append(results, r)
		if r.Failed() {
			failed++
		}
		g.showTest(r)
	})
	switch {
	case err != nil:
		return fmt.Errorf("test %s: %w", path, err)
	case failed == 0:
		return g.Say(map[string]any{"passed": true, "tests": results}, "the tests pass")
	case g.JSON:
		if err := g.PrintJSON(map[string]any{"passed": false, "tests": results}); err != nil {
			return err
		}
	}
	return fmt.Errorf("test %s: %d of %d tests fail", path, failed, len(results))
}

// testAgain runs the tests at once and whenever a file is saved, until ctx ends.
func (g *group) testAgain(ctx context.Context, path string) error {
	t, err := NewTester(g.Installation, path, AheadAgain)
	if err != nil {
		return err
	}
	defer t.Close()
	root := t.path
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		root = filepath.Dir(root)
	}
	tree, err := watch.FollowTree(root, watch.TreeConfig{Skip: toolchain.IsOutput})
	if err != nil {
		return err
	}
	defer tree.Close()
	for ctx.Err() == nil {
		g.testRound(ctx, t)
		select {
		case <-ctx.Done():
		case <-tree.Changed():
		}
	}
	return nil
}

// testRound runs the tests and says how they went, and how long that took.
func (g *group) testRound(ctx context.Context, t *Tester) {
	began, failed, all := time.Now(), 0, 0
	err := t.Round(ctx, func(r testrun.Result) {
		all++
		if r.Failed() {
			failed++
		}
		g.showTest(r)
	})
	if ctx.Err() != nil {
		return
	}
	took := time.Since(began)
	verdict := "the tests pass"
	switch {
	case err != nil:
		verdict = err.Error()
	case failed > 0:
		verdict = fmt.Sprintf("%d of %d tests fail", failed, all)
	}
	// Who reads this as JSON gets a line for each round.
	_ = g.Say(map[string]any{"passed": err == nil && failed == 0, "tests": all, "failed": failed, "ms": took.Milliseconds()},
		"%s  %s (%d ms)", began.Format(time.TimeOnly), verdict, took.Milliseconds())
}

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
	_, other := toolchain.Detect(path)
	_, none := testrun.Find(path)
	return other != nil && none == nil
}

// showTest prints how a test went where the tools of other languages print.
func (g *group) showTest(r testrun.Result) {
	if g.JSON {
		return
	}
	fmt.Fprint(g.Stderr, Text(r))
}

// Text is how a test went, as a person reads it.
func Text(r testrun.Result) string {
	var b strings.Builder
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
	fmt.Fprintf(&b, "%s  %s%s\n", verdict, name, took)
	for _, line := range r.Log {
		fmt.Fprintf(&b, "      | %s\n", under(line, "      | "))
	}
	if r.Failed() {
		fmt.Fprintf(&b, "      %s\n", under(r.Error, "      "))
	}
	for _, frame := range r.Trace {
		fmt.Fprintf(&b, "      at %s\n", frame)
	}
	return b.String()
}

// under is a text whose further lines begin as the first one does.
func under(text, with string) string { return strings.ReplaceAll(text, "\n", "\n"+with) }
