package main_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"armature/cmd/armature/armaturetest"
)

// TestClient: a client of a running server is what TypeScript takes strictly, and does
// what it says (testdata/client/use.ts). It is made once over HTTP and once of the data
// folder, which is the same, and again, which changes nothing.
func TestClient(t *testing.T) {
	tools, out := typescriptCompiler(t), t.TempDir()
	compiled := map[string]string{} // folders of programs, by the types they were compiled with
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		s := in.Serve()
		s.Auth = in.Keys("Administrator")
		makeShop(t, in, s)
		key := strings.TrimPrefix(s.Auth, "token ")
		dir, err := os.MkdirTemp(out, "")
		if err != nil {
			t.Fatal(err)
		}
		here, there := filepath.Join(dir, "local"), filepath.Join(dir, "api")
		in.Run("client", "ts", "--out", here)
		for range 2 {
			in.Env = []string{"ARMATURE_API_KEY=" + key}
			in.Run("client", "ts", "--out", there, "--url", s.URL)
			for _, name := range []string{"armature.ts", "doctypes.ts"} {
				a, b := readFile(t, filepath.Join(here, name)), readFile(t, filepath.Join(there, name))
				if !bytes.Equal(a, b) {
					t.Fatalf("%s is not the same of the data folder and over HTTP:\n%s\n%s", name, a, b)
				}
			}
		}
		bearer := strings.TrimPrefix(s.Bearer(t, "openid"), "Bearer ")
		types := readFile(t, filepath.Join(there, "doctypes.ts"))
		if program, known := compiled[string(types)]; known { // the other database's
			dir = program
		} else {
			compileUse(t, tools, dir)
			compiled[string(types)] = dir
		}
		run := exec.Command("node", "use.js", s.URL, key, bearer)
		run.Dir = dir
		if out, err := run.CombinedOutput(); err != nil {
			t.Fatalf("node: %v\n%s\n%s", err, out, s.Log)
		}
	})
}

// compileUse compiles use.ts beside the client in a folder.
func compileUse(t *testing.T, tools, dir string) {
	t.Helper()
	for _, name := range []string{"use.ts", "node.d.ts"} {
		armaturetest.Put(t, filepath.Join(dir, name), readFile(t, filepath.Join("testdata", "client", name)))
	}
	armaturetest.Put(t, filepath.Join(dir, "package.json"), []byte(`{"type": "module"}`))
	compile := exec.Command(filepath.Join(tools, "node_modules", ".bin", "tsc"), "--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes",
		"--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom,dom.iterable", "use.ts", "node.d.ts")
	compile.Dir = dir
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("tsc: %v\n%s", err, out)
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// makeShop makes what use.ts uses, and what wants to break out of it.
func makeShop(t *testing.T, in *armaturetest.Installation, s *armaturetest.Server) {
	t.Helper()
	type obj = map[string]any
	all := []obj{{"role": "System Manager", "read": 1, "write": 1, "create": 1, "delete": 1}}
	submits := []obj{{"role": "System Manager", "read": 1, "write": 1, "create": 1, "delete": 1, "submit": 1, "cancel": 1}}
	for _, dt := range []obj{
		{"name": "Shop Line", "istable": 1, "fields": []obj{{"fieldname": "item", "fieldtype": "Data"}, {"fieldname": "qty", "fieldtype": "Float"}}},
		{"name": "Shop Order", "is_submittable": 1, "permissions": submits, "fields": []obj{
			{"fieldname": "customer", "fieldtype": "Data", "reqd": 1, "label": "Customer */ export const x = 1; /*"},
			{"fieldname": "state", "fieldtype": "Select", "options": "New\nPaid \"in full\""},
			{"fieldname": "note", "fieldtype": "Small Text"}, {"fieldname": "total", "fieldtype": "Currency"},
			{"fieldname": "lines", "fieldtype": "Table", "options": "Shop Line"},
		}},
		{"name": "Shop Rules", "issingle": 1, "permissions": all, "fields": []obj{{"fieldname": "open", "fieldtype": "Check"}}},
		{"name": "class", "permissions": all, "fields": []obj{
			{"fieldname": "constructor", "fieldtype": "Text"}, {"fieldname": "default", "fieldtype": "Select", "options": "x\" | \"y\n*/"},
		}},
	} {
		dt["module"], dt["custom"] = "Shop", 1
		s.Want("POST", "/api/resource/DocType", dt)
	}
	s.Want("POST", "/api/resource/User", obj{"email": "ada@example.com", "first_name": "Ada", "new_password": "a long enough pass phrase", "roles": []obj{{"role": "System Manager"}}})
	s.Script(in, "acme.shop", `
		export function add({ numbers }) { return { total: numbers.reduce((a, b) => a + b, 0) }; }
		export function fail() { throw new ValidationError("no such luck"); }`,
		obj{"methods": []obj{
			{"path": "acme.shop.add", "description": "Adds */ up", "args": obj{
				"type": "object", "required": []string{"numbers"}, "properties": obj{"numbers": obj{"type": "array", "items": obj{"type": "number"}}},
			}, "result": obj{"type": "object", "required": []string{"total"}, "properties": obj{"total": obj{"type": "number"}}}},
			{"path": "acme.shop.fail"},
		}}, []string{})
}

// typescriptCompiler has npm install the compiler with which the SDK is checked, and
// returns where.
func typescriptCompiler(t *testing.T) string {
	t.Helper()
	npm := armaturetest.Compiler(t, "npm", "apt-get install npm")
	dir := t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json"} {
		armaturetest.Put(t, filepath.Join(dir, name), readFile(t, filepath.Join(armaturetest.Root(t), "sdk", "js", "check", name)))
	}
	install := exec.Command(npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("npm ci: %v\n%s", err, out)
		}
		t.Skipf("npm ci: %v\n%s", err, out)
	}
	return dir
}

// TestClientAsUser: the client of a user has what that user may use, and the command
// overwrites nothing but its own work.
func TestClientAsUser(t *testing.T) {
	in := armaturetest.New(t)
	in.Run("user", "add", "zoe@example.com")
	dir := t.TempDir()
	in.Run("client", "ts", "--out", dir, "--user", "zoe@example.com")
	text := string(readFile(t, filepath.Join(dir, "doctypes.ts")))
	if !strings.Contains(text, `"ToDo": { document: ToDo; rights: "read" | "write"`) || strings.Contains(text, `"OAuth Client"`) {
		t.Errorf("of a user without roles:\n%s", text)
	}
	armaturetest.Put(t, filepath.Join(dir, "armature.ts"), []byte("// mine\n"))
	_, stderr, err := in.Try("", "client", "ts", "--out", dir, "--json")
	var told struct {
		Code int `json:"exit_code"`
	}
	if json.Unmarshal([]byte(stderr), &told); err == nil || told.Code != 4 || string(readFile(t, filepath.Join(dir, "armature.ts"))) != "// mine\n" {
		t.Errorf("somebody else's file: %v, %s", err, stderr)
	}
	if _, stderr, err := in.Try("", "client", "ts", "--out", dir, "--user", "none@example.com"); err == nil || !strings.Contains(stderr, "no user none@example.com") {
		t.Errorf("for nobody: %v, %s", err, stderr)
	}
}
