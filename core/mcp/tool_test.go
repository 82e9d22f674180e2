package mcp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"armature/core/sites/sitetest"
)

// TestTools: what an agent does, by a client of each generation.
func TestTools(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		for _, version := range generations {
			t.Run(version, func(t *testing.T) {
				a := connect(t, s, s.Admin.Authorization, version)
				if got := a.InitializeResult().ProtocolVersion; got != version {
					t.Fatalf("speaks %s", got)
				}
				todo := func(more map[string]any) map[string]any {
					args := map[string]any{"doctype": "ToDo"}
					for k, v := range more {
						args[k] = v
					}
					return args
				}
				about := a.ok("describe", map[string]any{"doctype": "ToDo"})
				if text := fmt.Sprint(about); !strings.Contains(text, "field:description") || !strings.Contains(text, "one_of:[Open Closed Cancelled]") {
					t.Errorf("describe: %v", about)
				}
				if text := fmt.Sprint(a.ok("describe", nil)); !strings.Contains(text, "doctype:ToDo") {
					t.Errorf("describe: %v", text)
				}
				made := a.ok("create", todo(map[string]any{"values": map[string]any{"description": "buy milk " + version, "no_such": 1}}))
				if made["status"] != "Open" || fmt.Sprint(made["_unknown_fields"]) != "[no_such]" {
					t.Errorf("create: %v", made)
				}
				name := made["name"]
				a.ok("update", todo(map[string]any{"name": name, "values": map[string]any{"priority": "High"}}))
				read := a.ok("read", todo(map[string]any{"name": name}))
				if rest := s.Admin.On(t).Get(fmt.Sprint("/api/resource/ToDo/", name)).Data(t); fmt.Sprint(read) != fmt.Sprint(rest) || read["priority"] != "High" {
					t.Errorf("read %v, REST %v", read, rest)
				}
				rows := a.ok("list", todo(map[string]any{"filters": [][]any{{"description", "like", "%" + version + "%"}}}))["rows"].([]any)
				if len(rows) != 1 || rows[0].(map[string]any)["name"] != name {
					t.Errorf("list: %v", rows)
				}
				if rows := a.ok("search", todo(map[string]any{"text": fmt.Sprint(name)}))["rows"].([]any); len(rows) != 1 {
					t.Errorf("search: %v", rows)
				}
				if got := a.ok("query_method", map[string]any{"method": "framework.auth.get_logged_user"})["message"]; got != "Administrator" {
					t.Errorf("query_method: %v", got)
				}
				got := a.ok("call_method", map[string]any{"method": "framework.client.get_count", "arguments": map[string]any{"doctype": "ToDo"}})
				if got["message"] == nil {
					t.Errorf("call_method: %v", got)
				}
				a.refused("TimestampMismatchError", "update", todo(map[string]any{"name": name, "values": map[string]any{"modified": "2020-01-01 00:00:00", "priority": "Low"}}))
				missing := a.refused("DoesNotExistError", "read", todo(map[string]any{"name": "nothing"}))
				if next, _ := missing["next"].(string); !strings.Contains(next, "search") {
					t.Errorf("no next call: %v", missing)
				}
				a.refused("TypeError", "read", todo(nil))
				a.refused("TypeError", "read", todo(map[string]any{"name": name, "nam": 1}))
				a.refused("DataError", "list", todo(map[string]any{"limit": 1000}))
				a.refused("ValidationError", "query_method", map[string]any{"method": "logout"})
				a.ok("delete", todo(map[string]any{"name": name}))
				a.refused("DoesNotExistError", "delete", todo(map[string]any{"name": name}))
			})
		}
	})
}

// TestSubmitting: drafts are submitted, cancelled and discarded.
func TestSubmitting(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		s.Admin.On(t).Post("/api/resource/DocType", map[string]any{
			"name": "Bill", "module": "Shop", "custom": 1, "is_submittable": 1, "fields": []map[string]any{{"fieldname": "title", "fieldtype": "Data"}},
			"permissions": []map[string]any{{"role": "System Manager", "read": 1, "write": 1, "create": 1, "submit": 1, "cancel": 1}},
		}).OK(t)
		a := connect(t, s, s.Admin.Authorization, generations[0])
		name := a.ok("create", map[string]any{"doctype": "Bill", "values": map[string]any{"title": "x"}})["name"]
		on := map[string]any{"doctype": "Bill", "name": name}
		if got := a.ok("submit", on)["docstatus"]; got != 1.0 {
			t.Errorf("submitted: %v", got)
		}
		a.refused("ValidationError", "submit", map[string]any{"doctype": "Bill", "name": name, "action": "burn"})
		if got := a.ok("submit", map[string]any{"doctype": "Bill", "name": name, "action": "cancel"})["docstatus"]; got != 2.0 {
			t.Errorf("cancelled: %v", got)
		}
	})
}

// TestLongTexts: a list shows the beginning of a long text, and a link leads to all.
func TestLongTexts(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		long := strings.Repeat("é", 10_000)
		name := s.Admin.On(t).Post("/api/resource/ToDo", map[string]any{"description": long}).Data(t)["name"]
		a := connect(t, s, s.Admin.Authorization, generations[0])
		res, err := a.CallTool(t.Context(), &sdk.CallToolParams{Name: "list", Arguments: map[string]any{"doctype": "ToDo", "fields": []string{"name", "description"}}})
		if err != nil {
			t.Fatal(err)
		}
		text := res.Content[0].(*sdk.TextContent).Text
		link, ok := res.Content[len(res.Content)-1].(*sdk.ResourceLink)
		if len(text) > 1000 || !ok {
			t.Fatalf("%d bytes, %v", len(text), res.Content)
		}
		got, err := a.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: link.URI})
		if err != nil {
			t.Fatal(err)
		}
		var doc map[string]any
		if json.Unmarshal([]byte(got.Contents[0].Text), &doc) != nil || doc["description"] != long || doc["name"] != name {
			t.Errorf("the link leads to %.200s", got.Contents[0].Text)
		}
		field, err := a.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: link.URI + "/description"})
		if err != nil || field.Contents[0].Text != long {
			t.Errorf("the field: %v", err)
		}
		if _, err := a.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "armature://document/ToDo/nothing"}); err == nil {
			t.Error("a document that there is not is read")
		}
	})
}

// TestFiles: the bytes of a file are a resource for whoever may read it.
func TestFiles(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		file := sitetest.KeepFile(t, s.Tenant, "note.txt", "what is in it")
		row := s.Admin.On(t).Get(`/api/resource/File?filters=[["file_url","=","` + file + `"]]`).List(t)[0].(map[string]any)
		uri := fmt.Sprint("armature://file/", row["name"])
		a := connect(t, s, s.Admin.Authorization, generations[0])
		got, err := a.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if err != nil || got.Contents[0].Text != "what is in it" || !strings.HasPrefix(got.Contents[0].MIMEType, "text/plain") {
			t.Fatalf("%v %v", got, err)
		}
		s.Admin.On(t).Post("/api/resource/User", map[string]any{"email": "clerk@example.com", "first_name": "Clerk"}).OK(t)
		other := connect(t, s, s.As(t, "clerk@example.com").Authorization, generations[0])
		if got, err := other.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("somebody else reads %s", got.Contents[0].Text)
		}
	})
}

// TestNamedTools: what the site names has a tool of its own, for whoever may use it.
func TestNamedTools(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		s.Configure(t, "mcp_tools", `["framework.auth.get_logged_user", "ToDo", "no.such", "User"]`)
		s.Admin.On(t).Post("/api/resource/User", map[string]any{"email": "clerk@example.com", "first_name": "Clerk"}).OK(t)
		for user, want := range map[string]string{"Administrator": "create_ToDo create_User framework_auth_get_logged_user", "clerk@example.com": "create_ToDo framework_auth_get_logged_user"} {
			a := connect(t, s, s.As(t, user).Authorization, generations[0])
			list, err := a.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range strings.Fields(want) {
				if !strings.Contains(fmt.Sprint(toolNames(list)), name) {
					t.Errorf("%s has no %s: %v", user, name, toolNames(list))
				}
			}
			if user != "Administrator" && strings.Contains(fmt.Sprint(toolNames(list)), "create_User") {
				t.Errorf("%s is shown what it may not do", user)
			}
			if got := a.ok("framework_auth_get_logged_user", nil)["message"]; got != user {
				t.Errorf("%s is %v", user, got)
			}
			if got := a.ok("create_ToDo", map[string]any{"description": "x"})["owner"]; got != user {
				t.Errorf("made by %v", got)
			}
		}
	})
}

func toolNames(list *sdk.ListToolsResult) (names []string) {
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// TestListOfToolsIsShort: an agent reads it before anything else, however many
// DocTypes there are.
func TestListOfToolsIsShort(t *testing.T) {
	s := sitetest.New(t, "")
	for i := range 200 {
		s.Admin.On(t).Post("/api/resource/DocType", map[string]any{
			"name": fmt.Sprintf("Kind %d", i), "module": "Shop", "custom": 1, "fields": []map[string]any{{"fieldname": "title", "fieldtype": "Data"}},
			"permissions": []map[string]any{{"role": "System Manager", "read": 1}},
		}).OK(t)
	}
	a := connect(t, s, s.Admin.Authorization, generations[0])
	list, err := a.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(list)
	if err != nil || len(text) > 16<<10 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	hints := map[string]bool{}
	for _, tool := range list.Tools {
		hints[tool.Name] = tool.Annotations.ReadOnlyHint
	}
	for name, reads := range map[string]bool{"list": true, "read": true, "describe": true, "create": false, "delete": false, "call_method": false, "query_method": true} {
		if got, ok := hints[name]; !ok || got != reads {
			t.Errorf("%s: readOnlyHint %v, there %v", name, got, ok)
		}
	}
	t.Logf("tools/list with 200 DocTypes: %d bytes", len(text))
}
