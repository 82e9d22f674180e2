package main_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"armature/cmd/armature/armaturetest"
)

// TestJobs: what a plugin enqueues runs once its request is committed, as who asked, in
// steps, and not if the request fails or only reads; the command line and the methods
// for System Managers show it.
func TestJobs(t *testing.T) {
	var mu sync.Mutex
	var keys []string
	away := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		keys = append(keys, r.Header.Get("Idempotency-Key"))
	}))
	defer away.Close()
	host := strings.TrimPrefix(away.URL, "http://")
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		in.Run("site", "new", "default")
		in.Run("site", "config", "default", "set", "allowed_private_hosts", fmt.Sprintf(`[%q]`, host))
		in.Drop("acme.later.js", `
			export const manifest = { version: "1", allowed_hosts: ["`+host+`"], grants: ["enqueue", "http_fetch", "method:acme.later.*", "resource:ToDo:write"] };
			export function begin({ text, fail, options }) {
				const job = enqueue("acme.later.note", { text }, options);
				if (fail) throw new ValidationError("no");
				return job;
			}
			export function note({ text }) {
				doc.insert("ToDo", { description: text + " as " + caller.user });
			}
			export function count({ to }) { return enqueue("acme.later.step", { to }) }
			export function step({ to, cursor = 0 }) {
				doc.insert("ToDo", { description: "step " + cursor });
				return cursor + 1 < to ? { next: cursor + 1, progress: { done: cursor + 1, of: to } } : { progress: "all" };
			}
			export function out({ url }) { return enqueue("acme.later.outgo", { url }) }
			export function outgo({ url }) { ask("http_fetch", { url }); ask("http_fetch", { url, method: "POST" }) }
			export function bad() { return enqueue("acme.later.nothing") }
			export function ready() {}
		`)
		s := in.Serve()
		s.Auth = in.Keys("Administrator")
		armaturetest.Eventually(t, "the plugin can be approved", func() bool {
			_, _, err := in.Try("", "plugin", "approve", "acme.later", "enqueue", "http_fetch", "http_fetch:"+host)
			return err == nil
		})
		armaturetest.Eventually(t, "acme.later.ready answers", func() bool {
			status, _ := s.Call("GET", "/api/method/acme.later.ready", nil)
			return status == http.StatusOK
		})
		post := func(method string, body any) (int, map[string]any) {
			t.Helper()
			return s.Call("POST", "/api/method/"+method, body)
		}
		shown := func(job any) map[string]any {
			_, answer := post("framework.job.show", map[string]any{"job": job})
			view, _ := answer["message"].(map[string]any)
			return view
		}
		done := func(job any) {
			t.Helper()
			armaturetest.Eventually(t, fmt.Sprint("the job is done: ", job), func() bool { return shown(job)["state"] == "done" })
		}
		todos := func() string {
			_, answer := s.Call("GET", `/api/resource/ToDo?fields=["description"]&order_by=creation&as_dict=0&limit_page_length=0`, nil)
			return fmt.Sprint(answer["data"])
		}
		if status, answer := post("acme.later.begin", map[string]any{"text": "failed", "fail": true}); status != 417 {
			t.Fatalf("%d %v", status, answer)
		}
		if _, answer := s.Call("GET", "/api/method/acme.later.begin?text=read", nil); answer["message"] != "" {
			t.Errorf("a GET enqueued %v", answer)
		}
		_, answer := post("acme.later.begin", map[string]any{"text": "good"})
		done(answer["message"])
		if got := todos(); got != "[[good as Administrator]]" {
			t.Errorf("the jobs wrote %s", got)
		}
		_, answer = post("acme.later.count", map[string]any{"to": 3})
		done(answer["message"])
		if got, view := todos(), shown(answer["message"]); got != "[[good as Administrator] [step 0] [step 1] [step 2]]" || fmt.Sprintf("%v %v", view["step"], view["progress"]) != "3 all" {
			t.Errorf("the steps wrote %s, and the job is %v", got, view)
		}
		if status, answer := post("acme.later.bad", nil); status != 404 {
			t.Errorf("a method that there is not: %d %v", status, answer)
		}
		_, answer = post("acme.later.out", map[string]any{"url": away.URL})
		done(answer["message"])
		mu.Lock()
		if want := fmt.Sprintf("[%v-0-1 %v-0-2]", answer["message"], answer["message"]); fmt.Sprint(keys) != want {
			t.Errorf("requests had the keys %v, want %s", keys, want)
		}
		keys = nil
		mu.Unlock()

		_, answer = post("acme.later.begin", map[string]any{"text": "late", "options": map[string]any{"delay_s": 3600, "unique": "one"}})
		late := fmt.Sprint(answer["message"])
		if _, again := post("acme.later.begin", map[string]any{"text": "late", "options": map[string]any{"delay_s": 3600, "unique": "one"}}); again["message"] != late {
			t.Errorf("a second job with the key: %v", again)
		}
		if list := in.Run("job", "list", "--state", "waiting"); !strings.Contains(list, late) {
			t.Errorf("job list: %s", list)
		}
		in.Run("job", "retry", late)
		done(late)
		_, answer = post("acme.later.begin", map[string]any{"text": "never", "options": map[string]any{"run_at": "2100-01-01T00:00:00Z"}})
		in.Run("job", "cancel", fmt.Sprint(answer["message"]))
		if view := shown(answer["message"]); view["state"] != "cancelled" {
			t.Errorf("cancelled: %v", view)
		}
		if status, _ := s.CallAs("", "POST", "/api/method/framework.job.list", nil); status != 403 && status != 401 {
			t.Errorf("a stranger lists jobs: %d", status)
		}
	})
}

// TestAfterCommit: a handler hears of what was committed, of nothing else, and holds up no
// write.
func TestAfterCommit(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		in.Run("site", "new", "default")
		in.Drop("acme.after.js", `
			export const manifest = {
				version: "1", grants: ["resource:Note:write", "resource:ToDo:write"],
				events: { "ToDo.after_commit": "written" },
			};
			export function written({ doctype, name, doc: it }) {
				doc.insert("Note", { title: it ? it.description : "gone " + doctype });
				if (it && it.description == "bad") throw new ValidationError("no");
			}
			export function undone() { doc.insert("ToDo", { description: "undone" }); throw new ValidationError("no") }
			export function caught() {
				doc.insert("ToDo", { description: "kept" });
			}
			export function ready() {}
		`)
		s := in.Serve()
		s.Auth = in.Keys("Administrator")
		armaturetest.Eventually(t, "acme.after.ready answers", func() bool {
			status, _ := s.Call("GET", "/api/method/acme.after.ready", nil)
			return status == http.StatusOK
		})
		notes := func() string {
			_, answer := s.Call("GET", `/api/resource/Note?fields=["title"]&order_by=title&as_dict=0&limit_page_length=0`, nil)
			return fmt.Sprint(answer["data"])
		}
		s.Call("POST", "/api/method/acme.after.undone", map[string]any{})
		_, answer := s.Call("POST", "/api/resource/ToDo", map[string]any{"description": "bad"})
		bad, _ := answer["data"].(map[string]any)
		if bad["name"] == nil {
			t.Fatalf("the write was not made: %v", answer)
		}
		s.Call("POST", "/api/method/acme.after.caught", map[string]any{})
		armaturetest.Eventually(t, "the handler has run", func() bool { return notes() == "[[kept]]" })
		if list := in.Run("job", "list"); !strings.Contains(list, "@acme.after:ToDo.after_commit") || !strings.Contains(list, "ValidationError") {
			t.Errorf("what failed is not listed: %s", list)
		}
		if status, answer := s.Call("POST", "/api/method/@acme.after:ToDo.after_commit", map[string]any{"doctype": "ToDo", "name": "x"}); status < 400 {
			t.Errorf("a request called the handler: %d %v", status, answer)
		}
		if status, answer := s.Call("DELETE", "/api/resource/ToDo/"+fmt.Sprint(bad["name"]), nil); status >= 300 {
			t.Fatalf("%d %v", status, answer)
		}
		armaturetest.Eventually(t, "the handler has heard of the deletion", func() bool { return strings.Contains(notes(), "gone ToDo") })
	})
}

// TestCopyHasJobs: a copy that comes out of an archive has the jobs that waited, and those
// that are dead; none of them runs there until somebody resumes it.
func TestCopyHasJobs(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		in.Run("site", "new", "default")
		in.Drop("acme.later.js", `
			export const manifest = { version: "1", grants: ["enqueue", "resource:ToDo:write"] };
			export function begin({ text, options }) { return enqueue("acme.later.note", { text }, options) }
			export function note({ text }) {
				if (!config("works")) throw new ValidationError("not here");
				doc.insert("ToDo", { description: text });
			}
		`)
		s := in.Serve()
		s.Auth = in.Keys("Administrator")
		armaturetest.Eventually(t, "the plugin can be approved", func() bool {
			_, _, err := in.Try("", "plugin", "approve", "acme.later", "enqueue")
			return err == nil
		})
		begin := func(text string, options map[string]any) (job string) {
			t.Helper()
			armaturetest.Eventually(t, "a job is enqueued", func() bool {
				job = s.Message("acme.later.begin", map[string]any{"text": text, "options": options})
				return job != ""
			})
			return job
		}
		late := begin("late", map[string]any{"delay_s": 3600})
		failed := begin("failed", map[string]any{"attempts": 1})
		listed := func(site, state string) string { return in.Run("job", "list", "--site", site, "--state", state) }
		armaturetest.Eventually(t, "the one that fails is dead", func() bool { return strings.Contains(listed("default", "dead"), failed) })
		s.Stop()

		file := filepath.Join(t.TempDir(), "site.armature")
		if _, stderr, err := with(in, "site", "backup", "default", file); err != nil {
			t.Fatal(stderr)
		}
		if _, stderr, err := with(in, "site", "restore", file, "--as", "copy"); err != nil {
			t.Fatal(stderr)
		}
		all := in.Run("job", "list", "--site", "copy")
		if !strings.Contains(all, late) || !strings.Contains(listed("copy", "dead"), failed) {
			t.Errorf("the copy has the jobs\n%s", all)
		}
		in.Run("site", "config", "copy", "set", "plugins", `{"acme.later": {"works": true}}`)
		in.Run("site", "config", "copy", "set", "hosts", `["copy.example"]`)
		in.Run("job", "retry", failed, "--site", "copy")
		s = in.Serve()
		armaturetest.Eventually(t, "the copy is served", func() bool {
			status, _, _ := page(t, s, "GET", "/api/method/ping", "copy.example")
			return status == http.StatusOK
		})
		if done := listed("copy", "done"); strings.Contains(done, failed) {
			t.Errorf("a job runs on a copy:\n%s", done)
		}
		in.Run("site", "resume", "copy")
		armaturetest.Eventually(t, "once the copy is resumed the job runs", func() bool { return strings.Contains(listed("copy", "done"), failed) })
		if dead := listed("default", "dead"); !strings.Contains(dead, failed) {
			t.Errorf("the job of the site itself is not dead any more:\n%s", dead)
		}
	})
}
