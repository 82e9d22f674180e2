package plugintest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"armature/cmd/armature/armaturetest"
	"armature/runtime/wasmtest"
)

// benchTests are tests of a plugin in Go that fail unless they run on a real site,
// which they say everything about. One of them fails all the same.
const benchTests = `package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"armature/sdk/go"
	"armature/sdk/go/armaturetest"
)

func TestFilters(t *testing.T) {
	s := armaturetest.New(t)
	s.Insert("ToDo", armature.Doc{"description": "Milk"})
	s.Insert("ToDo", armature.Doc{"description": "100% juice"})
	if _, err := armature.Insert("ToDo", armature.Doc{"description": "x", "status": "Nonsense"}); armature.KindOf(err) != armature.KindValidation {
		t.Errorf("a status that there is not: %v", err)
	}
	for _, tt := range []struct {
		filter armature.Filter
		want   int
	}{
		{armature.Eq("description", "Milk"), 1}, {armature.Eq("description", "milk"), 0}, {armature.Like("description", "100\\%%"), 1},
	} {
		if n, err := armature.Count("ToDo", tt.filter); err != nil || n != tt.want {
			t.Errorf("%v finds %d, %v", tt.filter, n, err)
		}
	}
}

func TestEachSiteIsFresh(t *testing.T) {
	for range 2 {
		s := armaturetest.New(t)
		if n, err := armature.Count("ToDo"); err != nil || n != 0 {
			t.Errorf("%d ToDos, %v", n, err)
		}
		s.Insert("ToDo", armature.Doc{"description": "x"})
		s.ActAs("zoe@example.com", "Blogger")
	}
}

func TestWhatIsGiven(t *testing.T) {
	s := armaturetest.New(t)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s.Clock(at)
	if got := armature.Now(); !got.Equal(at) {
		t.Errorf("it is %v", got)
	}
	todo := s.Insert("ToDo", armature.Doc{"description": "x"})
	if got := todo.String("date"); got != "2026-01-02" {
		t.Errorf("a default of today is %s", got)
	}
	s.Configure("limit", 5)
	if n, err := armature.Config[int]("limit"); err != nil || n != 5 {
		t.Errorf("the limit is %d, %v", n, err)
	}
	drawn := func(seed int64) string {
		var b [16]byte
		s.Seed(seed)
		armature.Random(b[:])
		return string(b[:])
	}
	if drawn(1) != drawn(1) || drawn(1) == drawn(2) {
		t.Error("randomness does not repeat by its seed")
	}
	s.Answer("https://x.example/", armaturetest.Answer{Status: 404, Body: []byte("no")})
	answer, err := armature.Fetch(armature.HTTPRequest{URL: "https://x.example/"})
	if err != nil || answer.Status != 404 || string(answer.Body) != "no" || len(s.Fetched()) != 1 {
		t.Errorf("the network answers %+v, %v", answer, err)
	}
	s.ActAs("zoe@example.com", "Blogger")
	if u, err := armature.Caller(); err != nil || u.Name != "zoe@example.com" || !u.Has("Blogger") {
		t.Errorf("%+v acts, %v", u, err)
	}
	s.ActAs("Guest")
	if err := s.Call("acme.fresh.hello", Greeting{Name: "Zoe"}, nil); err == nil {
		t.Error("a guest may call it")
	}
}

func TestProgram(t *testing.T) {
	if _, err := os.Stat("armature.json"); err != nil {
		t.Error(err) // it runs in its folder
	}
	if err := os.WriteFile(filepath.Join(t.TempDir(), "x"), []byte("x"), 0o600); err != nil {
		t.Error(err)
	}
	if _, err := os.ReadDir("/etc"); err == nil {
		t.Error("it reads the machine's folders")
	}
	if v := os.Getenv("ARMATURE_SECRET_KEY"); v != "" {
		t.Error("it has our settings")
	}
}

func TestFails(t *testing.T) { t.Error("on purpose") }
`

// TestPluginExec: the tests of a plugin run on real sites, know what they set and
// end with the exit code of go test.
func TestPluginExec(t *testing.T) {
	in := &armaturetest.Installation{T: t, Data: t.TempDir(), Env: append(armaturetest.Offline, "ARMATURE_SECRET_KEY="+strings.Repeat("ab", 32))}
	dir := filepath.Join(t.TempDir(), "acme.fresh")
	in.Run("plugin", "new", "acme.fresh", "--lang", "go", "--dir", dir)
	if err := os.WriteFile(filepath.Join(dir, "bench_test.go"), []byte(benchTests), 0o600); err != nil {
		t.Fatal(err)
	}
	_, stderr, err := in.Try("", "plugin", "test", dir)
	if err == nil || strings.Count(stderr, "--- FAIL") != 1 || !strings.Contains(stderr, "--- FAIL: TestFails") || !strings.Contains(stderr, "on purpose") {
		t.Errorf("%v\n%s", err, stderr)
	}
	if _, err := os.Stat(filepath.Join(in.Data, "site.db")); err == nil {
		t.Error("the tests have used the data folder")
	}
}

// TestServerHasNoTests: a server links nothing of what a test is offered.
func TestServerHasNoTests(t *testing.T) {
	in := armaturetest.New(t)
	dir := t.TempDir()
	wasm, err := wasmtest.Assemble(`(module
		(import "armature1_test" "act_as" (func $as (param i32 i32 i32 i32) (result i32)))
		(memory (export "memory") 1)
		(func (export "acme.spy.run") (param i32)))`)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"spy.wasm":      string(wasm),
		"armature.json": `{"name": "acme.spy", "version": "1", "abi": 1, "methods": [{"path": "acme.spy.run"}]}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, _, err := in.Try("", "plugin", "inspect", dir); err == nil || !strings.Contains(out, "error    ") || !strings.Contains(out, "armature1_test") {
		t.Errorf("inspect: %v\n%s", err, out)
	}
	if out, _, err := in.Try("", "plugin", "inspect", dir, "--json"); err == nil || !strings.Contains(out, `"error"`) {
		t.Errorf("inspect --json: %v\n%s", err, out)
	}
	if _, stderr, err := in.Try("", "plugin", "install", dir); err == nil || !strings.Contains(stderr, "armature1_test") {
		t.Errorf("installed: %v\n%s", err, stderr)
	}
}
