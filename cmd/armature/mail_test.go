package main_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"armature/cmd/armature/armaturetest"
	"armature/core/mail/mailtest"
)

// TestPluginsSendLetters: a plugin in JavaScript and one in Go send letters by the host
// call, once somebody has approved that, and only what is committed.
func TestPluginsSendLetters(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		in.Run("site", "new", "default")
		in.Run("user", "add", "zoe@example.com")
		o := mailtest.Open(t)
		in.Run("site", "config", "default", "set", "mail", o.Setting)
		in.Drop("acme.post.js", `
			export const manifest = { version: "1", grants: ["sendmail", "resource:Email Template:read"],
				methods: [{ path: "acme.post.send" }, { path: "acme.post.ask", allow_guest: true, verbs: ["POST"] }] };
			export function send({ fail, ...letter }) {
				const jobs = sendmail(letter);
				if (fail) throw new ValidationError("no");
				return jobs;
			}
			export function ask() { return sendmail({ recipients: "desk@example.com", subject: "A question", text: "Of somebody." }).length }
		`)
		dir := filepath.Join(t.TempDir(), "acme.gopost")
		in.Run("plugin", "new", "acme.gopost", "--lang", "go", "--dir", dir)
		armaturetest.Put(t, filepath.Join(dir, "armature.json"), []byte(`{"name": "acme.gopost", "version": "1", "abi": 1,
			"methods": [{"path": "acme.gopost.send", "export": "send"}], "grants": ["sendmail"]}`))
		armaturetest.Put(t, filepath.Join(dir, "main.go"), []byte(`package main

import armature "armature/sdk/go"

//go:wasmexport send
func exportSend(n int32) { armature.Handle(n, send) }

func send(in armature.Doc) (armature.Doc, error) {
	a, err := armature.SendmailRequest{Recipients: []string{"go@example.com"}, Subject: in.String("subject"), Text: "From Go."}.Ask()
	return armature.Doc{"jobs": len(a.Jobs)}, err
}

func main() {}
`))
		in.Run("plugin", "build", dir, "-o", filepath.Join(in.Data, "plugins", "acme.gopost.wasm"))
		s := in.Serve()
		s.Auth = in.Keys("Administrator")
		s.Want("POST", "/api/resource/Email Template", map[string]any{"name": "Due", "subject": "Order {{ order }}", "body": "It is due, {{ name }}."})
		letter := map[string]any{"recipients": []string{"ada@example.com", "bob@example.com"}, "subject": "Hello", "text": "From a script."}
		for _, path := range []string{"acme.post.send", "acme.gopost.send"} {
			armaturetest.Eventually(t, path+" is refused until somebody approves it", func() bool {
				status, answer := s.Call("POST", "/api/method/"+path, letter)
				return status == http.StatusExpectationFailed && strings.Contains(fmt.Sprint(answer["message"]), "waits for the approval of sendmail")
			})
		}
		for _, name := range []string{"acme.post", "acme.gopost"} {
			s.Want("POST", "/api/method/framework.plugins.approve", map[string]any{"plugin": name, "grants": "sendmail"})
		}
		send := func(args map[string]any) (int, map[string]any) {
			return s.Call("POST", "/api/method/acme.post.send", args)
		}

		// What is refused sends nothing, nor does what fails after it, nor a GET.
		for want, args := range map[string]map[string]any{
			"ValidationError": {"recipients": "no address", "subject": "a", "text": "b"}, "DoesNotExistError": {"recipients": "x@example.com", "email_template": "None"},
		} {
			if _, answer := send(args); answer["exc_type"] != want {
				t.Errorf("%v: %v", args, answer)
			}
		}
		letter["fail"] = true
		if status, answer := send(letter); status != http.StatusExpectationFailed {
			t.Errorf("%d %v", status, answer)
		}
		delete(letter, "fail")
		if status, answer := s.Call("GET", "/api/method/acme.post.send?recipients=get@example.com&subject=a&text=b", nil); status != http.StatusOK || fmt.Sprint(answer["message"]) != "[]" {
			t.Errorf("GET: %d %v", status, answer)
		}

		if _, answer := send(letter); len(fmt.Sprint(answer["message"])) < 10 {
			t.Errorf("%v", answer)
		}
		send(map[string]any{"recipients": "cyd@example.com", "email_template": "Due", "values": map[string]any{"order": 7, "name": "Cyd"}})
		s.Want("POST", "/api/method/acme.gopost.send", map[string]any{"subject": "Compiled"})
		guest := *s
		guest.Auth = ""
		if status, answer := guest.Call("POST", "/api/method/acme.post.ask", nil); status != http.StatusOK {
			t.Errorf("a guest's question: %d %v", status, answer)
		}
		armaturetest.Eventually(t, "all letters are there", func() bool {
			return o.Has("ada@example.com", "Subject: Hello", "From a script.") && o.Has("bob@example.com", "Subject: Hello") &&
				o.Has("cyd@example.com", "Subject: Order 7", "It is due, Cyd.") && o.Has("go@example.com", "Subject: Compiled", "From Go.") &&
				o.Has("desk@example.com", "A question")
		})
		if n := o.Count(); n != 5 {
			t.Errorf("%d letters", n)
		}
	})
}
