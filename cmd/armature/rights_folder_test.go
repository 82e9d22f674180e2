package main_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"armature/cmd/armature/armaturetest"
)

// TestRightsInFolder: what lies in the operator's folder has everybody's documents
// as it names them, waits for what is the platform's, gets that back with its file,
// and has limits up to the operator's.
func TestRightsInFolder(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		read := `export function get({ doctype, name }) { return doc.get(doctype, name).name; }`
		in.Drop("plain.js", read)
		in.Drop("acme.reader.js", `export const manifest = { grants: ["resource:ToDo:read", "resource:User:read"], limits: { cpu_ms: 1000, wall_ms: 200 } }; `+read)
		s := in.Serve("--plugin-folder-limits", "cpu_ms=200")
		s.Auth = in.Keys("Administrator")
		todo := s.Want("POST", "/api/resource/ToDo", args{"description": "x"}).(map[string]any)["name"]
		get := func(plugin, doctype string, name any) (int, map[string]any) {
			return s.Call("GET", fmt.Sprintf("/api/method/%s.get?doctype=%s&name=%s", plugin, doctype, name), nil)
		}
		armaturetest.Eventually(t, "the script serves", func() bool { status, _ := get("plain", "ToDo", todo); return status == http.StatusOK })
		if status, answer := get("plain", "User", "Administrator"); status != http.StatusForbidden {
			t.Errorf("without a manifest, of the platform: %d %v", status, answer)
		}
		s.Want("POST", "/api/resource/User", args{"email": "ada@example.com", "first_name": "Ada", "new_password": "a long enough pass phrase"})
		if status, answer := s.CallAs(in.Keys("ada@example.com"), "GET", fmt.Sprintf("/api/method/plain.get?doctype=ToDo&name=%s", todo), nil); status != http.StatusForbidden {
			t.Errorf("without a manifest, beyond its caller: %d %v", status, answer)
		}

		armaturetest.Eventually(t, "its caller is told what it waits for", func() bool {
			status, answer := get("acme.reader", "ToDo", todo)
			return status == http.StatusExpectationFailed && strings.Contains(fmt.Sprint(answer), "waits for the approval of resource:User:read")
		})
		if status, answer := s.CallAs("", "GET", "/api/method/acme.reader.get", nil); status == http.StatusOK || strings.Contains(fmt.Sprint(answer), "resource:") {
			t.Errorf("anybody is told what it waits for: %d %v", status, answer)
		}
		in.Run("plugin", "approve", "acme.reader", "resource:User:read")
		works := func() bool { status, _ := get("acme.reader", "User", "Administrator"); return status == http.StatusOK }
		armaturetest.Eventually(t, "it is approved", works)
		list := s.Want("GET", "/api/method/framework.plugins.list?plugin=acme.reader", nil).([]any)[0].(map[string]any)
		if text := fmt.Sprint(list["grants_waiting"]); text != "[limit:cpu_ms=1000]" {
			t.Errorf("waits for %v", text)
		}

		file := filepath.Join(in.Plugins(), "acme.reader.js")
		if err := os.Rename(file, file+".away"); err != nil {
			t.Fatal(err)
		}
		armaturetest.Eventually(t, "it is gone", func() bool {
			status, _ := s.Call("GET", "/api/method/framework.plugins.list?plugin=acme.reader", nil)
			return status == http.StatusNotFound
		})
		if status, _ := s.Call("POST", "/api/method/framework.plugins.approve", args{"plugin": "acme.reader"}); status != http.StatusNotFound {
			t.Errorf("what is gone is approved: %d", status)
		}
		if err := os.Rename(file+".away", file); err != nil {
			t.Fatal(err)
		}
		armaturetest.Eventually(t, "it is back with what was approved", works)

		// A plugin of the name that somebody installs has not what this one had.
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		armaturetest.Eventually(t, "it is gone again", func() bool { return !works() })
		armaturetest.Eventually(t, "its name is free", func() bool {
			done := tryScript(s, in, "acme.reader", args{"grants": []string{"resource:User:read"}})
			return done["status"] == "Awaiting Approval" && fmt.Sprint(done["grants_waiting"]) == "[resource:User:read]"
		})
	})
}
