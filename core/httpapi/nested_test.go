package httpapi_test

import (
	"reflect"
	"strings"
	"testing"

	"armature/core/sites/sitetest"
)

func TestNestedRows(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		const notes = "/api/resource/Note"
		seen := func(users ...string) []obj {
			rows := []obj{}
			for _, u := range users {
				rows = append(rows, obj{"user": u})
			}
			return rows
		}
		s.Admin.Post(notes, obj{"title": "a", "public": 1, "seen_by": seen("Guest", "Administrator")}).OK(t)
		s.Admin.Post(notes, obj{"title": "b", "public": 1}).OK(t)
		rows := obj{"seen_by": []string{"user", "idx"}}
		got := s.Admin.Get(notes, "fields", []any{"title", rows, "public"}, "order_by", "title asc")
		want := []any{
			obj{"title": "a", "public": 1.0, "seen_by": []any{obj{"user": "Guest", "idx": 1.0}, obj{"user": "Administrator", "idx": 2.0}}},
			obj{"title": "b", "public": 1.0, "seen_by": []any{}},
		}
		if !reflect.DeepEqual(got.List(t), want) || !strings.Contains(got.Text, `"title":"b","seen_by":[],"public":1`) {
			t.Errorf("got %s", got.Text)
		}
		if got := s.Admin.Get(notes, "fields", []any{rows}, "order_by", "title desc", "as_dict", "False", "limit", "1").List(t); !reflect.DeepEqual(got, []any{[]any{[]any{}}}) {
			t.Errorf("as arrays %v", got)
		}
		if got := s.Admin.Post(client+"get_list", obj{"doctype": "Note", "fields": []any{rows}, "order_by": "title desc"}).Message(t).([]any); len(got) != 2 {
			t.Errorf("get_list %v", got)
		}
		if got := s.Admin.Get(notes, "fields", []any{obj{"seen_by": []string{"*"}}}).List(t)[0].(obj)["seen_by"]; got == nil {
			t.Error("no rows")
		}
		// The table is of level 1, which a desk user does not read.
		s.Admin.Post("/api/resource/Role", obj{"role_name": "Scribe", "desk_access": 1}).OK(t)
		desk := s.User(t, "desk@example.com", "Scribe")
		if got := desk.Get(notes, "fields", []any{"title", rows}, "limit", "1").List(t); len(got[0].(obj)) != 1 {
			t.Errorf("desk sees %v", got)
		}
		for _, bad := range []any{obj{"seen_by": []string{"password"}}, obj{"title": []string{"x"}}, obj{"none": []string{"x"}},
			obj{"seen_by": []any{}}, obj{"seen_by": []any{1}}, obj{"seen_by": []any{"user; drop"}}} {
			s.Admin.Get(notes, "fields", []any{bad}).Fails(t, 417, "DataError")
		}
		s.Admin.Get(notes, "fields", []any{rows, obj{"COUNT": "name", "as": "n"}}).Fails(t, 417, "DataError")
		s.Admin.Get(client+"get_value", "doctype", "Note", "fieldname", []any{rows}).Fails(t, 417, "ValidationError")
	})
}
