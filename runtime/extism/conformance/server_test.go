package conformance

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// server is the one that all tests use, as one test sees it.
type server struct {
	t              *testing.T
	binary, data   string
	origin, tokens string
}

// serve returns the server, which runs until the last test has ended.
func serve(t *testing.T) *server {
	t.Helper()
	running, err := started()
	if err != nil {
		t.Fatal(err)
	}
	s := *running
	s.t = t
	return &s
}

var (
	folder  string    // where the server and its data are
	process *exec.Cmd // the server, once a test has asked for it
)

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "extism"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if process != nil {
		_ = process.Process.Signal(syscall.SIGTERM)
		_ = process.Wait()
	}
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

// started builds the server and starts it on an empty folder.
var started = sync.OnceValues(func() (*server, error) {
	s := &server{data: filepath.Join(folder, "data"), binary: os.Getenv("ARMATURE_TEST_BINARY")}
	if s.binary == "" { // which make test builds once for all
		s.binary = filepath.Join(folder, "armature")
		if out, err := exec.Command("go", "build", "-C", "../../..", "-o", s.binary, "./cmd/armature").CombinedOutput(); err != nil {
			return nil, fmt.Errorf("build the server: %w\n%s", err, out)
		}
	}
	cmd := exec.Command(s.binary, "serve", "--data", s.data, "--listen", "127.0.0.1:0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	process = cmd
	lines := bufio.NewScanner(out)
	for s.origin == "" && lines.Scan() {
		s.origin = regexp.MustCompile(`http://\S+`).FindString(lines.Text())
	}
	if s.origin == "" {
		return nil, errors.New("the server did not say where it serves")
	}
	go io.Copy(io.Discard, out) // until the server ends
	text, err := exec.Command(s.binary, "user", "keys", "Administrator", "--json", "--data", s.data).Output()
	if err != nil {
		return nil, err
	}
	var keys struct {
		Key    string `json:"api_key"`
		Secret string `json:"api_secret"`
	}
	if err := json.Unmarshal(text, &keys); err != nil {
		return nil, err
	}
	s.tokens = "token " + keys.Key + ":" + keys.Secret
	return s, nil
})

// run runs a command beside the server.
func (s *server) run(args ...string) []byte {
	s.t.Helper()
	cmd := exec.Command(s.binary, append(args, "--data", s.data)...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("armature %s: %v\n%s%s", strings.Join(args, " "), err, out, said.String())
	}
	return out
}

// drop puts a plugin into the folder that the server watches, all at once.
func (s *server) drop(name string, manifest, wasm []byte) {
	s.t.Helper()
	made := filepath.Join(s.t.TempDir(), name)
	for file, content := range map[string][]byte{"armature.json": manifest, "plugin.wasm": wasm} {
		if err := os.MkdirAll(made, 0o700); err != nil {
			s.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(made, file), content, 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	target := filepath.Join(s.data, "plugins", name)
	if err := os.RemoveAll(target); err != nil {
		s.t.Fatal(err)
	}
	if err := os.CopyFS(target, os.DirFS(made)); err != nil {
		s.t.Fatal(err)
	}
}

// answer is what a method answers.
type answer struct {
	status  int
	Message json.RawMessage `json:"message"`
	Type    string          `json:"exc_type"`
	Exc     string          `json:"exc"`
}

// call calls a method with a body of that type.
func (s *server) call(path, media, body string, as ...string) answer {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.origin+"/api/method/"+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", media)
	if len(as) == 0 {
		req.Header.Set("Authorization", s.tokens)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	a := answer{status: res.StatusCode}
	text, err := io.ReadAll(res.Body)
	if err == nil {
		err = json.Unmarshal(text, &a)
	}
	if err != nil {
		s.t.Fatalf("%s answers %d %q: %v", path, res.StatusCode, text, err)
	}
	return a
}

// text calls a method with one text argument.
func (s *server) text(path, text string, as ...string) answer {
	s.t.Helper()
	body, err := json.Marshal(map[string]string{"text": text, "url": text})
	if err != nil {
		s.t.Fatal(err)
	}
	return s.call(path, "application/json", string(body), as...)
}

// want calls a method that must answer just that.
func (s *server) want(a answer, message string) {
	s.t.Helper()
	if a.status != http.StatusOK || string(a.Message) != message {
		s.t.Errorf("%d %s %s; want %s", a.status, a.Message, a.Exc, message)
	}
}

// refused checks that a call has failed so.
func (s *server) refused(a answer, status int, words string) {
	s.t.Helper()
	if a.status != status || !strings.Contains(a.Exc, words) {
		s.t.Errorf("%d %s %s; want %d and %q", a.status, a.Message, a.Exc, status, words)
	}
}

// plugins lists what serves.
func (s *server) plugins() map[string]bool {
	s.t.Helper()
	var list []struct {
		Name    string
		Serving json.RawMessage
	}
	a := s.call("framework.plugins.list", "application/json", "{}")
	if err := json.Unmarshal(a.Message, &list); err != nil {
		s.t.Fatalf("%s: %v", a.Message, err)
	}
	serving := map[string]bool{}
	for _, p := range list {
		serving[p.Name] = p.Serving != nil && string(p.Serving) != "null"
	}
	return serving
}

// eventually waits for something that the server does by itself.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if done() {
			return
		}
	}
	t.Fatalf("this does not happen: %s", what)
}

// need skips a test where a tool is missing, unless it is the machine that has to
// have it.
func need(t *testing.T, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err == nil {
			continue
		}
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s is not installed", tool)
		}
		t.Skipf("no plugin without %s", tool)
	}
}

// build runs a command that makes a module.
func build(t *testing.T, dir string, env []string, command ...string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "plugin.wasm")
	for i, word := range command {
		command[i] = strings.ReplaceAll(word, "OUT", out)
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", command, err, text)
	}
	wasm, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}
