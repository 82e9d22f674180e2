// Package armaturetest runs the program under test from the outside: data folders,
// servers, plugins, and somebody who follows a README.
package armaturetest

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
)

// binary is the program under test, and compiled what its servers compile.
var binary, compiled string

// Main builds the program and runs the tests of a package: what its TestMain
// does. It returns the exit code. Where ARMATURE_TEST_BINARY names the program it is
// not built: make test does so once for all packages.
func Main(m *testing.M) int {
	dir, err := os.MkdirTemp("", "armature-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	compiled = filepath.Join(dir, "cache")
	if err := os.Mkdir(compiled, 0o700); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if binary = os.Getenv("ARMATURE_TEST_BINARY"); binary == "" {
		binary = filepath.Join(dir, "armature")
		build := exec.Command("go", "build", "-ldflags=-s -w", "-o", binary, "armature/cmd/armature")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
			return 1
		}
	}
	return m.Run()
}

// Installation is a data folder and the database it is used with.
type Installation struct {
	T        *testing.T
	Data     string
	Database string // empty: SQLite
	Env      []string
	Path     string // of the programs that are found; empty: the test's own
}

// New is an empty data folder with SQLite. Modules are compiled once for
// all of a package's installations: that takes longer than most tests do.
func New(t *testing.T) *Installation {
	t.Helper()
	data := t.TempDir()
	if err := os.Symlink(compiled, filepath.Join(data, "cache")); err != nil {
		t.Fatal(err)
	}
	return &Installation{T: t, Data: data}
}

// EachDatabase runs a test on every database there is. PostgreSQL is the one
// ARMATURE_TEST_POSTGRES names; where CI is set it must be there.
func EachDatabase(t *testing.T, fn func(t *testing.T, in *Installation)) {
	t.Run("sqlite", func(t *testing.T) {
		fn(t, New(t))
	})
	t.Run("postgres", func(t *testing.T) {
		server := os.Getenv("ARMATURE_TEST_POSTGRES")
		switch {
		case server == "" && os.Getenv("CI") != "":
			t.Fatal("ARMATURE_TEST_POSTGRES is not set")
		case server == "":
			t.Skip("ARMATURE_TEST_POSTGRES is not set")
		}
		in := New(t)
		in.Database = NewDatabase(t, server)
		fn(t, in)
	})
}

// NewDatabase makes an empty database that is dropped when the test ends.
func NewDatabase(t *testing.T, server string) string {
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

// Command is the program with arguments, on this installation.
func (in *Installation) Command(args ...string) *exec.Cmd {
	cmd := exec.Command(binary, args...)
	cmd.Env = append(append(environment(), "ARMATURE_DATA="+in.Data), in.Env...)
	if in.Path != "" {
		cmd.Env = append(cmd.Env, "PATH="+in.Path)
	}
	if in.Database != "" {
		cmd.Env = append(cmd.Env, "ARMATURE_DATABASE="+in.Database)
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

// Run runs a command to its end and returns what it printed.
func (in *Installation) Run(args ...string) string {
	in.T.Helper()
	out, stderr, err := in.Try("", args...)
	if err != nil {
		in.T.Fatalf("armature %s: %v\n%s", strings.Join(args, " "), err, stderr)
	}
	return out
}

func (in *Installation) Try(stdin string, args ...string) (stdout, stderr string, err error) {
	cmd := in.Command(args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// Keys gives a user a new secret and returns the Authorization header.
func (in *Installation) Keys(user string, flags ...string) string {
	in.T.Helper()
	var keys struct {
		Key    string `json:"api_key"`
		Secret string `json:"api_secret"`
	}
	if err := json.Unmarshal([]byte(in.Run(append([]string{"user", "keys", user}, flags...)...)), &keys); err != nil {
		in.T.Fatal(err)
	}
	return "token " + keys.Key + ":" + keys.Secret
}

// Serve starts a server and waits until it says where it listens.
func (in *Installation) Serve(args ...string) *Server {
	in.T.Helper()
	cmd := in.Command(append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	s := &Server{T: in.T, Process: cmd, Log: &Buffer{}, Done: make(chan error, 1)}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		in.T.Fatal(err)
	}
	cmd.Stderr = s.Log
	if err := cmd.Start(); err != nil {
		in.T.Fatal(err)
	}
	lines := bufio.NewReader(stdout)
	line, err := lines.ReadString('\n')
	go func() {
		_, _ = io.Copy(io.Discard, lines)
		s.Done <- cmd.Wait()
	}()
	in.T.Cleanup(s.Kill)
	if err != nil {
		<-s.Done
		s.Done <- nil
		in.T.Fatalf("the server did not start: %v\n%s", err, s.Log)
	}
	_, s.URL, _ = strings.Cut(strings.TrimSpace(line), "serves ")
	return s
}
