// Command gotest runs go test in some folders and prints what a person wants to
// read: a line for each package, the output of the tests that failed, and at the end
// what was skipped and why. Arguments before "--" are folders of modules, where with
// "=" a reason follows those that are left out; those after it go to go test.
//
// The first module is the large one. The others are tested beside it, one after the
// other and with half as many processes: many tests wait rather than compute, and
// together they keep the processors busy.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
)

func main() {
	modules, flags := os.Args[1:], []string(nil)
	if i := slices.Index(modules, "--"); i >= 0 {
		modules, flags = modules[:i], modules[i+1:]
	}
	r := &report{out: os.Stdout, skipped: map[string][]string{}}
	var dirs []string
	for _, module := range modules {
		dir, reason, out := strings.Cut(module, "=")
		if out {
			r.skipped[reason] = append(r.skipped[reason], dir)
		} else {
			dirs = append(dirs, dir)
		}
	}
	var lanes sync.WaitGroup
	if len(dirs) > 0 {
		lanes.Go(func() { r.test(dirs[0], flags) })
		lanes.Go(func() {
			few := fmt.Sprint("-p=", max(1, runtime.GOMAXPROCS(0)/2))
			for _, dir := range dirs[1:] {
				r.test(dir, append([]string{few}, flags...))
			}
		})
	}
	lanes.Wait()
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
	mu      sync.Mutex
	out     io.Writer
	passes  int                 // tests
	fails   int                 // tests
	skips   int                 // tests
	failed  []string            // packages
	skipped map[string][]string // tests, and modules that were left out, by reason
	took    []duration
}

// duration is how long a test took, with those inside of it.
type duration struct {
	seconds float64
	test    string
}

// longest is how many tests are listed by how long they took.
const longest = 20

// test tests one module, and says what kept it from being tested.
func (r *report) test(dir string, flags []string) {
	m := &module{r: r, output: map[string][]string{}}
	err := m.run(dir, flags)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		fmt.Fprintf(r.out, "%s: %v\n", dir, err)
		r.failed = append(r.failed, dir)
		return
	}
	fmt.Fprintf(r.out, "== %s is tested\n", dir)
}

// module is one that is being tested.
type module struct {
	r      *report
	output map[string][]string // by package and test
	fails  int                 // packages
}

// run tests a module. Tests that fail are no error of its.
func (m *module) run(dir string, flags []string) error {
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
			m.line(line)
		}
		if err != nil {
			break
		}
	}
	if err := cmd.Wait(); err != nil && m.fails == 0 {
		return err
	}
	return nil
}

func (m *module) line(line []byte) {
	r := m.r
	r.mu.Lock()
	defer r.mu.Unlock()
	var e event
	if err := json.Unmarshal(line, &e); err != nil {
		fmt.Fprintf(r.out, "%s", line) // go itself complains
		return
	}
	key := e.Package + " " + e.Test
	switch e.Action {
	case "output":
		m.output[key] = append(m.output[key], e.Output)
	case "build-output":
		fmt.Fprint(r.out, e.Output)
	case "skip":
		if e.Test != "" {
			reason := m.reason(key)
			r.skipped[reason] = append(r.skipped[reason], e.Package+" "+e.Test)
			r.skips++
		}
	case "fail":
		m.fail(e, key)
	case "pass":
		if e.Test != "" {
			r.passes++
			if !strings.Contains(e.Test, "/") {
				r.took = append(r.took, duration{e.Elapsed, e.Package + " " + e.Test})
			}
		} else {
			fmt.Fprintf(r.out, "ok    %7.2fs  %s\n", e.Elapsed, e.Package)
		}
	}
	if e.Action == "pass" || e.Action == "skip" {
		delete(m.output, key)
	}
}

func (m *module) fail(e event, key string) {
	r := m.r
	if e.Test == "" {
		m.fails++
		fmt.Fprintf(r.out, "FAIL  %7.2fs  %s\n", e.Elapsed, e.Package)
		r.failed = append(r.failed, e.Package)
		// A test that never ended has its output here: a panic, a time-out.
		for other, output := range m.output {
			if other != key && strings.HasPrefix(other, e.Package+" ") {
				fmt.Fprint(r.out, strings.Join(output, ""))
			}
		}
	} else {
		r.fails++
	}
	fmt.Fprint(r.out, strings.Join(m.output[key], ""))
	delete(m.output, key)
}

// reason is the last thing a skipped test said.
func (m *module) reason(key string) string {
	reason := "no reason given"
	for _, line := range m.output[key] {
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
	slices.SortFunc(r.took, func(a, b duration) int { return cmp.Compare(b.seconds, a.seconds) })
	fmt.Fprintln(r.out, "== the longest")
	for _, d := range r.took[:min(longest, len(r.took))] {
		fmt.Fprintf(r.out, "%8.2fs  %s\n", d.seconds, d.test)
	}
	fmt.Fprintf(r.out, "%d passed, %d failed, %d skipped\n", r.passes, r.fails, r.skips)
	if len(r.failed) > 0 {
		fmt.Fprintf(r.out, "== FAILED: %s\n", strings.Join(r.failed, ", "))
		return 1
	}
	fmt.Fprintln(r.out, "== all tests passed")
	return 0
}
