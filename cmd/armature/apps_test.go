package main_test

import (
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"armature/cmd/armature/armaturetest"
)

// page asks for a page as a browser does.
func page(t *testing.T, s *armaturetest.Server, verb, path, host string, headers ...string) (status int, text string, h http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), verb, s.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = host
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body), res.Header
}

// TestApps: what a plugin brings for browsers is there without anybody's session, under the
// limits of its methods, and on a host of its own once the site has one for apps.
func TestApps(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		s := in.Serve()
		s.Auth = in.Keys("Administrator")
		in.Drop("shop/public/index.html", "<!doctype html><title>the shop</title>")
		in.Drop("shop/public/js/code.js", "1")
		in.Drop("shop/main.ts", strings.ReplaceAll(`export const manifest = {
			routes: {"GET /p/{slug}": "page", "POST /p/{slug}": "page", "GET /mine": "shop.mine"},
			methods: {page: {allow_guest: true}, mine: {roles: ["System Manager"]}},
		};
		export function page({ slug, doctype }: { slug: string, doctype: string }) {
			if (request.method === "POST") kv.set("seen", (kv.get("seen") ?? 0) + 1);
			respond({ html: html~<p>${slug} ${doctype} ${caller.user} ${request.route} ${request.base} ${kv.get("seen")}</p>~ });
		}
		export function mine() { return caller.user }`, "~", "`"))
		armaturetest.Eventually(t, "the pages are there", func() bool { status, _, _ := page(t, s, "GET", "/apps/shop/", ""); return status == 200 })

		if _, stderr, err := in.Try("correct horse battery\n", "user", "password", "Administrator"); err != nil {
			t.Fatal(err, stderr)
		}
		var session string
		armaturetest.Eventually(t, "the Administrator logs in", func() bool {
			r, err := http.PostForm(s.URL+"/api/method/login", url.Values{"usr": {"Administrator"}, "pwd": {"correct horse battery"}})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Body.Close()
			for _, c := range r.Cookies() {
				if c.Name == "sid" {
					session = c.String()
				}
			}
			return strings.HasPrefix(session, "sid=")
		})
		key := strings.TrimPrefix(s.Auth, "Authorization: ")
		for _, tt := range []struct {
			verb, path string
			headers    []string
			status     int
			want       string
		}{
			{"GET", "/apps/shop", nil, 307, ""},
			{"GET", "/apps/shop/", nil, 200, "the shop"},
			{"GET", "/apps/shop/js/code.js", nil, 200, "1"},
			{"GET", "/apps/shop/somewhere", []string{"Accept", "text/html"}, 200, "the shop"},
			{"GET", "/apps/shop/missing.js", []string{"Accept", "text/html"}, 404, ""},
			{"GET", "/apps/none/", nil, 404, ""},
			{"GET", "/apps/shop/js/code.js", []string{"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Dest", "script"}, 403, "no part"},
			{"GET", "/apps/shop/js/code.js", []string{"Service-Worker", "script"}, 403, "service worker"},
			{"GET", "/apps/shop/p/%3Cb%3E?doctype=x&slug=y", nil, 200, "<p>&#60;b&#62; x Guest GET /p/{slug} /apps/shop </p>"},
			{"GET", "/apps/shop/p/a", []string{"Authorization", key}, 200, "a  Administrator GET"},
			{"POST", "/apps/shop/p/a", nil, 200, "a  Guest POST /p/{slug} /apps/shop 1"},
			{"GET", "/apps/shop/p/a", nil, 200, "/apps/shop 1"},
			{"DELETE", "/apps/shop/p/a", nil, 405, ""},
			{"GET", "/apps/shop/mine", nil, 403, "log in"},
			{"GET", "/api/method/shop.mine", []string{"Cookie", session}, 200, `{"message":"Administrator"}`},
			{"GET", "/apps/shop/mine", []string{"Cookie", session}, 403, "log in"},
			{"GET", "/apps/shop/p/a", []string{"Cookie", session}, 200, "a  Guest"},
			{"GET", "/apps/shop/mine", []string{"Authorization", key}, 200, `{"message":"Administrator"}`},
			{"GET", "/apps/shop/-/login?to=//evil.example", nil, 417, "within the app"},
			{"GET", "/apps/shop/-/callback?code=x&state=y", nil, 417, "another browser"},
		} {
			status, text, h := page(t, s, tt.verb, tt.path, "", tt.headers...)
			if status != tt.status || !strings.Contains(text, tt.want) {
				t.Errorf("%s %s %q: %d %s, want %d %s", tt.verb, tt.path, tt.headers, status, text, tt.status, tt.want)
			}
			if csp := h.Get("Content-Security-Policy"); strings.HasPrefix(tt.path, "/apps/shop") && (!strings.Contains(csp, "frame-ancestors 'none'") || strings.Contains(csp, "allow-same-origin")) {
				t.Errorf("%s %s has the policy %s", tt.verb, tt.path, csp)
			}
		}
		for path, want := range map[string]string{"/apps/shop/p/a": "null", "/apps/shop/": "null", "/api/method/ping": "", "/login": ""} {
			if _, _, h := page(t, s, "GET", path, "", "Origin", "null"); h.Get("Access-Control-Allow-Origin") != want || h.Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("for null %s has %v", path, h)
			}
		}
		if _, _, h := page(t, s, "OPTIONS", "/api/resource/ToDo", "", "Origin", "null", "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "authorization"); h.Get("Access-Control-Allow-Origin") != "null" {
			t.Errorf("a token may not be brought from a sandbox: %v", h)
		}

		in.Run("site", "config", "default", "set", "call_limits", `{"shop.page": {"limit": 1, "seconds": 3600}}`)
		armaturetest.Eventually(t, "calls by the route are counted", func() bool { status, _, _ := page(t, s, "GET", "/apps/shop/p/a", ""); return status == 429 })

		in.Run("site", "config", "default", "set", "apps_host", `"apps.example.org"`)
		const own = "shop.apps.example.org"
		armaturetest.Eventually(t, "it is on a host of its own", func() bool { status, _, _ := page(t, s, "GET", "/", own); return status == 200 })
		for path, want := range map[string]int{"/js/code.js": 200, "/login": 404, "/api/method/ping": 404, "/app": 404} {
			if status, text, _ := page(t, s, "GET", path, own); status != want {
				t.Errorf("%s on the host of a plugin: %d %s", path, status, text)
			}
		}
		if status, _, _ := page(t, s, "GET", "/login", "none.apps.example.org"); status != 404 {
			t.Errorf("a host of no plugin has a login page: %d", status)
		}
		if status, _, h := page(t, s, "GET", "/apps/shop/js/code.js?a=1", ""); status != 307 || !strings.HasPrefix(h.Get("Location"), "http://shop.apps.example.org") || !strings.HasSuffix(h.Get("Location"), "/js/code.js?a=1") {
			t.Errorf("where it was before: %d %v", status, h)
		}
		if status, _, _ := page(t, s, "GET", "/js/code.js", own, "Service-Worker", "script"); status != 200 {
			t.Errorf("a service worker on the plugin's own host: %d", status)
		}

		in.Drop("clash/main.ts", `export const manifest = {routes: {"GET /{a}/x": "one", "GET /y/{b}": "one"}}; export function one() {}`)
		armaturetest.Eventually(t, "routes that clash are refused by name", func() bool {
			out := in.Run("plugin", "list")
			return strings.Contains(out, "GET /y/{b}") && strings.Contains(out, "GET /{a}/x")
		})
	})
}

// TestAppVersions: a version of a plugin is its methods and its files: they change together,
// and come back together.
func TestAppVersions(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		s := in.Serve()
		s.Auth = in.Keys("Administrator")
		for _, v := range []string{"one", "two"} {
			dir := t.TempDir()
			armaturetest.Put(t, dir+"/main.js", []byte(`export const manifest = {name: "acme.shop", version: "1", routes: {"GET /v": "v"}, methods: {v: {allow_guest: true}}}; export function v() { respond({ html: "`+v+`" }) }`))
			if err := os.Mkdir(dir+"/public", 0o700); err != nil {
				t.Fatal(err)
			}
			armaturetest.Put(t, dir+"/public/file.txt", []byte(v))
			in.Run("plugin", "build", dir, "-o", dir+".wasm")
			in.Run("plugin", "install", dir+".wasm")
		}
		serves := func(want string) func() bool {
			return func() bool {
				_, route, _ := page(t, s, "GET", "/apps/acme.shop/v", "")
				_, file, _ := page(t, s, "GET", "/apps/acme.shop/file.txt", "")
				return route == want && file == want
			}
		}
		armaturetest.Eventually(t, "the second serves", serves("two"))
		in.Run("plugin", "rollback", "acme.shop")
		armaturetest.Eventually(t, "the first does again", serves("one"))
		in.Run("plugin", "disable", "acme.shop")
		armaturetest.Eventually(t, "none does", func() bool { status, _, _ := page(t, s, "GET", "/apps/acme.shop/file.txt", ""); return status == 404 })
	})
}

// TestAppLimits: a route that spins or grows is stopped and answered well, the others go on
// beside it, and its time counts for the plugin's budget and the site's.
func TestAppLimits(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		s := in.Serve()
		s.Auth = in.Keys("Administrator")
		in.Drop("greedy/main.ts", `export const manifest = {
			routes: {"GET /spin": "spin", "GET /grow": "grow", "GET /ok": "ok"},
			methods: {spin: {allow_guest: true}, grow: {allow_guest: true}, ok: {allow_guest: true}},
		};
		export function spin() { for (;;); }
		export function grow() { const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1)); }
		export function ok() { respond({ html: "<p>well</p>" }); }`)
		in.Drop("other/main.ts", `export const manifest = {routes: {"GET /ok": "ok"}, methods: {ok: {allow_guest: true}}};
		export function ok() { respond({ html: "<p>well</p>" }); }`)
		get := func(path string) (int, string, http.Header) {
			t.Helper()
			return page(t, s, "GET", path, "", "Accept", "application/json")
		}
		for _, path := range []string{"/apps/greedy/ok", "/apps/other/ok"} {
			armaturetest.Eventually(t, path+" is there", func() bool { status, _, _ := get(path); return status == 200 })
		}
		for _, path := range []string{"/apps/greedy/spin", "/apps/greedy/grow"} {
			status, text, h := get(path)
			if status != 500 || strings.Contains(text, "goroutine") || h.Get("Content-Security-Policy") == "" {
				t.Errorf("%s: %d %s %v", path, status, text, h)
			}
			if status, text, _ := get("/apps/greedy/ok"); status != 200 {
				t.Errorf("after it: %d %s", status, text)
			}
		}

		// Many that spin at a time keep nobody else from an answer.
		var spins sync.WaitGroup
		for range 16 {
			spins.Go(func() {
				for range 3 {
					r, err := http.Get(s.URL + "/apps/greedy/spin")
					if err != nil {
						t.Error(err)
						return
					}
					if r.Body.Close() != nil || r.StatusCode != 500 && r.StatusCode != 503 {
						t.Errorf("spinning with others: %d", r.StatusCode)
					}
				}
			})
		}
		for range 5 {
			if status, text, _ := get("/apps/other/ok"); status != 200 {
				t.Errorf("beside those that spin: %d %s", status, text)
			}
		}
		spins.Wait()

		// Each spin is some 100 ms of counted work: the windows are a year, so none ends.
		in.Run("site", "config", "default", "set", "budgets", `{"plugins": {"greedy": {"limit": 0.15, "window": 31536000}}}`)
		armaturetest.Eventually(t, "the time of the route is on the plugin's budget", func() bool {
			get("/apps/greedy/spin")
			status, text, h := get("/apps/greedy/ok")
			return status == 429 && strings.Contains(text, "greedy") && h.Get("Retry-After") != "" && h.Get("X-RateLimit-Limit") == "150000"
		})
		if status, text, _ := get("/apps/other/ok"); status != 200 {
			t.Errorf("another plugin's route: %d %s", status, text)
		}
		in.Run("site", "config", "default", "set", "budgets", `{}`)
		in.Run("site", "config", "default", "set", "rate_limit", `{"limit": 0.15, "window": 31536000}`)
		armaturetest.Eventually(t, "the time of the route is on the site's limit", func() bool {
			get("/apps/greedy/spin")
			status, _, h := get("/apps/other/ok")
			return status == 429 && h.Get("Retry-After") != "" && h.Get("X-RateLimit-Remaining") == "0"
		})
	})
}
