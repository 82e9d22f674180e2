package main_test

import (
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"armature/cmd/armature/armaturetest"
)

// TestMistakes: what went wrong is said once, by words, by the code the program ends
// with, and as JSON for a program that asks for it; and nothing is made on the way.
func TestMistakes(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, tt := range []struct {
		args string
		code int
		want string
	}{
		{"sit list", 2, `there is no command "armature sit"`},
		{"sit list", 2, "did you mean armature site?"},
		{"site lst", 2, "did you mean armature site list?"},
		{"plugin frobnicate", 2, "armature plugin --help lists them"},
		{"site list --dta x", 2, "unknown flag: --dta"},
		{"site config", 2, "arg(s)"},
		{"site migrate", 2, "name a site, or --all"},
		{"site drop default", 2, "repeat with --yes"},
		{"site list --config missing.json", 2, "missing.json"},
		{"plugin list --url ftp://x", 2, "expected the address of a site"},
		{"serve --log-format xml", 2, "use text or json"},
		{"serve --database mysql://u:hunter2@db/x", 2, "--database mysql: sites are in PostgreSQL"},
		{"site list --database mysql://u:hunter2@db/x", 2, "--database mysql: sites are in PostgreSQL"},
		{"serve --database-replica postgres://u:hunter2@db/x", 2, "--database-replica: replicas are of a PostgreSQL database"},
		{"serve --database postgres://db/x --database-replica mysql://u:hunter2@db/x", 2, "--database-replica: a replica is a URL"},
		{"serve --database postgres://db/x --database-replica postgres://u:hunter2@db:x/x", 2, "--database-replica: "},
		{"plugin list", 3, "There is no site in"},
		{"plugin approve acme.x", 3, "There is no site in"},
		{"plugin list --site shop", 3, "Site shop does not exist"},
		{"site config shop", 3, "Site shop does not exist"},
		{"plugin inspect nothing.wasm", 3, "nothing.wasm"},
		{"serve --listen " + taken.Addr().String(), 4, "another server has the port"},
		{"plugin list --url http://127.0.0.1:1 --api-key a:b", 5, "does the server run?"},
		{"user keys Administrator --scope all", 2, "--name"},
		{"site list --database postgres://127.0.0.1:1/x?connect_timeout=1", 5, "The database is not available"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			in := &armaturetest.Installation{T: t, Data: filepath.Join(t.TempDir(), "data")}
			for _, flags := range [][]string{nil, {"--json"}} {
				stdout, stderr, err := in.Try("", append(strings.Fields(tt.args), flags...)...)
				var ended *exec.ExitError
				if !errors.As(err, &ended) || ended.ExitCode() != tt.code {
					t.Errorf("it ended with %v, not %d", err, tt.code)
				}
				said := stderr
				if flags != nil {
					said = failureOf(t, stderr, tt.code)
				}
				if stdout != "" || strings.Count(said, tt.want) != 1 || strings.Contains(said, "hunter2") {
					t.Errorf("it said %q, and as a result %q", said, stdout)
				}
			}
			if left, err := os.ReadDir(in.Data); err == nil && !strings.Contains(tt.args, "postgres") {
				t.Errorf("it made %v", left)
			}
		})
	}
}

// failureOf reads what a program is told.
func failureOf(t *testing.T, stderr string, code int) string {
	t.Helper()
	var failed struct {
		Code    int    `json:"exit_code"`
		Message string `json:"message"`
		Hint    string `json:"hint"`
	}
	if err := json.Unmarshal([]byte(stderr), &failed); err != nil || failed.Code != code || failed.Message == "" {
		t.Errorf("a program is told %q", stderr)
	}
	return failed.Message + "\n" + failed.Hint
}

// Where a database is away the server says so once, as the end of its start.
func TestDatabaseAwayIsSaidOnce(t *testing.T) {
	t.Parallel()
	in := &armaturetest.Installation{T: t, Data: t.TempDir()}
	_, stderr, err := in.Try("", "serve", "--listen", "127.0.0.1:0", "--database", "postgres://127.0.0.1:1/x")
	if err == nil || strings.Count(stderr, "The database is not available") != 1 {
		t.Errorf("%v: %s", err, stderr)
	}
}

func TestVersionFlag(t *testing.T) {
	t.Parallel()
	in := armaturetest.New(t)
	if flag, command := in.Run("--version"), in.Run("version"); flag != command || !strings.HasPrefix(flag, "armature ") {
		t.Errorf("--version says %q, version %q", flag, command)
	}
}
