package main_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRightsInFolder: what lies in the operator's folder has everybody's documents
// as it names them, waits for what is the platform's, gets that back with its file,
// and has limits up to the operator's.
func TestRightsInFolder(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		read := `export function get({ doctype, name }) { return doc.get(doctype, name).name; }`
		in.drop("plain.js", read)
		in.drop("acme.reader.js", `export const manifest = { grants: ["resource:ToDo:read", "resource:User:read"], limits: { cpu_ms: 1000, wall_ms: 200 } }; `+read)
		s := in.serve("--plugin-folder-limits", "cpu_ms=200")
		s.auth = in.keys("Administrator")
		todo := s.want("POST", "/api/resource/ToDo", args{"description": "x"}).(map[string]any)["name"]
		get := func(plugin, doctype string, name any) (int, map[string]any) {
			return s.call("GET", fmt.Sprintf("/api/method/%s.get?doctype=%s&name=%s", plugin, doctype, name), nil)
		}
		eventually(t, "the script serves", func() bool { status, _ := get("plain", "ToDo", todo); return status == http.StatusOK })
		if status, answer := get("plain", "User", "Administrator"); status != http.StatusForbidden {
			t.Errorf("without a manifest, of the platform: %d %v", status, answer)
		}
		s.want("POST", "/api/resource/User", args{"email": "ada@example.com", "first_name": "Ada", "new_password": "a long enough pass phrase"})
		if status, answer := s.callAs(in.keys("ada@example.com"), "GET", fmt.Sprintf("/api/method/plain.get?doctype=ToDo&name=%s", todo), nil); status != http.StatusForbidden {
			t.Errorf("without a manifest, beyond its caller: %d %v", status, answer)
		}

		eventually(t, "its caller is told what it waits for", func() bool {
			status, answer := get("acme.reader", "ToDo", todo)
			return status == http.StatusExpectationFailed && strings.Contains(fmt.Sprint(answer), "waits for the approval of resource:User:read")
		})
		if status, answer := s.callAs("", "GET", "/api/method/acme.reader.get", nil); status == http.StatusOK || strings.Contains(fmt.Sprint(answer), "resource:") {
			t.Errorf("anybody is told what it waits for: %d %v", status, answer)
		}
		in.run("plugin", "approve", "acme.reader", "resource:User:read")
		works := func() bool { status, _ := get("acme.reader", "User", "Administrator"); return status == http.StatusOK }
		eventually(t, "it is approved", works)
		list := s.want("GET", "/api/method/framework.plugins.list?plugin=acme.reader", nil).([]any)[0].(map[string]any)
		if text := fmt.Sprint(list["grants_waiting"]); text != "[limit:cpu_ms=1000]" {
			t.Errorf("waits for %v", text)
		}

		file := filepath.Join(in.plugins(), "acme.reader.js")
		if err := os.Rename(file, file+".away"); err != nil {
			t.Fatal(err)
		}
		eventually(t, "it is gone", func() bool {
			status, _ := s.call("GET", "/api/method/framework.plugins.list?plugin=acme.reader", nil)
			return status == http.StatusNotFound
		})
		if status, _ := s.call("POST", "/api/method/framework.plugins.approve", args{"plugin": "acme.reader"}); status != http.StatusNotFound {
			t.Errorf("what is gone is approved: %d", status)
		}
		if err := os.Rename(file+".away", file); err != nil {
			t.Fatal(err)
		}
		eventually(t, "it is back with what was approved", works)

		// A plugin of the name that somebody installs has not what this one had.
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		eventually(t, "it is gone again", func() bool { return !works() })
		eventually(t, "its name is free", func() bool {
			done := s.tryScript(in, "acme.reader", args{"grants": []string{"resource:User:read"}})
			return done["status"] == "Awaiting Approval" && fmt.Sprint(done["grants_waiting"]) == "[resource:User:read]"
		})
	})
}
