// Package pgserver runs PostgreSQL servers of a test's own, which it may end, and
// standbys that follow them.
package pgserver

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"armature/core/serve/loopback"
)

// Server is a PostgreSQL server on loopback.
type Server struct {
	URL string // of its database, whose owner needs no password

	bin, dir string
	options  string // with which it starts
}

// Start makes a server that runs until the test ends. Without the programs the test is
// skipped, except on a build machine, where everything must be there.
func Start(t testing.TB) *Server {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		if os.Getenv("CI") != "" {
			t.Fatal("PostgreSQL is not installed")
		}
		t.Skip("PostgreSQL is not installed")
	}
	s := &Server{bin: filepath.Dir(found[len(found)-1])}
	var err error
	if s.dir, err = os.MkdirTemp("/tmp", "armature-postgres-"); err != nil { // a socket's path is short
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(s.dir) })
	if err := giveToNobody(s.dir); err != nil {
		t.Fatal(err)
	}
	s.Run(t, "initdb", "-D", s.Data(), "-U", "armature", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	host, port := s.begin(t)
	s.Run(t, "createdb", "-h", host, "-p", port, "-U", "armature", "armature")
	return s
}

// begin starts the server for the first time.
func (s *Server) begin(t testing.TB) (host, port string) {
	t.Helper()
	host, port, _ = net.SplitHostPort(loopback.Free(t))
	s.options = fmt.Sprintf("-c listen_addresses=%s -c port=%s -c unix_socket_directories=%s -c max_connections=200", host, port, s.dir)
	s.Continue(t)
	t.Cleanup(func() { s.Stop(t) })
	s.URL = "postgres://armature@" + net.JoinHostPort(host, port) + "/armature?sslmode=disable"
	return host, port
}

// Standby makes a server that follows s.
func (s *Server) Standby(t testing.TB) *Server {
	t.Helper()
	dir, err := os.MkdirTemp(s.dir, "standby-")
	if err != nil {
		t.Fatal(err)
	}
	if err := giveToNobody(dir); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	other := &Server{bin: s.bin, dir: dir}
	s.Run(t, "pg_basebackup", "-h", u.Hostname(), "-p", u.Port(), "-U", "armature", "-D", other.Data(), "-R", "-X", "stream", "-c", "fast", "--no-sync")
	other.begin(t)
	return other
}

// Data is the folder of the server's data.
func (s *Server) Data() string { return filepath.Join(s.dir, "data") }

// Run runs one of PostgreSQL's programs to its end.
func (s *Server) Run(t testing.TB, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir = s.dir
	AsNobody(cmd)
	// Output goes to a file: the server keeps what it inherits open.
	out, err := os.CreateTemp(t.TempDir(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	err = cmd.Run()
	text, _ := os.ReadFile(out.Name())
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, text)
	}
	return strings.TrimSpace(string(text))
}

// SQL runs statements and returns what they answer.
func (s *Server) SQL(t testing.TB, text string) string {
	t.Helper()
	return s.Run(t, "psql", "-X", "-q", "-A", "-t", "-d", s.URL, "-c", text)
}

// Stop ends the server at once, if it runs.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(s.Data(), "postmaster.pid")); err == nil {
		s.Run(t, "pg_ctl", "-D", s.Data(), "-w", "-m", "immediate", "stop")
	}
}

// Continue starts a server that was stopped.
func (s *Server) Continue(t testing.TB) {
	t.Helper()
	s.Run(t, "pg_ctl", "-D", s.Data(), "-w", "-t", "60", "-l", filepath.Join(s.dir, "log"), "start", "-o", s.options)
}

// Crash ends the server as a power cut does and starts it again.
func (s *Server) Crash(t testing.TB) {
	t.Helper()
	s.Run(t, "pg_ctl", "-D", s.Data(), "-w", "-t", "60", "-m", "immediate", "-l", filepath.Join(s.dir, "log"), "restart")
}

// Promote has a standby follow nobody any more.
func (s *Server) Promote(t testing.TB) {
	t.Helper()
	s.Run(t, "pg_ctl", "-D", s.Data(), "-w", "promote")
}
