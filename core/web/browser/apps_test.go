package browser

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// plugin puts the files of a plugin into the server's folder and waits until it serves.
func (s *server) plugin(name string, files map[string]string) {
	s.t.Helper()
	for _, file := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(s.data, "plugins", name, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			s.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[file]), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	here := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	deadline := time.Now().Add(2 * time.Minute)
	for range time.Tick(50 * time.Millisecond) {
		r, err := here.Get(s.origin + "/apps/" + name + "/")
		if err != nil {
			s.t.Fatal(err)
		}
		if err := r.Body.Close(); err != nil {
			s.t.Fatal(err)
		}
		if r.StatusCode < 400 {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("the plugin %s does not serve: %d", name, r.StatusCode)
		}
	}
}

// shop is a plugin whose page acts for who logs in on it.
var shop = map[string]string{
	"main.ts": `export const manifest = {routes: {"GET /who": "who"}, methods: {who: {allow_guest: true}}};
export function who() { return caller.user; }`,
	"public/index.html": `<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,"><p id="it">nothing yet</p><button>Log in</button>
<script type="module" src="main.ts"></script></html>`,
	"public/main.ts": `import { base, call, login, ready } from "./-/app.js";
const say = (text: string) => { document.getElementById("it")!.textContent = text; };
document.querySelector("button")!.onclick = () => login({ scope: "openid resource:ToDo:write method:framework.auth.get_logged_user method:shop.who" });
async function begin() {
  if (!await ready) return say("for " + await call(base + "who"));
  const made = await call("/api/resource/ToDo", { method: "POST", args: { description: "from the shop" } });
  const refused = await call("/api/resource/User").then(() => "everything", (e) => e.status);
  say(made.owner + " by the API, " + await call(base + "who") + " by the route, " + refused + " beyond, " + (location.hash || "no code left"));
}
begin().catch((e) => say("failed: " + e.message));`,
}

// TestApp: a plugin's page logs its user in by the code flow with PKCE and acts for them as
// far as they agreed, in a sandbox that has no storage and on an origin of its own.
func TestApp(t *testing.T) {
	for _, own := range []bool{false, true} {
		t.Run(map[bool]string{false: "sandbox", true: "own origin"}[own], func(t *testing.T) {
			s := serve(t)
			s.user("jane@example.com", "Jane", "Doe", "System Manager")
			address := s.origin + "/apps/shop/"
			if own {
				s.configure("host_name", fmt.Sprintf("%q", s.origin))
				s.configure("apps_host", `"apps.localhost"`)
				address = strings.Replace(s.origin, "127.0.0.1", "shop.apps.localhost", 1) + "/"
			}
			s.plugin("shop", shop)
			b := newTab(t, s, looks[0])
			b.login("jane@example.com")
			b.open(s.origin + "/apps/shop/")
			b.comesToSay("for Guest")
			if at := b.at(); at != strings.TrimPrefix(address, s.origin) {
				t.Errorf("the page is at %s", at)
			}
			b.click("button")
			b.shows("shop", "Jane")
			b.click("button[value=allow]")
			b.comesToSay("jane@example.com by the API, jane@example.com by the route, 403 beyond, no code left")
			if at := b.at(); at != strings.TrimPrefix(address, s.origin) {
				t.Errorf("afterwards the page is at %s", at)
			}
			b.open(address)
			b.comesToSay("for Guest")
			b.forget() // the refusal
		})
	}
}

// evil is a plugin whose pages try what a page can against who opens them.
var evil = map[string]string{
	"main.ts": `export const manifest = {routes: {"GET /who": "who", "POST /seen": "seen"}, methods: {who: {allow_guest: true}, seen: {allow_guest: true}, all: {}}};
export function who() { respond({ html: "<!doctype html><link rel=icon href='data:,'><title>Who</title><p>you are " + caller.user + "</p>" }); }
export function seen() { kv.set("seen", [...(kv.get("seen") ?? []), request.body]); }
export function all() { return kv.get("seen") ?? []; }`,
	"public/_headers":   "/*\n  Content-Security-Policy: default-src *\n  Access-Control-Allow-Origin: *\n",
	"public/index.html": `<!doctype html><html lang="en"><title>Evil</title><link rel="icon" href="data:,"><p>evil</p><script src="attack.js"></script></html>`,
	"public/w.js":       `postMessage("a worker")`,
	"public/attack.js": `
const attempt = async (fn) => { try { const got = await fn(); return String(got instanceof Response ? got.type + " " + got.status : got); } catch (e) { return "no: " + e.name; } };
const soon = (fn) => new Promise((done, fail) => { fn(done, fail); setTimeout(() => done("nothing"), 2000); });
const send = (text) => fetch("/apps/evil/seen", { method: "POST", mode: "no-cors", body: text });
const attacks = {
  origin: () => self.origin,
  cookie: () => document.cookie,
  storage: () => localStorage.length,
  database: () => soon((done, fail) => { indexedDB.open("x").onsuccess = () => done("open"); }),
  caches: () => caches.keys(),
  "service worker": () => navigator.serviceWorker.register("/apps/evil/w.js"),
  worker: () => soon((done, fail) => { const w = new Worker("/apps/evil/w.js"); w.onmessage = (e) => done(e.data); w.onerror = () => fail(new Error()); }),
  "who is it": () => fetch("/api/method/framework.auth.get_logged_user", { credentials: "include" }),
  users: () => fetch("/api/resource/User", { credentials: "include" }),
  "without cookies": () => fetch("/api/method/framework.auth.get_logged_user", { credentials: "omit" }),
  home: () => fetch("/", { credentials: "include" }),
  write: () => fetch("/api/resource/ToDo", { method: "POST", credentials: "include", headers: { "Content-Type": "application/json" }, body: '{"description": "evil"}' }),
  "write blindly": () => fetch("/api/resource/ToDo", { method: "POST", mode: "no-cors", credentials: "include", body: '{"description": "evil"}' }).then(() => "sent"),
  form: () => soon((done) => {
    const frame = document.createElement("iframe"); frame.name = "f"; frame.onload = () => done("sent");
    const form = document.createElement("form"); form.method = "post"; form.enctype = "text/plain"; form.action = "/api/resource/ToDo"; form.target = "f";
    const field = document.createElement("input"); field.name = '{"description": "evil", "a": "'; field.value = '"}';
    form.append(field); document.body.append(frame, form); form.submit();
  }),
  frame: () => soon((done) => {
    const frame = document.createElement("iframe"); frame.src = "/login"; document.body.append(frame);
    frame.onload = () => done(frame.contentDocument ? "read" : "out of reach");
  }),
  top: () => top === self ? "nobody's frame" : "framed",
  opener: () => { if (!opener) return "none"; opener.location = "/apps/evil/who"; return "sent on"; },
};
window.all = (async () => { const out = {}; for (const [name, fn] of Object.entries(attacks)) out[name] = await attempt(fn); return out; })();
if (location.search === "?opened") window.all.then((all) => send("opener: " + all.opener));`,
}

// TestHostileApp: a page of a plugin gets nothing of the Administrator who opens it, in its
// sandbox and on an origin of its own.
func TestHostileApp(t *testing.T) {
	for _, own := range []bool{false, true} {
		t.Run(map[bool]string{false: "sandbox", true: "own origin"}[own], func(t *testing.T) {
			eachDatabase(t, func(t *testing.T, s *server) { hostile(t, s, own) })
		})
	}
}

func hostile(t *testing.T, s *server, own bool) {
	s.user("jane@example.com", "Jane", "Doe", "System Manager")
	pages, site := "/apps/evil", ""
	if own {
		s.configure("host_name", fmt.Sprintf("%q", s.origin))
		s.configure("apps_host", `"apps.localhost"`)
		pages, site = strings.Replace(s.origin, "127.0.0.1", "evil.apps.localhost", 1), s.origin
	}
	files := maps.Clone(evil)
	// On an origin of its own it is the site's API that is attacked, not its own host.
	files["public/attack.js"] = fmt.Sprintf("const SITE = %q, PAGES = %q;\n", site, pages) +
		regexp.MustCompile(`"(/(?:apps/evil)?[^"]*)"`).ReplaceAllStringFunc(evil["public/attack.js"], func(path string) string {
			path = strings.Trim(path, `"`)
			if rest, mine := strings.CutPrefix(path, "/apps/evil"); mine {
				return fmt.Sprintf("PAGES + %q", rest)
			}
			return fmt.Sprintf("SITE + %q", path)
		})
	s.plugin("evil", files)
	b := newTab(t, s, looks[0])
	b.login("jane@example.com")
	b.open(pages + "/")
	got := asks[map[string]string](b, "window.all")
	wants := map[string]string{
		"origin": "null", "cookie": "no: SecurityError", "storage": "no: SecurityError", "database": "no: SecurityError", "caches": "no: SecurityError",
		"service worker": "no: SecurityError", "worker": "no: ", "who is it": "no: TypeError", "users": "no: TypeError", "without cookies": "no: TypeError",
		"home": "no: TypeError", "write": "no: TypeError", "write blindly": "sent", "frame": "out of reach", "top": "nobody's frame", "opener": "none",
	}
	if own { // it has what every origin has, and none of it is the site's
		maps.Copy(wants, map[string]string{"origin": pages, "cookie": "", "storage": "0", "database": "open", "caches": "", "service worker": "", "worker": "a worker",
			"without cookies": "cors 403"}) // what anybody is answered, to be asked with a token
	}
	for attack, want := range wants {
		if !strings.HasPrefix(got[attack], want) {
			t.Errorf("%s: %q, want %q", attack, got[attack], want)
		}
	}
	if strings.Contains(got["cookie"], "sid") {
		t.Errorf("it has the cookie %s", got["cookie"])
	}
	t.Logf("%v", got)
	b.forget()

	b.open(pages + "/who")
	b.shows("you are Guest")
	b.forget()

	// A page of the site's that opens it, and one that it opens.
	b.open("/")
	b.do(b.script(true))
	asks[bool](b, fmt.Sprintf(`(window.opened = window.open(%q), true)`, pages+"/?opened"))
	s.comesToHave("opener: none")
	if at := b.at(); strings.Contains(at, "/apps/") || strings.Contains(at, "evil") {
		t.Errorf("the page that opened it is now at %s", at)
	}
	b.forget()
	b = newTab(t, s, looks[0]) // the other is behind the window that was opened
	b.login("jane@example.com")
	b.open(pages + "/")
	popup := asks[string](b, fmt.Sprintf(`(async () => {
		const w = window.open(%q);
		await new Promise((done) => setTimeout(done, 1500));
		try { return "read " + w.document.title; } catch (e) { return "no: " + e.name; }
	})()`, site+"/login"))
	if popup != "no: SecurityError" && popup != "no: TypeError" { // browsers keep one back that nobody has clicked for
		t.Errorf("of a window that it opens it has: %s", popup)
	}
	b.forget()
	if n := len(s.api("GET", "/api/resource/ToDo", map[string]any{}).([]any)); n != 0 {
		t.Errorf("%d ToDos were made", n)
	}
}

// comesToHave waits until the hostile plugin has been told something.
func (s *server) comesToHave(want string) {
	s.t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for range time.Tick(100 * time.Millisecond) {
		seen := fmt.Sprint(s.api("POST", "/api/method/evil.all", map[string]any{}))
		if strings.Contains(seen, want) {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("it was told %s, want %s", seen, want)
		}
	}
}

// TestSameOriginApp: a plugin that was granted same_origin shows pages of the site's, which
// act as whoever opens them; before, and after the grant is taken back, they do not.
func TestSameOriginApp(t *testing.T) {
	s := serve(t)
	s.user("jane@example.com", "Jane", "Doe", "System Manager")
	desk := maps.Clone(evil)
	desk["main.ts"] = strings.Replace(desk["main.ts"], "export const manifest = {", `export const manifest = {optional_grants: ["same_origin"], `, 1)
	s.plugin("evil", desk)
	b := newTab(t, s, looks[0])
	b.login("jane@example.com")
	b.open("/apps/evil/who")
	b.shows("you are Guest")
	s.command("", "plugin", "approve", "evil", "all")
	b.open("/apps/evil/who")
	b.shows("you are Guest") // all but what is given by name
	s.command("", "plugin", "approve", "evil", "same_origin")
	b.becomes("/apps/evil/who", "you are jane@example.com")
	b.open("/apps/evil/")
	if got := asks[map[string]string](b, "window.all"); got["origin"] != s.origin || got["users"] != "basic 200" || !strings.HasPrefix(got["service worker"], "no: ") {
		t.Errorf("as the site's own page it has %v", got)
	}
	b.forget()
	s.command("", "plugin", "revoke", "evil", "same_origin")
	b.becomes("/apps/evil/who", "you are Guest")
}

// becomes opens a page until it says something.
func (b *tab) becomes(address, want string) {
	b.t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for b.open(address); !strings.Contains(b.text(), want); b.open(address) {
		if time.Now().After(deadline) {
			b.t.Fatalf("%s says %s", address, b.text())
		}
	}
}
