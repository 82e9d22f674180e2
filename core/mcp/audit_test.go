package mcp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"armature/core/sites/sitetest"
)

// logged are the entries of agents' calls, the oldest first.
func logged(t testing.TB, s *sitetest.Server) (all []map[string]any) {
	t.Helper()
	for _, row := range s.Admin.On(t).Get(`/api/resource/Activity%20Log?filters=[["operation","=","Agent"]]&fields=["*"]&order_by=creation%20asc&limit=100`).List(t) {
		all = append(all, row.(map[string]any))
	}
	return all
}

// TestEveryCallIsKept: the Activity Log says who called what by which program and how
// it ended, and keeps no secret.
func TestEveryCallIsKept(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		p := newProgram(t, s, "robot@example.com", "System Manager")
		a := connect(t, s, p.token("all", s.URL+"/mcp"), generations[0])
		long := strings.Repeat("long ", 1000)
		a.ok("create", map[string]any{"doctype": "ToDo", "values": map[string]any{"description": long}})
		a.ok("create", map[string]any{"doctype": "User", "values": map[string]any{"email": "new@example.com", "first_name": "New", "new_password": "SECRET-1 a long pass phrase"}})
		a.refused("DoesNotExistError", "read", map[string]any{"doctype": "ToDo", "name": "nothing"})
		a.call("call_method", map[string]any{"method": "framework.client.set_value", "arguments": map[string]any{
			"doctype": "User", "name": "new@example.com", "fieldname": "new_password", "value": "SECRET-2 a long pass phrase"}})
		a.call("call_method", map[string]any{"method": "framework.client.save", "arguments": map[string]any{
			"doc": `{"doctype":"OAuth Client","name":"x","client_secret":"SECRET-3"}`, "api_key": "SECRET-4"}})
		a.call("list", map[string]any{"doctype": "User", "filters": []any{[]any{"api_secret", "=", "SECRET-5"}}})
		if _, err := a.CallTool(t.Context(), &sdk.CallToolParams{Name: "no_such_tool", Arguments: map[string]any{"token": "SECRET-6"}}); err == nil {
			t.Error("there is a tool that there is not")
		}
		if _, err := a.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "armature://document/ToDo/nothing"}); err == nil {
			t.Error("a document that there is not is read")
		}
		list := logged(t, s)
		want := []struct{ subject, status, details string }{
			{"called create ToDo", "Success", `"agent":"test 1"`}, {"called create User", "Success", `"new_password":"***"`},
			{"refused read ToDo nothing", "Failed", `"exc_type":"DoesNotExistError"`}, {"framework.client.set_value", "", `"value":"***"`},
			{"framework.client.save", "Failed", `"client_secret":"***"`}, {"list User", "", `"api_secret"`},
			{"refused no_such_tool", "Failed", `"token":"***"`}, {"refused read armature://document/ToDo/nothing", "Failed", ""},
		}
		if len(list) != len(want) {
			t.Fatalf("%d entries: %v", len(list), list)
		}
		for i, w := range want {
			e := list[i]
			details := fmt.Sprint(e["details"])
			if !strings.Contains(fmt.Sprint(e["subject"]), w.subject) || w.status != "" && e["status"] != w.status || !strings.Contains(details, w.details) {
				t.Errorf("entry %d: %v, want %v", i, e, w)
			}
			if e["user"] != "robot@example.com" || e["client"] != p.id || e["ip_address"] != "127.0.0.1" {
				t.Errorf("entry %d is of %v by %v from %v", i, e["user"], e["client"], e["ip_address"])
			}
			if !json.Valid([]byte(details)) || strings.Contains(details, "SECRET") || len(details) > 4000 {
				t.Errorf("entry %d: %s", i, details)
			}
		}
	})
}

// TestBudgetOfAgents: an agent that has used up its time is told when to come back, and
// nobody else is.
func TestBudgetOfAgents(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		s.Configure(t, "budgets", `{"agents": {"limit": 0.000001, "window": 86400}}`)
		s.Admin.On(t).Post("/api/resource/User", map[string]any{"email": "clerk@example.com", "first_name": "Clerk"}).OK(t)
		clerk := http.Header{"Authorization": {s.As(t, "clerk@example.com").Authorization}}
		admin := http.Header{"Authorization": {s.Admin.Authorization}}
		if res, text := raw(t, s, admin, toolCall("describe", nil)); res.StatusCode != http.StatusOK {
			t.Fatalf("the first: %d %s", res.StatusCode, text)
		}
		res, text := raw(t, s, admin, toolCall("describe", nil))
		if res.StatusCode != http.StatusTooManyRequests || res.Header.Get("Retry-After") == "" || !strings.Contains(text, "RateLimitExceededError") {
			t.Errorf("the second: %d %v %s", res.StatusCode, res.Header, text)
		}
		if res, text := raw(t, s, clerk, toolCall("describe", nil)); res.StatusCode != http.StatusOK {
			t.Errorf("another user's agent: %d %s", res.StatusCode, text)
		}
		s.Admin.On(t).Get("/api/resource/ToDo").OK(t)
	})
}
