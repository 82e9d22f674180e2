package mcp_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"armature/cmd/armature/armaturetest"
)

// agent is a client of the program, on its standard input and output.
type agent struct {
	t *testing.T
	*sdk.ClientSession
	log *armaturetest.Buffer
}

// start starts the program for a project folder.
func start(t *testing.T, in *armaturetest.Installation, dir string, flags ...string) *agent {
	t.Helper()
	cmd := in.Command(append([]string{"mcp", dir}, flags...)...)
	a := &agent{t: t, log: &armaturetest.Buffer{}}
	cmd.Stderr = a.log
	var err error
	a.ClientSession, err = sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, a.log)
	}
	t.Cleanup(func() { _ = a.Close() })
	return a
}

func (a *agent) call(tool string, args map[string]any) (got map[string]any, failed bool) {
	a.t.Helper()
	res, err := a.CallTool(a.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		a.t.Fatalf("%s %v: %v\n%s", tool, args, err, a.log)
	}
	if text, ok := res.Content[0].(*sdk.TextContent); !ok || json.Unmarshal([]byte(text.Text), &got) != nil {
		a.t.Fatalf("%s %v: %v", tool, args, res.Content[0])
	}
	return got, res.IsError
}

func (a *agent) ok(tool string, args map[string]any) map[string]any {
	a.t.Helper()
	got, failed := a.call(tool, args)
	if failed {
		a.t.Fatalf("%s %v: %v\n%s", tool, args, got, a.log)
	}
	return got
}

// fails calls a tool that must fail, and say all of want.
func (a *agent) fails(tool string, args map[string]any, want ...string) {
	a.t.Helper()
	got, failed := a.call(tool, args)
	text, _ := json.Marshal(got)
	for _, w := range want {
		if !failed || !strings.Contains(string(text), w) {
			a.t.Errorf("%s %v: %s, want %q", tool, args, text, w)
		}
	}
}

// TestLoop: an agent makes a DocType, writes a plugin with mistakes, is told their lines,
// mends them, tests, installs and calls it.
func TestLoop(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		dir := t.TempDir()
		a := start(t, in, dir, "--listen", "127.0.0.1:0")
		a.ok("make_doctype", map[string]any{"name": "Book", "fields": []map[string]any{
			{"fieldname": "title", "fieldtype": "Data", "reqd": 1}, {"fieldname": "pages", "fieldtype": "Int"},
		}})
		a.fails("make_doctype", map[string]any{"name": "Odd", "fields": []map[string]any{{"fieldname": "x", "fieldtype": "Nothing"}}}, "Nothing")
		if text := fmt.Sprint(a.ok("doctype", map[string]any{"doctype": "Book"})); !strings.Contains(text, "fieldname:pages") {
			t.Errorf("the DocType: %s", text)
		}
		a.ok("new_plugin", map[string]any{"name": "acme.books"})
		if text := a.ok("read", map[string]any{"path": "acme.books/AGENTS.md"})["text"].(string); !strings.Contains(text, "doc.insert") {
			t.Errorf("AGENTS.md: %s", text)
		}
		manifest := a.ok("read", map[string]any{"path": "acme.books/armature.json"})["text"].(string)
		a.ok("write", map[string]any{"path": "acme.books/armature.json", "text": strings.Replace(manifest, `["resource:ToDo:read"]`, `["resource:Book:read", "resource:Book:write"]`, 1)})
		a.ok("write", map[string]any{"path": "acme.books/main.test.ts", "text": `import { test, assert, site } from "armature:test";

test("adds up", () => {
  assert.deepEqual(site.call("hello", { name: "x" }), { pages: 7 });
});
`})
		script := func(body string) map[string]any {
			return map[string]any{"path": "acme.books/main.ts", "text": "export function hello({ name }: { name: string }) {\n" + body + "\n}\n"}
		}
		plugin := map[string]any{"path": "acme.books"}

		a.ok("write", script("  return { pages: };"))
		a.fails("install", plugin, "main.ts:2:")
		a.fails("test", plugin, "main.ts:2:")
		a.ok("write", script("  const list: any = null;\n  return { pages: list.length };"))
		a.fails("test", plugin, "main.ts:3", "main.test.ts")
		a.ok("install", plugin)
		a.fails("call", map[string]any{"method": "acme.books.hello", "arguments": map[string]any{"name": "x"}}, "main.ts:3")
		armaturetest.Eventually(t, "the failed call is in the log", func() bool {
			return strings.Contains(fmt.Sprint(a.ok("logs", map[string]any{"plugin": "acme.books"})), "main.ts:3")
		})
		a.ok("write", script("  return { pages: 7 };"))
		if got := a.ok("test", plugin); got["passed"] != true || len(got["tests"].([]any)) != 1 {
			t.Errorf("the tests: %v", got)
		}
		a.ok("write", script(`  doc.insert("Book", { title: name, pages: 7 });
  return { pages: doc.list("Book", { fields: ["pages"] })[0].pages };`))
		a.ok("install", plugin)
		got := a.ok("call", map[string]any{"method": "acme.books.hello", "arguments": map[string]any{"name": "Dune"}})
		if fmt.Sprint(got["message"]) != "map[pages:7]" {
			t.Errorf("the call: %v", got)
		}
		list := a.ok("call", map[string]any{"verb": "get", "method": "framework.client.get_list", "arguments": map[string]any{"doctype": "Book", "fields": []string{"title"}}})
		if fmt.Sprint(list["message"]) != "[map[title:Dune]]" {
			t.Errorf("the books: %v", list)
		}
		if text := fmt.Sprint(a.ok("methods", map[string]any{"text": "acme.books"})); !strings.Contains(text, "acme.books.hello") || !strings.Contains(text, "minLength") {
			t.Errorf("the methods: %s", text)
		}
		if text := fmt.Sprint(a.ok("look", nil)); !strings.Contains(text, "acme.books/main.ts") || !strings.Contains(text, "Book") || strings.Contains(text, ".armature/") {
			t.Errorf("what there is: %s", text)
		}
	})
}

// TestBounds: an agent gets no further than its folder, and to no site that people use.
func TestBounds(t *testing.T) {
	in := armaturetest.New(t)
	above := t.TempDir()
	dir := filepath.Join(above, "project")
	for _, err := range []error{
		os.MkdirAll(filepath.Join(dir, ".git"), 0o755), os.Mkdir(filepath.Join(above, "other"), 0o755),
		os.WriteFile(filepath.Join(above, "secret.ts"), []byte("export const secret = 42;"), 0o600),
		os.Symlink("../other", filepath.Join(dir, "link")), os.Symlink("../secret.ts", filepath.Join(dir, "secret.ts")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	a := start(t, in, dir, "--listen", "127.0.0.1:0")
	for _, path := range []string{"../secret.ts", "/etc/hostname", "a/../../secret.ts", `..\secret.ts`, "link/x.ts", ".git/hooks/x", "a/.env", "", "secret.ts"} {
		if path != "secret.ts" {
			a.fails("write", map[string]any{"path": path, "text": "x"}, "PermissionError")
		}
		for _, tool := range []string{"read", "test", "install"} {
			a.fails(tool, map[string]any{"path": path}, "PermissionError")
		}
	}
	a.fails("new_plugin", map[string]any{"name": "../acme.x"}, "PermissionError")
	a.fails("new_plugin", map[string]any{"name": "acme.x", "lang": "cobol"}, "--lang")
	a.ok("write", map[string]any{"path": "thief.ts", "text": "import { secret } from \"../secret.ts\";\nexport function steal() { return secret; }\n"})
	a.fails("install", map[string]any{"path": "thief.ts"}, "thief.ts:1:")
	if list, err := os.ReadDir(filepath.Join(above, "other")); err != nil || len(list) != 0 {
		t.Errorf("something was written elsewhere: %v %v", list, err)
	}
	if text, err := os.ReadFile(filepath.Join(above, "secret.ts")); err != nil || string(text) != "export const secret = 42;" {
		t.Errorf("a file elsewhere was changed: %s %v", text, err)
	}
	_ = a.Close()
	a = start(t, in, dir, "--listen", "127.0.0.1:0") // on the same data
	if got := a.ok("call", map[string]any{"method": "framework.auth.get_logged_user"})["message"]; got != "agent@armature.localhost" {
		t.Errorf("is %v", got)
	}
	_ = a.Close()

	in.Run("site", "config", "default", "set", "hosts", `["shop.example.org"]`)
	if _, stderr, err := in.Try("", "mcp", dir); err == nil || !strings.Contains(stderr, "--production") {
		t.Errorf("data of a site that people use: %v %s", err, stderr)
	}
	in.Run("site", "config", "default", "set", "hosts", `[]`)
	if _, stderr, err := in.Try("", "mcp", dir, "--url", "https://shop.example.org", "--api-key", "a:b"); err == nil {
		t.Errorf("a server that people use: %s", stderr)
	}
	server := in.Serve()
	auth := in.Keys("Administrator")
	elsewhere := (&armaturetest.Installation{T: t, Env: []string{"ARMATURE_API_KEY=" + strings.TrimPrefix(auth, "token ")}, Data: t.TempDir()})
	b := start(t, elsewhere, dir, "--url", server.URL)
	if got := b.ok("look", nil)["url"]; got != server.URL {
		t.Errorf("works on %v", got)
	}
	_ = b.Close()
	in.Run("site", "config", "default", "set", "host_name", `"https://shop.example.org"`)
	armaturetest.Eventually(t, "the server knows its address", func() bool {
		_, stderr, err := elsewhere.Try("", "mcp", dir, "--url", server.URL)
		return err != nil && strings.Contains(stderr, "--production")
	})
}

// TestEndOfInput: what was asked before the input ended is answered.
func TestEndOfInput(t *testing.T) {
	in := armaturetest.New(t)
	messages := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":"two","method":"tools/call","params":{"name":"look","arguments":{}}}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"make_doctype","arguments":{"name":"Book","fields":[{"fieldname":"title","fieldtype":"Data"}]}}}
{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"nothing","arguments":{}}}
`
	stdout, stderr, err := in.Try(messages, "mcp", t.TempDir(), "--listen", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	for _, id := range []string{`"id":1`, `"id":"two"`, `"id":3`, `"id":4`} {
		if strings.Count(stdout, id) != 1 {
			t.Errorf("%s is answered %d times:\n%s", id, strings.Count(stdout, id), stdout)
		}
	}
}
