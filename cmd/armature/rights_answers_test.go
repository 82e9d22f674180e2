package main_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"armature/cmd/armature/armaturetest"
)

// TestAnswersInFrame: a read that locks, and the answer of a write, show a plugin no
// more than a read would.
func TestAnswersInFrame(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		s := in.Serve()
		s.Auth = in.Keys("Administrator")
		lock := `export function lock({ doctype, name }) { return doc.get(doctype, name, { lock: true }); }`
		s.Script(in, "evil.lock", lock+`export function hear({ doc: todo }) { if (todo.color) doc.get("Note", todo.color, { lock: true }); }`,
			args{"grants": []string{"resource:ToDo:read", "resource:ToDo:update"}, "events": args{"ToDo.validate": args{"export": "hear"}}}, []string{"all"})
		s.Script(in, "evil.maker", reach, args{"grants": []string{"resource:ToDo:create", "resource:Note:update", "resource:Note:delete"}}, []string{"all"})
		note := s.Want("POST", "/api/resource/Note", args{"title": "N", "content": "secret"}).(map[string]any)["name"].(string)
		todo := s.Want("POST", "/api/resource/ToDo", args{"description": "plain"}).(map[string]any)["name"].(string)

		attack{name: "what was given", path: "/api/method/evil.lock.lock", body: args{"doctype": "ToDo", "name": todo}, status: http.StatusOK, say: "plain"}.try(s)
		attack{name: "a locked read of another type", path: "/api/method/evil.lock.lock", body: args{"doctype": "Note", "name": note}, say: "is not granted resource:Note:"}.try(s)
		attack{name: "a locked read of a user", path: "/api/method/evil.lock.lock", body: args{"doctype": "User", "name": "Administrator"}, say: "is not granted resource:User:"}.try(s)
		attack{name: "a locked read of what is not there", path: "/api/method/evil.lock.lock", body: args{"doctype": "Note", "name": "nothing"}, say: "is not granted resource:Note:"}.try(s)
		attack{name: "a locked read in an event", path: "/api/resource/ToDo", body: args{"description": "x", "color": note}, say: "is not granted resource:Note:"}.try(s)

		for name, call := range map[string]struct {
			path string
			body args
		}{
			"an insert": {"evil.maker.insert", args{"doctype": "ToDo", "values": args{"description": "secret"}}},
			"an update": {"evil.maker.update", args{"doctype": "Note", "name": note, "values": args{"title": "M"}}},
			"by client": {"evil.maker.update", args{"doctype": "Note", "name": note, "values": args{"title": "O", "content": "secret"}}},
		} {
			status, answer := s.Call("POST", "/api/method/"+call.path, call.body)
			if text := fmt.Sprint(answer); status != http.StatusOK || strings.Contains(text, "secret") || !strings.Contains(text, "name:") {
				t.Errorf("%s: %d %s", name, status, text)
			}
		}
		if got := s.Want("GET", "/api/resource/Note/"+note, nil).(map[string]any); got["content"] != "secret" {
			t.Errorf("what was masked was lost: %v", got)
		}
	})
}
