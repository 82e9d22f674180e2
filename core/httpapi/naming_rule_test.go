package httpapi_test

import (
	"testing"

	"armature/core/sites/sitetest"
)

func TestDocumentNamingRules(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		rule := func(body obj) *sitetest.Reply {
			body["document_type"] = "ToDo"
			return s.Admin.Post("/api/resource/Document%20Naming%20Rule", body)
		}
		name := func(fields obj) string { return newToDo(t, s.Admin, fields) }
		any1 := rule(obj{"prefix": "TASK-", "prefix_digits": 3}).Data(t)["name"].(string)
		rule(obj{"prefix": "URGENT-.YY.-", "prefix_digits": 2, "priority": 5, "conditions": []obj{
			{"field": "priority", "condition": "=", "value": "High"}, {"field": "status", "condition": "!=", "value": "Closed"}}}).OK(t)
		rule(obj{"prefix": "OFF-", "priority": 9, "disabled": 1}).OK(t)

		year := s.Admin.Get(todo + "/" + name(nil)).Data(t)["creation"].(string)[2:4]
		tests := []struct {
			fields obj
			want   string
		}{
			{obj{}, "TASK-002"},
			{obj{"priority": "High"}, "URGENT-" + year + "-01"},
			{obj{"priority": "High", "status": "Closed"}, "TASK-003"},
			{obj{"priority": "High"}, "URGENT-" + year + "-02"},
		}
		for _, tt := range tests {
			if got := name(tt.fields); got != tt.want {
				t.Errorf("%v: %s, want %s", tt.fields, got, tt.want)
			}
		}
		rule(obj{"prefix": "X-", "conditions": []obj{{"field": "nothing", "condition": "=", "value": "1"}}}).Fails(t, 417, "ValidationError")
		rule(obj{"prefix": "X-", "prefix_digits": 40}).Fails(t, 417, "ValidationError")
		if r := s.Admin.Delete("/api/resource/Document%20Naming%20Rule/" + any1); r.Status != 202 {
			t.Fatalf("%d %s", r.Status, r.Text)
		}
		if got := name(nil); len(got) != 10 {
			t.Errorf("without the rule: %s", got)
		}
	})
}
