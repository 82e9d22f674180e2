package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"armature/cmd/armature/armaturetest"
)

// TestDropScript: a file is put into the folder, changed, broken, mended and
// removed, and the server, which runs all the time, follows.
func TestDropScript(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		s := in.Serve()
		s.Auth = in.Keys("Administrator")
		in.Drop("shop.js", `export function hello({name}) { return "hello " + name }`)
		zoe := map[string]any{"name": "Zoë"}
		armaturetest.Eventually(t, "the script answers", func() bool { return s.Message("shop.hello", zoe) == "hello Zoë" })
		in.Drop("shop.js", `export const hello = async ({name}) => "good day " + name`)
		armaturetest.Eventually(t, "it has changed", func() bool { return s.Message("shop.hello", zoe) == "good day Zoë" })

		in.Drop("shop.js", "export function hello() {\n  return 1 +;\n}")
		armaturetest.Eventually(t, "the log says what is wrong, and where", func() bool {
			return strings.Contains(in.Run("plugin", "list"), "shop.js:2:13: Unexpected \";\"")
		})
		if got := s.Message("shop.hello", zoe); got != "good day Zoë" {
			t.Errorf("while the file is broken: %q", got)
		}
		in.Drop("shop.js", `export const hello = () => "again"`)
		armaturetest.Eventually(t, "it is mended", func() bool { return s.Message("shop.hello", zoe) == "again" })
		if err := os.Remove(filepath.Join(in.Data, "plugins", "shop.js")); err != nil {
			t.Fatal(err)
		}
		armaturetest.Eventually(t, "it is gone", func() bool { return s.Message("shop.hello", zoe) == "" })
	})
}

// site makes a server with scripts in its folder and waits until the last one
// answers ready.
func withScripts(in *armaturetest.Installation, files map[string]string, ready string) *armaturetest.Server {
	in.T.Helper()
	for name, text := range files {
		in.Drop(name, text)
	}
	s := in.Serve()
	s.Auth = in.Keys("Administrator")
	armaturetest.Eventually(in.T, ready+" answers", func() bool {
		status, _ := s.Call("GET", "/api/method/"+ready, nil)
		return status == http.StatusOK
	})
	return s
}

// TestScriptDocuments: what a script does with documents is part of the request:
// its errors undo it, a GET leaves nothing, events are heard.
func TestScriptDocuments(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		s := withScripts(in, map[string]string{"acme.desk.js": `
			export const manifest = {
				version: "1", events: {"ToDo.validate": "check"},
				methods: { secret: {roles: ["Nobody"]}, open: {allow_guest: true}, typed: {args: {type: "object", properties: {n: {type: "integer"}}}} },
			};
			export function ready() { return true }
			export function open() { return caller.user }
			export function secret() {}
			export function typed({n}) { return typeof n }
			export async function add({texts}) {
				const names = [];
				for (const description of texts) {
					if (description === "fail") throw new ConflictError("enough", {type: "EnoughError"});
					names.push((await doc.insert("ToDo", { description })).name);
				}
				return names;
			}
			export function close({name}) { return doc.update("ToDo", name, {status: "Closed"}).status }
			export function remove({name}) { doc.delete("ToDo", name) }
			export function find(filters) { return doc.list("ToDo", {fields: ["description"], filters, orderBy: "description asc", limit: Infinity}).map((t) => t.description) }
			export function count(filters) { return doc.count("ToDo", filters) }
			export function nested() {
				try {
					call("acme.desk.add", {texts: ["lost", "fail"]});
				} catch (e) {
					return [e instanceof ConflictError, e.type, e.message, call("acme.desk.count")];
				}
			}
			export function missing() {
				try { doc.get("ToDo", "none") } catch (e) { if (e instanceof NotFoundError) return e.type }
			}
			export function check({event, doc, before}) {
				if (doc.description === "refused") throw new ValidationError("not this one");
				return { description: doc.description.trim(), priority: before ? doc.priority : "High" };
			}
			export function keep({key, value}) { if (value !== undefined) kv.set(key, value, {ttl: 60}); return kv.get(key) }
			export function setting() { return [config("limit"), config("none", "default")] }
			export function asked() { return [request.method, request.path, request.query.get("a"), request.headers.get("accept")] }
			export function page() { respond({status: 201, headers: {"content-type": "application/json"}, body: '{"own": true}'}) }
		`}, "acme.desk.ready")
		message := func(verb, path string, args map[string]any) any {
			t.Helper()
			var body any
			if args != nil {
				body = args
			}
			return s.Want(verb, "/api/method/acme.desk."+path, body)
		}
		same := func(got any, want string) {
			t.Helper()
			if text, _ := json.Marshal(got); string(text) != want {
				t.Errorf("got %s, want %s", text, want)
			}
		}
		names := message("POST", "add", map[string]any{"texts": []string{" b ", "a"}}).([]any)
		same(message("POST", "find", map[string]any{"priority": "High"}), `["a","b"]`)
		same(message("POST", "find", map[string]any{"description": []string{"like", "a%"}}), `["a"]`)
		if status, answer := s.Call("POST", "/api/method/acme.desk.add", map[string]any{"texts": []string{"c", "fail"}}); status != 409 || answer["exc_type"] != "EnoughError" {
			t.Errorf("a thrown error: %d %v", status, answer)
		}
		if status, _ := s.Call("POST", "/api/resource/ToDo", map[string]any{"description": "refused"}); status != 417 {
			t.Errorf("a refused document: %d", status)
		}
		same(message("POST", "nested", nil), `[true,"EnoughError","enough",2]`)
		same(message("GET", "close?name="+names[0].(string), nil), `"Closed"`)
		same(message("GET", "find?status=Closed", nil), `[]`)
		same(message("POST", "close", map[string]any{"name": names[0]}), `"Closed"`)
		same(message("GET", "find?status=Closed", nil), `["b"]`)
		same(message("POST", "remove", map[string]any{"name": names[0]}), `null`)
		same(message("GET", "count", nil), `1`)
		same(message("GET", "missing", nil), `"DoesNotExistError"`)
		same(message("GET", "keep?key=k&value=1", nil), `null`)
		same(message("POST", "keep", map[string]any{"key": "k", "value": []int{1}}), `[1]`)
		same(message("GET", "keep?key=k", nil), `[1]`)
		same(message("GET", "typed?n=5", nil), `"number"`)
		same(message("GET", "asked?a=b%20c", nil), `["GET","/api/method/acme.desk.asked","b c","application/json"]`)
		if status, answer := s.Call("POST", "/api/method/acme.desk.page", nil); status != 201 || answer["own"] != true {
			t.Errorf("an answer of its own: %d %v", status, answer)
		}
		in.Run("site", "config", "default", "set", "plugins", `{"acme.desk": {"limit": 10}}`)
		armaturetest.Eventually(t, "the setting is there", func() bool {
			got, _ := json.Marshal(message("GET", "setting", nil))
			return string(got) == `[10,"default"]`
		})

		// Who may call.
		for _, tt := range []struct {
			auth, verb, path string
			status           int
		}{
			{"", "GET", "open", 200}, {"", "GET", "count", 403}, {"", "POST", "add", 403},
			{s.Auth, "PUT", "count", 403}, {s.Auth, "DELETE", "count", 403}, {s.Auth, "GET", "check", 417},
		} {
			if status, answer := s.CallAs(tt.auth, tt.verb, "/api/method/acme.desk."+tt.path, nil); status != tt.status {
				t.Errorf("%s %s as %.8q: %d %v", tt.verb, tt.path, tt.auth, status, answer)
			}
		}
		in.Run("user", "add", "zoe@example.com")
		if status, _ := s.CallAs(in.Keys("zoe@example.com"), "POST", "/api/method/acme.desk.secret", nil); status != 403 {
			t.Errorf("a role is missing: %d", status)
		}
	})
}

// TestScriptTrace: an error says where in the author's source it was, whatever
// bundling and stripping types have moved, and goes into the log.
func TestScriptTrace(t *testing.T) {
	in := armaturetest.New(t)
	in.Drop(".folder/lib/tax.ts", "export interface Rate {\n  rate: number\n}\n\nexport function tax(of: Rate | null): number {\n  return of!.rate * 2\n}\n")
	in.Drop(".folder/armature.json", `{"name": "acme.tax", "version": "3", "abi": 1, "methods": [{"path": "acme.tax.of"}, {"path": "acme.tax.ready"}]}`)
	in.Drop(".folder/main.ts", "import { tax, type Rate } from './lib/tax'\n\ntype Args = { a: Rate }\n\nexport const of = async (args: Args) => {\n  await null\n  return tax(args.a)\n}\nexport function ready() {}\nexport function unlisted() {}\n")
	if err := os.Rename(filepath.Join(in.Data, "plugins", ".folder"), filepath.Join(in.Data, "plugins", "acme.tax")); err != nil {
		t.Fatal(err)
	}
	s := withScripts(in, nil, "acme.tax.ready")
	if got := s.Message("acme.tax.of", map[string]any{"a": map[string]any{"rate": 4}}); got != "8" {
		t.Errorf("the method answers %s", got)
	}
	status, answer := s.Call("POST", "/api/method/acme.tax.of", map[string]any{})
	if status != 500 || answer["exc_type"] != "TypeError" {
		t.Fatalf("%d %v", status, answer)
	}
	trace := fmt.Sprint(answer["exc"])
	for _, want := range []string{"tax (lib/tax.ts:6:", "(main.ts:7:", "plugin acme.tax 3, export of"} {
		if !strings.Contains(trace, want) {
			t.Errorf("%s lacks %s", trace, want)
		}
	}
	armaturetest.Eventually(t, "the log has the place", func() bool { return strings.Contains(s.Log.String(), "lib/tax.ts:6:") })
	if status, _ := s.Call("POST", "/api/method/acme.tax.unlisted", nil); status != 417 {
		t.Errorf("a function that armature.json does not list: %d", status)
	}
	// A file below is saved, and the plugin is there again.
	armaturetest.Put(t, filepath.Join(in.Data, "plugins", "acme.tax", "lib", "tax.ts"), []byte("export interface Rate {rate: number}; export const tax = (r: Rate) => r.rate * 3"))
	armaturetest.Eventually(t, "a changed import is seen", func() bool {
		return s.Message("acme.tax.of", map[string]any{"a": map[string]any{"rate": 4}}) == "12"
	})
	armaturetest.Put(t, filepath.Join(in.Data, "plugins", "acme.tax", "lib", "tax.ts"), []byte("export const tax = (r: Rate => r"))
	armaturetest.Eventually(t, "a mistake in an import is told", func() bool {
		return strings.Contains(in.Run("plugin", "list"), "lib/tax.ts:1:")
	})
}

// TestScriptLimits: a script that runs wild hurts itself only.
func TestScriptLimits(t *testing.T) {
	in := armaturetest.New(t)
	s := withScripts(in, map[string]string{"acme.wild.js": `
		export const manifest = {version: "1", limits: {log: 1000, memory: 8388608}};
		let calls = 0;
		export function ready() { return ++calls }
		export function loop() { for (;;); }
		export function deep() { return deep() + 1 }
		export function hoard() { const all = []; for (;;) all.push(new ArrayBuffer(100000)) }
		export async function never() { await new Promise(() => {}) }
		export function flood() { for (let i = 0; i < 1000; i++) console.log("line", {i}); return "done" }
		export function large() { return "x".repeat(20000000) }
		export function pollute() {
			Object.prototype.toJSON = () => "polluted";
			Array.prototype.push = () => { throw new Error("polluted") };
			globalThis.doc = globalThis.caller = null;
			JSON.stringify = () => '"polluted"';
			return 1;
		}
		export function user() { return [caller.user, JSON.stringify([]), calls] }
	`}, "acme.wild.ready")
	for _, tt := range []struct {
		export, excType string
	}{
		{"loop", "ResourceExhaustedError"}, {"deep", "RangeError"}, {"hoard", "ResourceExhaustedError"},
		{"never", "PromiseNeverSettledError"}, {"large", "ResourceExhaustedError"}, {"flood", ""}, {"pollute", ""},
	} {
		status, answer := s.Call("POST", "/api/method/acme.wild."+tt.export, nil)
		if tt.excType == "" && status != 200 || tt.excType != "" && (status != 500 || answer["exc_type"] != tt.excType) {
			t.Errorf("%s: %d %v, want %s", tt.export, status, answer, tt.excType)
		}
		got, _ := json.Marshal(s.Want("POST", "/api/method/acme.wild.user", nil))
		if string(got) != `["Administrator","[]",0]` {
			t.Errorf("after %s: %s", tt.export, got)
		}
		if got := s.Want("GET", "/api/method/acme.wild.ready", nil); got != 1.0 {
			t.Errorf("after %s the call is number %v", tt.export, got)
		}
	}
	armaturetest.Eventually(t, "the last answer is in the log", func() bool { return strings.Contains(s.Log.String(), "path=/api/method/acme.wild.ready") })
	if n := strings.Count(s.Log.String(), `msg="line {`); n == 0 || n > 1000/len("line {}") {
		t.Errorf("%d lines are in the log", n)
	}
	if status, answer := s.Call("POST", "/api/method/acme.wild.loop", nil); !strings.Contains(fmt.Sprint(answer["exc"]), `export loop\n  loop\n`) {
		t.Errorf("the loop was where? %d %v", status, answer)
	}
}

// TestScriptFetch: fetch reaches what an administrator has approved.
func TestScriptFetch(t *testing.T) {
	outside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Answer", "yes")
		if r.URL.Path == "/slow" {
			select {
			case <-r.Context().Done():
			case <-time.After(time.Minute):
			}
			return
		}
		if r.URL.Path == "/bytes" {
			_, _ = w.Write([]byte{0xff, 0, 1})
			return
		}
		w.WriteHeader(http.StatusTeapot)
		_ = json.NewEncoder(w).Encode(map[string]string{
			"verb": r.Method, "query": r.URL.RawQuery, "type": r.Header.Get("Content-Type"), "body": string(body),
		})
	}))
	defer outside.Close()
	host := strings.TrimPrefix(outside.URL, "http://")
	in := armaturetest.New(t)
	s := withScripts(in, map[string]string{"acme.out.ts": `
		export const manifest = { version: "1", grants: [], optional_grants: ["http_fetch"], allowed_hosts: ["` + host + `"] };
		export function ready() {}
		export async function get({ url }: { url: string }) {
			const r = await fetch(url + "/json?a=1", { method: "post", body: new URLSearchParams({ q: "ä b" }) });
			const b = await (await fetch(new Request(url + "/bytes"))).bytes();
			return [r.status, r.ok, r.headers.get("x-answer"), await r.json(), [...b], r.bodyUsed, await r.text().catch((e) => e.name)];
		}
		export async function caught({ url }: { url: string }) {
			try { await fetch(url) } catch (e) { return [e instanceof PermissionError, e.message] }
		}
		export async function late({ url }: { url: string }) {
			const signal = AbortSignal.timeout(50);
			try { await fetch(url + "/slow", { signal }) } catch (e) { return [e.name, e === signal.reason, signal.aborted].join() }
		}
	`}, "acme.out.ready")
	get := func(url string) (int, map[string]any) {
		return s.Call("POST", "/api/method/acme.out.get", map[string]any{"url": url})
	}
	if status, answer := get(outside.URL); status != 403 || !strings.Contains(fmt.Sprint(answer), "http_fetch") {
		t.Fatalf("before approval: %d %v", status, answer)
	}
	in.Run("plugin", "approve", "acme.out")
	in.Run("site", "config", "default", "set", "allowed_private_hosts", `["`+host+`"]`)
	want := `[418,false,"yes",{"body":"q=%C3%A4+b","query":"a=1","type":"application/x-www-form-urlencoded;charset=UTF-8","verb":"POST"},[255,0,1],true,"TypeError"]`
	armaturetest.Eventually(t, "the script reaches it", func() bool {
		_, answer := get(outside.URL)
		got, _ := json.Marshal(answer["message"])
		return string(got) == want
	})
	if status, answer := get("http://localhost:1"); status != 403 {
		t.Errorf("another host: %d %v", status, answer)
	}
	if got := s.Message("acme.out.caught", map[string]any{"url": "http://localhost:1"}); !strings.HasPrefix(got, "[true ") {
		t.Errorf("a refusal that is caught: %s", got)
	}
	if got := s.Message("acme.out.late", map[string]any{"url": outside.URL}); got != "TimeoutError,true,true" {
		t.Errorf("a request that takes too long: %s", got)
	}
}

// TestScriptInstalled: a script is installed, listed, rolled back, disabled, run
// and replayed as every plugin is, and serves each site by itself.
func TestScriptInstalled(t *testing.T) {
	in := armaturetest.New(t)
	in.Run("site", "new", "default")
	in.Run("site", "new", "second")
	in.Run("site", "config", "second", "set", "hosts", `["second.test"]`)
	in.Run("site", "config", "default", "set", "record_failed_calls", "true")
	file := filepath.Join(t.TempDir(), "acme.hand.ts")
	version := func(v, body string) {
		armaturetest.Put(t, file, []byte(`export const manifest = {version: "`+v+`"}; export function f(args: {a?: number}) { `+body+` }
			export function fails() { return [Math.random(), crypto.randomUUID(), Date.now(), performance.now()].join().nothing() }`))
	}
	version("1", `return "one " + args.a`)
	if out := in.Run("plugin", "inspect", file); !strings.Contains(out, "acme.hand 1 ") || !strings.Contains(out, "acme.hand.f  (GET, POST)") || !strings.Contains(out, "from a snapshot") {
		t.Errorf("inspect: %s", out)
	}
	in.Run("plugin", "install", file)
	if out := in.Run("plugin", "run", "acme.hand.f", `{"a": 7}`); strings.TrimSpace(out) != `"one 7"` {
		t.Errorf("run: %s", out)
	}
	s := in.Serve()
	s.Auth = in.Keys("Administrator")
	if got := s.Message("acme.hand.f", map[string]any{"a": 1}); got != "one 1" {
		t.Errorf("installed: %q", got)
	}
	version("2", `return "two"`)
	in.Run("plugin", "install", file)
	armaturetest.Eventually(t, "the next version serves", func() bool { return s.Message("acme.hand.f", nil) == "two" })
	built := filepath.Join(t.TempDir(), "hand.wasm")
	in.Run("plugin", "build", file, "-o", built)
	if a, b := in.Run("plugin", "inspect", built), in.Run("plugin", "inspect", file); a != b {
		t.Errorf("built it is %s\nas a source %s", a, b)
	}
	version("3", `return 1 +`)
	if _, stderr, err := in.Try("", "plugin", "install", file); err == nil || !strings.Contains(stderr, "acme.hand.ts:1:") {
		t.Errorf("a broken one: %v %s", err, stderr)
	}
	in.Run("plugin", "rollback", "acme.hand")
	armaturetest.Eventually(t, "the version before serves", func() bool { return s.Message("acme.hand.f", map[string]any{"a": 2}) == "one 2" })
	if out := in.Run("plugin", "list"); !strings.Contains(out, "acme.hand") {
		t.Errorf("list: %s", out)
	}

	if status, _ := s.Call("POST", "/api/method/acme.hand.fails", nil); status != 500 {
		t.Errorf("status %d", status)
	}
	files, err := filepath.Glob(filepath.Join(in.Data, "sites", "default", "failed_calls", "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("kept %v, %v", files, err)
	}
	var replayed struct {
		Same          bool
		Recorded, Now map[string]any
	}
	if err := json.Unmarshal([]byte(in.Run("plugin", "replay", "--json", files[0])), &replayed); err != nil {
		t.Fatal(err)
	}
	if !replayed.Same || replayed.Now["fuel"] != replayed.Recorded["fuel"] {
		t.Errorf("replayed %+v", replayed)
	}

	in.Run("plugin", "disable", "acme.hand")
	armaturetest.Eventually(t, "it is disabled", func() bool { return s.Message("acme.hand.f", nil) == "" })
	in.Run("plugin", "uninstall", "acme.hand")

	// One that lies in the folder serves both sites, each with its own documents.
	in.Drop("acme.both.js", `
		export function add({text}) { return doc.insert({doctype: "ToDo", description: text}).description }
		export function all() { return doc.list("ToDo", {fields: ["description"]}).map((t) => t.description) }`)
	second := in.Keys("Administrator", "--site", "second")
	on := func(host, auth, path string, args map[string]any) string {
		body, _ := json.Marshal(args)
		r, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+"/api/method/"+path, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		r.Header.Set("Authorization", auth)
		r.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		return string(text)
	}
	armaturetest.Eventually(t, "it serves the first site", func() bool {
		return on("default", s.Auth, "acme.both.add", map[string]any{"text": "one"}) == `{"message":"one"}`
	})
	if got := on("second.test", second, "acme.both.add", map[string]any{"text": "two"}); got != `{"message":"two"}` {
		t.Errorf("the second site: %s", got)
	}
	if got := on("default", s.Auth, "acme.both.all", map[string]any{}); got != `{"message":["one"]}` {
		t.Errorf("the first site has %s", got)
	}
	if got := on("second.test", second, "acme.both.all", map[string]any{}); got != `{"message":["two"]}` {
		t.Errorf("the second site has %s", got)
	}
}

// TestDeadlyScript: a source that ends whoever compiles it does not end the server.
func TestDeadlyScript(t *testing.T) {
	in := armaturetest.New(t)
	s := withScripts(in, map[string]string{"fine.js": `export const hello = () => "fine"`}, "fine.hello")
	in.Drop("deadly.ts", "export const x = "+strings.Repeat("(", 400_000)+"1"+strings.Repeat(")", 400_000))
	armaturetest.Eventually(t, "the server says what is wrong", func() bool {
		return strings.Contains(s.Log.String(), "deadly.ts: it is nested too deep")
	})
	if got := s.Message("fine.hello", nil); got != "fine" {
		t.Errorf("the other plugin answers %q", got)
	}
}

// TestScriptOfRelativeFolder: a server and a command that name the data folder in
// different ways speak of the same plugins.
func TestScriptOfRelativeFolder(t *testing.T) {
	in := armaturetest.New(t)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	data, err := filepath.Rel(here, in.Data)
	if err != nil {
		t.Fatal(err)
	}
	s := in.Serve("--data", data)
	s.Auth = in.Keys("Administrator")
	file := filepath.Join(in.Data, "plugins", "acme.here.js")
	armaturetest.Put(t, file, []byte("export function where() { return 1 }"))
	armaturetest.Eventually(t, "the script answers", func() bool {
		status, _ := s.Call("GET", "/api/method/acme.here.where", nil)
		return status == http.StatusOK
	})
	armaturetest.Eventually(t, "the list shows the plugin, once", func() bool {
		var list []struct{ Name, Source, Error string }
		if err := json.Unmarshal([]byte(in.Run("plugin", "list", "--json")), &list); err != nil {
			t.Fatal(err)
		}
		return len(list) == 1 && list[0].Name == "acme.here" && list[0].Source == file && list[0].Error == ""
	})
}
