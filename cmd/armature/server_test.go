package main_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
)

// binary is the program under test, built once.
var binary string

func TestMain(m *testing.M) {
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "armature-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "armature")
	build := exec.Command("go", "build", "-o", binary, ".")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// installation is a data folder and the database it is used with.
type installation struct {
	t        *testing.T
	data     string
	database string // empty: SQLite
	env      []string
}

// eachDatabase runs a test on every database there is. PostgreSQL is the one
// ARMATURE_TEST_POSTGRES names; where CI is set it must be there.
func eachDatabase(t *testing.T, fn func(t *testing.T, in *installation)) {
	t.Run("sqlite", func(t *testing.T) {
		fn(t, &installation{t: t, data: t.TempDir()})
	})
	t.Run("postgres", func(t *testing.T) {
		server := os.Getenv("ARMATURE_TEST_POSTGRES")
		switch {
		case server == "" && os.Getenv("CI") != "":
			t.Fatal("ARMATURE_TEST_POSTGRES is not set")
		case server == "":
			t.Skip("ARMATURE_TEST_POSTGRES is not set")
		}
		fn(t, &installation{t: t, data: t.TempDir(), database: newDatabase(t, server)})
	})
}

// newDatabase makes an empty database that is dropped when the test ends.
func newDatabase(t *testing.T, server string) string {
	t.Helper()
	db, err := sql.Open("pgx", server)
	if err != nil {
		t.Fatal(err)
	}
	name := "armature_e2e_" + strings.ToLower(rand.Text()[:10])
	if _, err := db.ExecContext(t.Context(), "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		defer db.Close()
		if _, err := db.ExecContext(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}

// command is the program with arguments, on this installation.
func (in *installation) command(args ...string) *exec.Cmd {
	cmd := exec.Command(binary, args...)
	cmd.Env = append(append(environment(), "ARMATURE_DATA="+in.data), in.env...)
	if in.database != "" {
		cmd.Env = append(cmd.Env, "ARMATURE_DATABASE="+in.database)
	}
	return cmd
}

// environment is the test's own without what would change the program.
func environment() []string {
	var env []string
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "ARMATURE_") {
			env = append(env, e)
		}
	}
	return env
}

// run runs a command to its end and returns what it printed.
func (in *installation) run(args ...string) string {
	in.t.Helper()
	out, stderr, err := in.try("", args...)
	if err != nil {
		in.t.Fatalf("armature %s: %v\n%s", strings.Join(args, " "), err, stderr)
	}
	return out
}

func (in *installation) try(stdin string, args ...string) (stdout, stderr string, err error) {
	cmd := in.command(args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// keys gives a user a new secret and returns the Authorization header.
func (in *installation) keys(user string, flags ...string) string {
	in.t.Helper()
	var keys struct {
		Key    string `json:"api_key"`
		Secret string `json:"api_secret"`
	}
	if err := json.Unmarshal([]byte(in.run(append([]string{"user", "keys", user}, flags...)...)), &keys); err != nil {
		in.t.Fatal(err)
	}
	return "token " + keys.Key + ":" + keys.Secret
}

// server is a running armature serve.
type server struct {
	t    *testing.T
	cmd  *exec.Cmd
	url  string
	auth string
	log  *lockedBuffer
	done chan error
}

// serve starts a server and waits until it says where it listens.
func (in *installation) serve(args ...string) *server {
	in.t.Helper()
	cmd := in.command(append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	s := &server{t: in.t, cmd: cmd, log: &lockedBuffer{}, done: make(chan error, 1)}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		in.t.Fatal(err)
	}
	cmd.Stderr = s.log
	if err := cmd.Start(); err != nil {
		in.t.Fatal(err)
	}
	lines := bufio.NewReader(stdout)
	line, err := lines.ReadString('\n')
	go func() {
		_, _ = io.Copy(io.Discard, lines)
		s.done <- cmd.Wait()
	}()
	in.t.Cleanup(s.kill)
	if err != nil {
		<-s.done
		s.done <- nil
		in.t.Fatalf("the server did not start: %v\n%s", err, s.log)
	}
	_, s.url, _ = strings.Cut(strings.TrimSpace(line), "serves ")
	return s
}

// kill ends the server without any warning.
func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	err := <-s.done
	s.done <- err
}

// stop asks the server to end and waits for it.
func (s *server) stop() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	err := <-s.done
	s.done <- err
	if err != nil {
		s.t.Errorf("after SIGTERM: %v\n%s", err, s.log)
	}
}

// call sends a request with the server's credentials and returns the status and
// the decoded answer.
func (s *server) call(verb, path string, body any) (int, map[string]any) {
	s.t.Helper()
	return s.callAs(s.auth, verb, path, body)
}

func (s *server) callAs(auth, verb, path string, body any) (int, map[string]any) {
	s.t.Helper()
	var text io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			s.t.Fatal(err)
		}
		text = bytes.NewReader(b)
	}
	r, err := http.NewRequestWithContext(s.t.Context(), verb, s.url+path, text)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if auth != "" {
		r.Header.Set("Authorization", auth)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatalf("%s %s: %v\n%s", verb, path, err, s.log)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	var answer map[string]any
	if err := json.Unmarshal(raw, &answer); err != nil {
		s.t.Fatalf("%s %s: %d, not JSON: %q", verb, path, resp.StatusCode, raw)
	}
	return resp.StatusCode, answer
}

// want sends a request, fails unless it succeeds and returns its data or
// message.
func (s *server) want(verb, path string, body any) any {
	s.t.Helper()
	status, answer := s.call(verb, path, body)
	if status/100 != 2 {
		s.t.Fatalf("%s %s: %d %v\n%s", verb, path, status, answer, s.log)
	}
	if data, ok := answer["data"]; ok {
		return data
	}
	return answer["message"]
}

// eventually tries until cond holds: for what another process does in its own
// time.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !cond(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 20 seconds: %s", what)
		}
	}
}

// lockedBuffer collects what a process writes while the test reads it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
