// Package browser drives the pages of a running server in headless Chromium, as
// a person would. It is a module of its own, so that the library that speaks to
// the browser is no dependency of the product.
package browser

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
	"regexp"
	"strings"
	"syscall"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx
)

// password is that of every user of these tests.
const password = "correct horse battery"

// binary is the program under test, built once.
var binary string

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "armature-browser-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if binary = os.Getenv("ARMATURE_TEST_BINARY"); binary == "" { // which make test builds once for all
		binary = filepath.Join(dir, "armature")
		if out, err := exec.Command("go", "build", "-C", "../../..", "-o", binary, "./cmd/armature").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
			return 1
		}
	}
	defer stopChromium()
	return m.Run()
}

// server is a running server with one site.
type server struct {
	t             *testing.T
	origin        string
	data          string
	env           []string
	authorization string // of the Administrator
}

// eachDatabase runs a test with a server on SQLite and with one on PostgreSQL, where
// there is one.
func eachDatabase(t *testing.T, test func(t *testing.T, s *server)) {
	t.Run("SQLite", func(t *testing.T) { test(t, serve(t)) })
	t.Run("PostgreSQL", func(t *testing.T) {
		postgres := os.Getenv("ARMATURE_TEST_POSTGRES")
		switch {
		case postgres == "" && os.Getenv("CI") != "":
			t.Fatal("ARMATURE_TEST_POSTGRES is not set")
		case postgres == "":
			t.Skip("ARMATURE_TEST_POSTGRES is not set")
		}
		test(t, serve(t, "ARMATURE_DATABASE="+newDatabase(t, postgres)))
	})
}

// newDatabase makes an empty database that is dropped when the test ends.
func newDatabase(t *testing.T, postgres string) string {
	t.Helper()
	db, err := sql.Open("pgx", postgres)
	if err != nil {
		t.Fatal(err)
	}
	name := "armature_browser_" + strings.ToLower(rand.Text()[:10])
	if _, err := db.ExecContext(t.Context(), "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		defer db.Close()
		if _, err := db.ExecContext(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	u, err := url.Parse(postgres)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}

// serve runs the server on an empty folder until the test ends, with more variables of
// its environment.
func serve(t *testing.T, env ...string) *server {
	t.Helper()
	s := &server{t: t, data: t.TempDir(), env: append(os.Environ(), env...)}
	cmd := exec.Command(binary, "serve", "--data", s.data, "--listen", "127.0.0.1:0")
	cmd.Env = s.env
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("the server's log:\n%s", log.String())
		}
	})
	lines := bufio.NewScanner(out)
	for s.origin == "" && lines.Scan() {
		s.origin = regexp.MustCompile(`http://\S+`).FindString(lines.Text())
	}
	if s.origin == "" {
		t.Fatal("the server did not say where it serves")
	}
	go io.Copy(io.Discard, out) // until the server ends
	var keys struct {
		Key    string `json:"api_key"`
		Secret string `json:"api_secret"`
	}
	if err := json.Unmarshal(s.command("", "user", "keys", "Administrator"), &keys); err != nil {
		t.Fatal(err)
	}
	s.authorization = "token " + keys.Key + ":" + keys.Secret
	return s
}

// command runs the program on the server's data.
func (s *server) command(in string, args ...string) []byte {
	s.t.Helper()
	cmd := exec.Command(binary, append(args, "--data", s.data, "--json")...)
	cmd.Env = s.env
	cmd.Stdin = strings.NewReader(in)
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return out
}

// user makes a user who can log in.
func (s *server) user(email, first, last string, roles ...string) {
	s.t.Helper()
	args := []string{"user", "add", email, "--first-name", first, "--last-name", last}
	for _, r := range roles {
		args = append(args, "--role", r)
	}
	s.command("", args...)
	s.command(password+"\n", "user", "password", email)
}

// api makes a request as the Administrator and returns what is under "data" or
// "message".
func (s *server) api(verb, path string, body any) any {
	s.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(s.t.Context(), verb, s.origin+path, bytes.NewReader(text))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", s.authorization)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	answer := map[string]any{}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || res.StatusCode > 299 {
		s.t.Fatalf("%s %s: %d %v %v", verb, path, res.StatusCode, err, answer)
	}
	if data, ok := answer["data"]; ok {
		return data
	}
	return answer["message"]
}

// configure sets a key of the site's configuration.
func (s *server) configure(key, value string) {
	s.t.Helper()
	s.command("", "site", "config", "default", "set", key, value)
}
