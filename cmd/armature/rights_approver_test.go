package main_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"armature/cmd/armature/armaturetest"
)

// TestApproversGiveWhatTheyHave: nobody gives a plugin more than they have, wildcards
// and the passing by of roles included, and who was refused is in the log.
func TestApproversGiveWhatTheyHave(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		s := in.Serve()
		s.Auth = in.Keys("Administrator")
		s.Want("POST", "/api/resource/Role", args{"role_name": "Payroll"})
		s.Want("POST", "/api/resource/DocType", args{
			"name": "Salary", "custom": 1, "module": "Custom", "fields": []any{args{"fieldname": "sum", "fieldtype": "Float"}},
			"permissions": []any{args{"role": "Payroll", "read": 1, "write": 1, "create": 1}},
		})
		s.Want("POST", "/api/resource/User", args{"email": "ada@example.com", "first_name": "Ada", "new_password": "a long enough pass phrase", "roles": []any{args{"role": "System Manager"}}})
		s.Want("POST", "/api/resource/User", args{"email": "eve@example.com", "first_name": "Eve", "new_password": "a long enough pass phrase"})
		s.Script(in, "acme.wide", reach, args{"grants": []string{"resource:*:read", "resource:Salary:read", "resource:Note:read", "elevated"}, "events": args{"Salary.validate": args{"export": "get", "sets": []string{"sum"}}}}, nil)
		ada, eve := in.Keys("ada@example.com"), in.Keys("eve@example.com")
		approve := func(auth string, grants ...string) (int, string) {
			status, answer := s.CallAs(auth, "POST", "/api/method/framework.plugins.approve", args{"plugin": "acme.wide", "grants": grants})
			return status, fmt.Sprint(answer)
		}
		for _, grant := range []string{"resource:Salary:read", "resource:*:read", "event:Salary.validate", "elevated", "all"} {
			if status, text := approve(ada, grant); status != http.StatusForbidden || !strings.Contains(text, "having less on") || !strings.Contains(text, "Salary") {
				t.Errorf("Ada gives %s: %d %s", grant, status, text)
			}
		}
		if status, text := approve(eve, "resource:Note:read"); status != http.StatusForbidden {
			t.Errorf("Eve gives what she is not asked for: %d %s", status, text)
		}
		if status, text := approve(ada, "resource:Note:read"); status != http.StatusOK {
			t.Errorf("Ada gives what she has: %d %s", status, text)
		}
		token := s.Bearer(t, "method:framework.plugins.*")
		if status, text := approve(token, "resource:Note:read"); status != http.StatusForbidden || !strings.Contains(text, "narrowed") {
			t.Errorf("a narrowed token: %d %s", status, text)
		}
		s.Want("PUT", "/api/resource/User/ada@example.com", args{"roles": []any{args{"role": "System Manager"}, args{"role": "Payroll"}}})
		armaturetest.Eventually(t, "Ada has the role", func() bool {
			status, _ := approve(ada, "event:Salary.validate", "resource:Salary:read")
			return status == http.StatusOK
		})

		log := s.Want("GET", `/api/resource/Activity Log?fields=["subject","status","owner","creation"]&filters=[["operation","=","Plugins"]]&limit=50`, nil).([]any)
		text, _ := json.Marshal(log)
		for _, want := range []string{"acme.wide: refused: User ada@example.com may not give", "refused: What a plugin may do is approved by people", "approved resource:Note:read"} {
			if !strings.Contains(string(text), want) {
				t.Errorf("the log does not say %q: %s", want, text)
			}
		}
		for _, entry := range log {
			if e := entry.(map[string]any); strings.Contains(e["subject"].(string), "refused:") && (e["status"] != "Failed" || e["owner"] != "ada@example.com" || e["creation"] == "") {
				t.Errorf("%v", e)
			}
		}

		// What was approved and refused is not cut off, however much it is.
		var many []string
		for i := range 12 {
			many = append(many, fmt.Sprintf("method:another.plugin.with.a.long.name.method_%02d", i))
		}
		s.Script(in, "acme.many", reach, args{"grants": many}, []string{"all"})
		text, _ = json.Marshal(s.Want("GET", `/api/resource/Activity Log?fields=["subject"]&filters=[["subject","like","%25acme.many%25"]]&limit=50`, nil))
		for _, grant := range many {
			if !strings.Contains(string(text), grant) {
				t.Errorf("the log does not name %s: %s", grant, text)
			}
		}
	})
}
