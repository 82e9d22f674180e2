// Command gotest runs go test in some folders, one after the other, and prints
// what a person wants to read: a line for each package, the output of the tests
// that failed, and at the end what was skipped and why. Arguments before "--"
// are folders of modules, where with "=" a reason follows those that are left out;
// those after it go to go test.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

func main() {
	modules, flags := os.Args[1:], []string(nil)
	if i := slices.Index(modules, "--"); i >= 0 {
		modules, flags = modules[:i], modules[i+1:]
	}
	r := &report{out: os.Stdout, skipped: map[string][]string{}}
	for _, module := range modules {
		dir, reason, out := strings.Cut(module, "=")
		if out {
			r.skipped[reason] = append(r.skipped[reason], dir)
			continue
		}
		fmt.Fprintf(r.out, "== %s\n", dir)
		if err := r.run(dir, flags); err != nil {
			fmt.Fprintf(r.out, "%s: %v\n", dir, err)
			r.failed = append(r.failed, dir)
		}
	}
	os.Exit(r.end())
}

// event is one line of go test -json.
type event struct {
	Action     string
	Package    string
	ImportPath string // of build output
	Test       string
	Output     string
	Elapsed    float64
}

// report is what has been seen so far.
type report struct {
	out     io.Writer
	output  map[string][]string // by package and test
	passes  int                 // tests
	fails   int                 // tests
	skips   int                 // tests
	failed  []string            // packages
	skipped map[string][]string // tests, and modules that were left out, by reason
}

// run tests one module. Tests that fail are no error of its.
func (r *report) run(dir string, flags []string) error {
	r.output = map[string][]string{}
	before := len(r.failed)
	cmd := exec.Command("go", append(append([]string{"test", "-json"}, flags...), "./...")...)
	cmd.Dir = dir
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewReader(stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			r.line(line)
		}
		if err != nil {
			break
		}
	}
	if err := cmd.Wait(); err != nil && len(r.failed) == before {
		return err
	}
	return nil
}

func (r *report) line(line []byte) {
	var e event
	if err := json.Unmarshal(line, &e); err != nil {
		fmt.Fprintf(r.out, "%s", line) // go itself complains
		return
	}
	key := e.Package + " " + e.Test
	switch e.Action {
	case "output":
		r.output[key] = append(r.output[key], e.Output)
	case "build-output":
		fmt.Fprint(r.out, e.Output)
	case "skip":
		if e.Test != "" {
			reason := r.reason(key)
			r.skipped[reason] = append(r.skipped[reason], e.Package+" "+e.Test)
			r.skips++
		}
	case "fail":
		r.fail(e, key)
	case "pass":
		if e.Test != "" {
			r.passes++
		} else {
			fmt.Fprintf(r.out, "ok    %7.2fs  %s\n", e.Elapsed, e.Package)
		}
	}
	if e.Action == "pass" || e.Action == "skip" {
		delete(r.output, key)
	}
}

func (r *report) fail(e event, key string) {
	if e.Test == "" {
		fmt.Fprintf(r.out, "FAIL  %7.2fs  %s\n", e.Elapsed, e.Package)
		r.failed = append(r.failed, e.Package)
		// A test that never ended has its output here: a panic, a time-out.
		for other, output := range r.output {
			if other != key && strings.HasPrefix(other, e.Package+" ") {
				fmt.Fprint(r.out, strings.Join(output, ""))
			}
		}
	} else {
		r.fails++
	}
	fmt.Fprint(r.out, strings.Join(r.output[key], ""))
	delete(r.output, key)
}

// reason is the last thing a skipped test said.
func (r *report) reason(key string) string {
	reason := "no reason given"
	for _, line := range r.output[key] {
		if _, text, ok := strings.Cut(line, ".go:"); ok {
			_, text, _ = strings.Cut(text, ": ")
			reason = strings.TrimSpace(text)
		}
	}
	return reason
}

// end prints the summary and returns the exit code.
func (r *report) end() int {
	if len(r.skipped) > 0 {
		fmt.Fprintln(r.out, "== skipped")
	}
	for reason, tests := range r.skipped {
		slices.Sort(tests)
		fmt.Fprintf(r.out, "%d because: %s\n    %s\n", len(tests), reason, strings.Join(tests, "\n    "))
	}
	fmt.Fprintf(r.out, "%d passed, %d failed, %d skipped\n", r.passes, r.fails, r.skips)
	if len(r.failed) > 0 {
		fmt.Fprintf(r.out, "== FAILED: %s\n", strings.Join(r.failed, ", "))
		return 1
	}
	fmt.Fprintln(r.out, "== all tests passed")
	return 0
}
