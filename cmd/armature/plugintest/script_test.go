package plugintest_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"armature/cmd/armature/armaturetest"
)

// scriptWithTests is a script, a test that passes and one that fails.
var scriptWithTests = map[string]string{
	"acme.sum.ts": `export function sum({ a, b }: { a: number; b: number }) { return a + b }`,
	"acme.sum.test.ts": `import { test, assert, site } from "armature:test";
test("adds", () => {
  console.log("adding");
  assert.equal(site.call("sum", { a: 1, b: 2 }), 3);
});
`,
	"wrong/acme.sum.ts": `export function sum({ a, b }: { a: number; b: number }) { return a - b }`,
	"wrong/acme.sum.test.ts": `import { test, assert } from "armature:test";
import { sum } from "./acme.sum.ts";
type Two = { a: number; b: number };
test("adds", () => {
  const two: Two = { a: 1, b: 2 };
  assert.equal(sum(two), 3);
});
test("subtracts", () => assert.equal(sum({ a: 1, b: 2 }), -1));
`,
}

// untimed is what tests have printed, without how long the slow ones took.
func untimed(text string) string { return regexp.MustCompile(` \(\d+ ms\)`).ReplaceAllString(text, "") }

// TestScriptTests: the tests of a script need nothing but the program.
func TestScriptTests(t *testing.T) {
	in := armaturetest.New(t)
	dir := t.TempDir()
	for name, text := range scriptWithTests {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		armaturetest.Put(t, path, []byte(text))
	}
	t.Setenv("PATH", t.TempDir())
	for _, path := range []string{dir, filepath.Join(dir, "acme.sum.ts"), filepath.Join(dir, "acme.sum.test.ts")} {
		out, stderr, err := in.Try("", "plugin", "test", path)
		stderr = untimed(stderr)
		if err != nil || out != "the tests pass\n" || stderr != "pass  acme.sum.test.ts:2: adds\n      | adding\n" {
			t.Errorf("%s: %v\n%s%s", path, err, out, stderr)
		}
	}

	wrong := filepath.Join(dir, "wrong")
	out, stderr, err := in.Try("", "plugin", "test", wrong)
	stderr = untimed(stderr)
	const want = `FAIL  acme.sum.test.ts:4: adds
      AssertionError: The values are not equal
        expected: 3
        actual:   -1
      at <anonymous> (acme.sum.test.ts:6:20)
pass  acme.sum.test.ts:8: subtracts
`
	if err == nil || out != "" || !strings.HasPrefix(stderr, want) || !strings.HasSuffix(stderr, ": 1 of 2 tests fail\n") {
		t.Errorf("%v\n%s%s", err, out, stderr)
	}
	out, _, err = in.Try("", "plugin", "test", wrong, "--json")
	var said struct {
		Passed bool
		Tests  []struct {
			File, Test, Error string
			Line              int
			Trace             []string
		}
	}
	if jsonErr := json.Unmarshal([]byte(out), &said); jsonErr != nil || err == nil || said.Passed || len(said.Tests) != 2 {
		t.Fatalf("%v %v\n%s", err, jsonErr, out)
	}
	if one := said.Tests[0]; one.File != "acme.sum.test.ts" || one.Test != "adds" || one.Line != 4 || !strings.Contains(one.Error, "actual:   -1") || len(one.Trace) != 1 {
		t.Errorf("%+v", one)
	}
	if out := in.Run("plugin", "test", dir, "--json"); !strings.HasPrefix(out, `{"passed":true,"tests":[{"file":"acme.sum.test.ts","line":2,"test":"adds","log":["adding"]}]}`) {
		t.Errorf("%s", out)
	}
}

// TestScriptTestsReadme: the script and the tests in the README of sdk/js are what
// it says they are.
func TestScriptTestsReadme(t *testing.T) {
	in := armaturetest.New(t)
	text, err := os.ReadFile(filepath.Join(armaturetest.Root(t), "sdk", "js", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```(?:ts)?\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(blocks) != 4 {
		t.Fatalf("%d blocks", len(blocks))
	}
	blocks = append(blocks[:1], blocks[2:]...) // the functions are tested in sdk/js
	dir := t.TempDir()
	armaturetest.Put(t, filepath.Join(dir, "acme.shop.ts"), []byte(blocks[0][1]))
	armaturetest.Put(t, filepath.Join(dir, "acme.shop.test.ts"), []byte(blocks[1][1]))
	out, stderr, err := in.Try("", "plugin", "test", filepath.Join(dir, "acme.shop.ts"))
	stderr = untimed(stderr)
	if want := "$ armature plugin test acme.shop.ts\n" + stderr + out; err != nil || want != blocks[2][1] {
		t.Errorf("%v\n%s", err, want)
	}
}

// TestScriptTestIsNoPlugin: a server does not take a test for a plugin, nor does
// what builds and installs plugins.
func TestScriptTestIsNoPlugin(t *testing.T) {
	in := armaturetest.New(t)
	for _, name := range []string{"acme.sum.ts", "acme.sum.test.ts"} {
		in.Drop(name, scriptWithTests[name])
	}
	in.Drop("acme.both/main.js", "export function f() { return 1 }")
	in.Drop("acme.both/main.test.js", `import { test } from "armature:test"; import { f } from "./main.js"; test("f", () => f());`)
	in.Drop("lone.test.js", "export function bad() {}")
	s := in.Serve()
	s.Auth = in.Keys("Administrator")
	armaturetest.Eventually(t, "the scripts serve", func() bool {
		return s.Message("acme.sum.sum", map[string]any{"a": 1, "b": 2}) == "3" && s.Message("acme.both.f", map[string]any{}) == "1"
	})
	for _, p := range s.Want("GET", "/api/method/framework.plugins.list", nil).([]any) {
		if p := p.(map[string]any); strings.Contains(p["name"].(string), "test") || p["status"] != "Active" {
			t.Errorf("a plugin %v", p)
		}
	}
	for _, method := range []string{"acme.sum.test.sum", "lone.test.bad", "lone.bad"} {
		if status, _ := s.Call("POST", "/api/method/"+method, map[string]any{}); status == http.StatusOK {
			t.Errorf("%s answers", method)
		}
	}
	test := filepath.Join(in.Data, "plugins", "lone.test.js")
	for _, command := range []string{"build", "install", "inspect"} {
		if _, stderr, err := in.Try("", "plugin", command, test); err == nil || !strings.Contains(stderr, "lone.test.js is a test of a script") {
			t.Errorf("plugin %s: %v %s", command, err, stderr)
		}
	}
	built := filepath.Join(in.Data, "both.wasm")
	in.Run("plugin", "build", filepath.Join(in.Data, "plugins", "acme.both"), "-o", built)
	if wasm, err := os.ReadFile(built); err != nil || strings.Contains(string(wasm), "armature:test") {
		t.Errorf("the test is in the plugin: %v", err)
	}
}
