package testrun_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"armature/plugins/testrun"
)

// importing begins the tests below.
const importing = `import { test, beforeEach, assert, site } from "armature:test";` + "\n"

// TestFailures: what is wrong is said, with its place in the author's file, and the
// tests behind it are run.
func TestFailures(t *testing.T) {
	const script = "export function f() {}\n"
	tests := []struct {
		name, script, test string
		want               string   // in the error
		trace              []string // begins with
	}{
		{"unequal", script, importing + "test(`t`, () => {\n  assert.equal(1, \"1\");\n});", "The values are not equal\n  expected: \"1\"\n  actual:   1", []string{"<anonymous> (a.test.ts:3:10)"}},
		{"unlike", script, importing + "test(`t`, () => assert.deepEqual({a: [1, {b: new Date(0)}]}, {a: [1, {b: new Date(1)}]}))", "they differ at .a[1].b", nil},
		{"one missing", script, importing + "test(`t`, () => assert.deepEqual([1], [1, 2]))", "they differ at [1]", nil},
		{"alike only", script, importing + "test(`t`, () => assert.equal([1], [1]))", "deepEqual compares", nil},
		{"own message", script, importing + "test(`t`, () => assert(0, `zero`))", "AssertionError: zero", nil},
		{"nothing thrown", script, importing + "test(`t`, () => assert.throws(() => 1))", "Nothing was thrown", nil},
		{"another error", script, importing + "test(`t`, () => assert.throws(() => { throw new TypeError(`x`) }, RangeError))", "no RangeError", nil},
		{"another type", script, importing + "test(`t`, () => assert.throws(() => doc.get(`A`, `B`), {type: `X`}))", "The error has another type: DoesNotExistError: A B not found\n  expected: \"X\"\n  actual:   \"DoesNotExistError\"", nil},
		{"throws of a promise", script, importing + "test(`t`, () => assert.throws(async () => {}))", "await assert.rejects", nil},
		{"in the script", "interface A {\n  n: number }\nexport function f(a: A) {\n  return a.n.x.y }", importing + "import { f } from './a.ts';\ntest(`t`, () => f({n: 1}))", "cannot read property 'y' of undefined", []string{"f (a.ts:4:10)", "<anonymous> (a.test.ts:3:17)"}},
		{"never settled", script, importing + "test(`t`, () => new Promise(() => {}))", "waits for a promise that nothing will settle", nil},
		{"endless", script, importing + "test(`t`, () => {\n  for (let i = 0;; i++) Math.sqrt(i) })", "used up its processor time", nil},
		{"memory", script, importing + "test(`t`, () => { const a = []; for (;;) a.push(new ArrayBuffer(1 << 20)) })", "memory is used up", nil},
		{"recursion", script, importing + "test(`t`, () => { (function g() { return g() + 1 })() })", "Maximum call stack", nil},
		{"thrown text", script, importing + "test(`t`, () => { throw 'a text' })", "a text", nil},
		{"thrown nothing", script, importing + "test(`t`, () => { throw '' })", "without a message", nil},
		{"hidden from clients", script, importing + "test(`t`, () => { throw new ArmatureError('a secret', {kind: 1}) })", "a secret", nil},
		{"no such method", script, importing + "test(`t`, () => site.call('nothing'))", "the plugin has no method nothing; it has a.f", nil},
		{"option that there is not", script, importing + "test(`t`, () => site.call('f', {}, {verbs: 'GET'}))", "unknown option verbs", nil},
		{"no date", script, importing + "test(`t`, () => site.clock('soon'))", "expected a date", nil},
		{"beforeEach", script, importing + "beforeEach(() => assert.fail('first'));\ntest('t', () => {})", "first", nil},
		{"test in a test", script, importing + "test(`t`, () => test(`u`, () => {}))", "cannot contain", nil},

		{"syntax of the test", script, importing + "let = ;", "a.test.ts:2:", nil},
		{"syntax of the script", "export function {", importing, "a.ts:1:", nil},
		{"manifest", "export const manifest = {\n  versoin: 1 }", importing, "a.ts:2:12: unknown field versoin", nil},
		{"top level of the script", "export function f() {}\nthrow new Error('early')", importing, "a.ts:2:11: Error: early", nil},
		{"top level of the test", script, importing + "doc.get('A', 'B')", "The plugin is being loaded", nil},
		{"waits at the top level", script, importing + "await new Promise(() => {})", "awaits something, at its top level", nil},
		{"endless at the top level", script, importing + "for (;;);", "never done with what is at its top level", nil},
		{"no test", script, "", "there is no test in it", nil},
		{"what tests need is broken", script, importing + "test('t', () => {}); Array.prototype.map = null;", "not a function", nil},
		{"no name", script, importing + "test(() => {})", "the first argument is the test's name", nil},
		{"no function", script, importing + "test('t')", "the second argument", nil},
		{"import of node", script, "import 'node:test'", `"node:test" is Node.js's own`, nil},
		{"import from outside", script, "import '../x.js'", "x.js", nil},
		{"import that is missing", script, "import './none.js'", "none.js", nil},
		{"tests in a script", importing + "export function f() { site }", importing, `"armature:test" is for tests`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := tt.test
			if strings.Contains(text, "`t`") {
				text += "\n;test('behind', () => {})"
			}
			results := run(t, folder(t, map[string]string{"a.ts": tt.script, "a.test.ts": text}))
			r := results[0]
			if !r.Failed() || !strings.Contains(r.Error, tt.want) || r.File != "a.test.ts" {
				t.Errorf("%+v, want %q", r, tt.want)
			}
			if len(r.Trace) < len(tt.trace) || !slices.Equal(r.Trace[:len(tt.trace)], tt.trace) {
				t.Errorf("trace %q", r.Trace)
			}
			if text != tt.test && (r.Line == 0 || len(results) != 2 || results[1].Failed()) {
				t.Errorf("line %d, and then %+v", r.Line, results[1:])
			}
		})
	}
}

// TestPristine: a test sees nothing of another one, and everything is the same in
// the next run.
func TestPristine(t *testing.T) {
	const each = `
		globalThis.left = (globalThis.left ?? 0) + 1;
		console.log(left, count(), Date.now(), Math.random(), crypto.randomUUID());
	`
	dir := folder(t, map[string]string{
		"a.js":      "let n = 0;\nexport function count() { return ++n }",
		"a.test.js": importing + "import { count } from './a.js';\ntest('one', () => {" + each + "});\ntest('two', () => {" + each + "});\ntest.skip('three', () => assert.fail());",
	})
	var lines []string
	for range 2 {
		results := run(t, dir)
		if len(results) != 3 || !results[2].Skipped || results[2].Failed() {
			t.Fatalf("%+v", results)
		}
		for _, r := range results[:2] {
			if r.Failed() || len(r.Log) != 1 {
				t.Fatalf("%+v", r)
			}
			lines = append(lines, r.Log[0])
		}
	}
	if !strings.HasPrefix(lines[0], "1 1 1767323045000 0.") {
		t.Errorf("a test begins with %s", lines[0])
	}
	if slices.ContainsFunc(lines, func(line string) bool { return line != lines[0] }) {
		t.Errorf("tests differ: %q", lines)
	}
}

// TestLog: what is logged is told with the test that does it, and what the file and
// the script log at their top level with the first one.
func TestLog(t *testing.T) {
	dir := folder(t, map[string]string{
		"a.js":      "console.log('script'); export const f = () => log.warn('called', {n: 1});",
		"a.test.js": importing + "import { f } from './a.js'; console.debug('test');\ntest('one', f);\ntest('two', () => console.error('two\\nlines'));",
		"b.test.js": "console.log('b'); throw new Error('early');",
	})
	var got []string
	for _, r := range run(t, dir) {
		got = append(got, r.Test+": "+strings.Join(r.Log, ", "))
	}
	want := []string{"one: script, debug: test, warn: called n=1", "two: error: two\nlines", ": b"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestFind: which tests a path means.
func TestFind(t *testing.T) {
	dir := folder(t, map[string]string{
		"one/a.js": "", "one/a.test.js": "", "one/a.test.ts": "", "one/b.ts": "", "one/lone.test.mjs": "", "one/.hidden.test.js": "", "one/c.js": "", "one/sub/d.test.js": "",
		"two/main.ts": "", "two/armature.json": "{}", "two/main.test.ts": "", "two/lib/x.test.js": "", "two/node_modules/p/y.test.js": "",
		"three/a.js": "",
	})
	tests := []struct{ path, want string }{
		{"one", "a.test.js of a.js, a.test.ts of a.js, lone.test.mjs of "},
		{"one/a.js", "a.test.js of a.js, a.test.ts of a.js"},
		{"one/a.test.ts", "a.test.ts of a.js"},
		{"two", "lib/x.test.js of main.ts, main.test.ts of main.ts"},
		{"link", "lib/x.test.js of main.ts, main.test.ts of main.ts"},
		{"two/main.ts", "lib/x.test.js of main.ts, main.test.ts of main.ts"},
		{"two/lib/x.test.js", "lib/x.test.js of main.ts"},
		{"one/b.ts", "error: there is no test: it would be b.test.ts"},
		{"three", "error: there is no test: its name ends in .test.js or .test.ts, as in shop.test.js"},
		{"two/armature.json", "error: it is neither a script nor a test"},
		{"none", "error: stat"},
		{"./one/../one/a.test.ts", "a.test.ts of a.js"},
	}
	if err := os.Symlink("two", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir) // paths as somebody types them
	for _, tt := range tests {
		files, err := testrun.Find(filepath.FromSlash(tt.path))
		var got []string
		for _, f := range files {
			rel, relErr := filepath.Rel(f.Root, f.Path)
			if relErr != nil {
				t.Error(relErr)
			}
			main := ""
			if f.Main != "" {
				main = filepath.Base(f.Main)
			}
			got = append(got, filepath.ToSlash(rel)+" of "+main)
		}
		text := strings.Join(got, ", ")
		if err != nil {
			text = "error: " + err.Error()
		}
		if text != tt.want && (err == nil || !strings.HasPrefix(text, tt.want)) {
			t.Errorf("%s: %s, want %s", tt.path, text, tt.want)
		}
	}
}

// FuzzRun: whatever is in a test, running it ends, and something is told of it.
func FuzzRun(f *testing.F) {
	f.Add("test('t', () => assert.equal(1, 2)); test.skip('u')")
	f.Add("test('t', async () => { doc.insert('A', {name: 'x'}); site.call('f', {}, {verb: 'GET'}) })")
	f.Add("site.answer('x', null); test")
	f.Add("delete globalThis['armature:test']; Array.prototype.map = null; test('t', () => {})")
	f.Add("Object.defineProperty(Object.prototype, 'name', {get() { throw 1 }}); test('t', () => site.fetched())")
	f.Add("test('t', () => { throw new Proxy({}, {get() { throw 1 }}) })")
	f.Fuzz(func(t *testing.T, text string) {
		dir := t.TempDir()
		for name, text := range map[string]string{"a.js": "export function f() {}", "a.test.js": importing + text} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if results := run(t, dir); len(results) == 0 {
			t.Error("nothing is told")
		}
	})
}
