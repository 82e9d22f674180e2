package armaturetest

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"armature/cmd/armature/transcript"
)

// Walk is somebody who follows the READMEs of examples: in one shell, beside a
// copy of the example's folder, with the program on the path.
type Walk struct {
	*Installation
	Server   *Server // nil until a command needs it
	Examples string  // a copy of the folders that are walked through
	shell    *exec.Cmd
	stdin    io.WriteCloser
	stdout   *bufio.Reader
}

// perCommand is how long a command may take; some of them are compilers.
const perCommand = 10 * time.Minute

// Walk begins a walk. The variables are for the shell beside those every README
// takes for granted: DATA, the server's folder, and URL, its address.
func (in *Installation) Walk(variables ...string) *Walk {
	t := in.T
	t.Helper()
	Compiler(t, "bash", "apt-get install bash")
	Compiler(t, "curl", "apt-get install curl")
	w := &Walk{Installation: in, Examples: filepath.Join(t.TempDir(), "examples")}
	// The SDKs are where the examples look for them.
	if err := os.Symlink(filepath.Join(Root(t), "sdk"), filepath.Join(filepath.Dir(w.Examples), "sdk")); err != nil {
		t.Fatal(err)
	}
	in.Run("site", "new", "default") // says the password of Administrator once
	w.shell = exec.Command("bash", "--noprofile", "--norc")
	w.shell.Env = append(in.Command().Env, variables...)
	w.shell.Env = append(w.shell.Env, "DATA="+in.Data, "PATH="+filepath.Dir(binary)+string(os.PathListSeparator)+cmp.Or(in.Path, os.Getenv("PATH")))
	var err error
	if w.stdin, err = w.shell.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := w.shell.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	w.stdout = bufio.NewReader(stdout)
	if err := w.shell.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = w.shell.Process.Kill()
		_ = w.shell.Wait()
	})
	return w
}

// Follow does what the README of an example says, in the sections that are
// named or in all of them.
func (w *Walk) Follow(example string, sections ...string) {
	w.T.Helper()
	dir := filepath.Join(w.Examples, example)
	if _, err := os.Stat(dir); err != nil {
		if err := os.CopyFS(dir, os.DirFS(filepath.Join(Root(w.T), "examples", example))); err != nil {
			w.T.Fatal(err)
		}
	}
	w.Readme(dir, "examples/"+example, sections...)
}

// Readme does what the README in a folder says.
func (w *Walk) Readme(dir, shown string, sections ...string) {
	w.T.Helper()
	if out, err := w.Enter(fmt.Sprintf("cd '%s'", dir)); err != nil {
		w.T.Fatal(err, out)
	}
	w.Text(filepath.Join(dir, "README.md"), dir, shown+"/README.md", sections...)
}

// address is where a text says that the server is which make run starts; the one of the
// test is elsewhere.
const address = "http://127.0.0.1:8000"

// Text does what a file of Markdown says, in a folder in which the shell is already.
// Files that it names are written there, but those of the repository's examples: it
// quotes them, letter by letter.
func (w *Walk) Text(file, dir, shown string, sections ...string) {
	w.T.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		w.T.Fatal(err)
	}
	steps, err := transcript.Read(string(text))
	if err != nil {
		w.T.Fatalf("%s: %v", shown, err)
	}
	done := map[string]int{}
	for _, step := range steps {
		if len(sections) > 0 && !slices.Contains(sections, step.Section) {
			continue
		}
		done[step.Section]++
		if step.File != "" {
			w.file(dir, shown, step)
		} else {
			w.step(shown, step)
		}
		if strings.Contains(step.Command+step.File, "/plugins/") && w.Server != nil {
			w.loaded()
		}
	}
	if len(done) == 0 || len(sections) > 0 && len(done) != len(sections) {
		w.T.Fatalf("%s has no commands in %v", shown, sections)
	}
}

// step enters a command and compares what comes back.
func (w *Walk) step(shown string, step transcript.Step) {
	w.T.Helper()
	if w.Server == nil && (strings.Contains(step.Command, "$URL") || strings.Contains(step.Command, address)) {
		w.Start()
	}
	command := step.Command
	if w.Server != nil {
		command = strings.ReplaceAll(command, address, w.Server.URL)
	}
	out, err := w.Enter(command)
	if w.Server != nil {
		out = strings.ReplaceAll(out, w.Server.URL, address)
	}
	if err == nil {
		err = transcript.Match(out, step.Want)
	}
	if err != nil {
		w.T.Fatalf("%s:%d: %v\n$ %s\n%s", shown, step.Line, err, step.Command, out)
	}
}

// file writes a file that a text shows whole, or looks whether it quotes it rightly.
func (w *Walk) file(dir, shown string, step transcript.Step) {
	w.T.Helper()
	if strings.HasPrefix(step.File, "examples/") {
		quoted, err := os.ReadFile(filepath.Join(Root(w.T), filepath.FromSlash(step.File)))
		if err != nil || !strings.Contains(string(quoted), step.Text) {
			w.T.Fatalf("%s:%d is not what %s says: %v", shown, step.Line, step.File, err)
		}
		return
	}
	to := filepath.Join(dir, filepath.FromSlash(step.File))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		w.T.Fatal(err)
	}
	Put(w.T, to, []byte(step.Text))
}

// Start starts the server that a README takes for granted.
func (w *Walk) Start() {
	w.T.Helper()
	w.Server = w.Serve()
	// A user of its own: new keys of Administrator's would end those the README makes.
	w.Run("user", "add", "watcher@example.com", "--role", "System Manager")
	w.Server.Auth = w.Keys("watcher@example.com")
	w.loaded()
	if _, err := w.Enter("URL=" + w.Server.URL); err != nil {
		w.T.Fatal(err)
	}
}

// loaded waits until the server serves what is in its folder.
func (w *Walk) loaded() {
	w.T.Helper()
	entries, err := os.ReadDir(filepath.Join(w.Data, "plugins"))
	if err != nil {
		w.T.Fatal(err)
	}
	if len(entries) == 0 {
		return
	}
	Eventually(w.T, "the plugins in the folder serve", func() bool {
		serving := 0
		for _, p := range w.Server.Want("GET", "/api/method/framework.plugins.list", nil).([]any) {
			if p := p.(map[string]any); filepath.IsAbs(fmt.Sprint(p["source"])) && p["status"] != "Failed" {
				serving++
			}
		}
		return serving == len(entries)
	})
}

// Enter has the shell run a command and returns what it printed on either
// stream. It fails where the command does.
func (w *Walk) Enter(command string) (string, error) {
	const end = "\x01"
	if _, err := fmt.Fprintf(w.stdin, "{ %s\n} </dev/null 2>&1\nprintf '%%s%%s\\n' '%s' $?\n", command, end); err != nil {
		return "", err
	}
	watchdog := time.AfterFunc(perCommand, func() { _ = w.shell.Process.Kill() })
	defer watchdog.Stop()
	out, err := w.stdout.ReadString(end[0])
	if err != nil {
		return out, fmt.Errorf("the shell has ended: %w", err)
	}
	status, err := w.stdout.ReadString('\n')
	if err == nil && status != "0\n" {
		err = fmt.Errorf("exit status %s", strings.TrimSpace(status))
	}
	return strings.TrimSuffix(out, end), err
}

// Variable is the value of a variable of the shell's.
func (w *Walk) Variable(name string) string {
	w.T.Helper()
	out, err := w.Enter(`printf %s "$` + name + `"`)
	if err != nil || out == "" {
		w.T.Fatalf("%s is %q: %v", name, out, err)
	}
	return out
}
