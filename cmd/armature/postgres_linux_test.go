package main_test

import (
	"database/sql"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// privatePostgres is a server of the test's own, which it may kill.
type privatePostgres struct{ bin, dir, url string }

func startPostgres(t *testing.T) *privatePostgres {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		if os.Getenv("CI") != "" {
			t.Fatal("PostgreSQL is not installed")
		}
		t.Skip("PostgreSQL is not installed")
	}
	p := &privatePostgres{bin: filepath.Dir(found[len(found)-1])}
	var err error
	if p.dir, err = os.MkdirTemp("/tmp", "armature-cluster-"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(p.dir) })
	if os.Getuid() == 0 {
		if err := os.Chown(p.dir, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	host, port, _ := net.SplitHostPort(freeAddress(t))
	p.run(t, "initdb", "-D", p.data(), "-U", "armature", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	p.run(t, "pg_ctl", "-D", p.data(), "-w", "-t", "60", "-l", filepath.Join(p.dir, "log"), "start", "-o",
		fmt.Sprintf("-c listen_addresses=%s -c port=%s -c unix_socket_directories=%s -c max_connections=100", host, port, p.dir))
	t.Cleanup(func() { p.stop(t) })
	p.run(t, "createdb", "-h", host, "-p", port, "-U", "armature", "armature")
	p.url = "postgres://armature@" + net.JoinHostPort(host, port) + "/armature?sslmode=disable"
	return p
}

// nobody is the user that PostgreSQL runs as where the test runs as root, which
// it refuses to.
const nobody = 65534

func (p *privatePostgres) data() string { return filepath.Join(p.dir, "data") }

func (p *privatePostgres) run(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(filepath.Join(p.bin, name), args...)
	cmd.Dir = p.dir
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	// Output goes to a file: the server keeps what it inherits open.
	out, err := os.CreateTemp(t.TempDir(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil {
		text, _ := os.ReadFile(out.Name())
		t.Fatalf("%s: %v\n%s", name, err, text)
	}
}

// stop ends the server at once, if it runs.
func (p *privatePostgres) stop(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(p.data(), "postmaster.pid")); err == nil {
		p.run(t, "pg_ctl", "-D", p.data(), "-w", "-m", "immediate", "stop")
	}
}

// crash ends the server as a power cut does and starts it again.
func (p *privatePostgres) crash(t *testing.T) {
	t.Helper()
	p.run(t, "pg_ctl", "-D", p.data(), "-w", "-t", "60", "-m", "immediate", "-l", filepath.Join(p.dir, "log"), "restart")
}

func (p *privatePostgres) schemaVersion(t *testing.T) (version int) {
	t.Helper()
	db, err := sql.Open("pgx", p.url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow("SELECT version FROM site_default.armature_schema").Scan(&version); err != nil {
		t.Fatal(err)
	}
	return version
}
