package httpapi_test

import (
	"net/url"
	"reflect"
	"slices"
	"testing"

	"armature/core/sites/sitetest"
)

func TestPermissions(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		ann, ben := s.User(t, "ann@example.com"), s.User(t, "ben@example.com")
		own := newToDo(t, ann, nil)
		given := newToDo(t, ben, obj{"allocated_to": "ann@example.com"})
		others := newToDo(t, ben, nil)

		t.Run("owner fields", func(t *testing.T) {
			names := ann.Get(todo).Column(t, "name")
			slices.SortFunc(names, func(a, b any) int { return -1 })
			if len(names) != 2 || !slices.Contains(names, any(own)) || !slices.Contains(names, any(given)) {
				t.Errorf("ann sees %v", names)
			}
			ann.Get(todo + "/" + given).OK(t)
			ann.Put(todo+"/"+given, obj{"status": "Closed"}).OK(t)
			ann.Get(todo+"/"+others).Fails(t, 403, "PermissionError")
			ann.Put(todo+"/"+others, obj{"status": "Closed"}).Fails(t, 403, "PermissionError")
			ann.Delete(todo+"/"+others).Fails(t, 403, "PermissionError")
		})
		t.Run("shares", func(t *testing.T) {
			share := s.Admin.Post("/api/resource/DocShare", obj{"user": "ann@example.com", "share_doctype": "ToDo", "share_name": others}).Data(t)
			ann.Get(todo + "/" + others).OK(t)
			if names := ann.Get(todo).Column(t, "name"); !slices.Contains(names, any(others)) {
				t.Errorf("ann sees %v", names)
			}
			ann.Put(todo+"/"+others, obj{"status": "Closed"}).Fails(t, 403, "PermissionError")
			s.Admin.Put("/api/resource/DocShare/"+share["name"].(string), obj{"write": 1}).OK(t)
			ann.Put(todo+"/"+others, obj{"status": "Closed"}).OK(t)
			s.Admin.Delete("/api/resource/DocShare/" + share["name"].(string))
			ann.Get(todo+"/"+others).Fails(t, 403, "PermissionError")
		})
		t.Run("user permissions", func(t *testing.T) {
			s.Admin.Post("/api/resource/User Permission", obj{"user": "ann@example.com", "allow": "Priority", "for_value": "High"}).OK(t)
			if names := ann.Get("/api/resource/Priority").Column(t, "name"); !reflect.DeepEqual(names, []any{"High"}) {
				t.Errorf("ann sees priorities %v", names)
			}
			ann.Get(todo+"/"+own).Fails(t, 403, "PermissionError") // Medium
			ann.Post(todo, obj{"description": "x", "priority": "Low"}).Fails(t, 403, "PermissionError")
			high := newToDo(t, ann, obj{"priority": "High"})
			if names := ann.Get(todo).Column(t, "name"); !reflect.DeepEqual(names, []any{high}) {
				t.Errorf("ann sees %v", names)
			}
			ann.Put(todo+"/"+high, obj{"priority": "Low"}).Fails(t, 403, "PermissionError")
		})
		t.Run("own user, and only that", func(t *testing.T) {
			me := "/api/resource/User/" + url.PathEscape("ben@example.com")
			if got := ben.Get(me).Data(t); got["roles"] != nil || got["api_key"] != nil {
				t.Errorf("fields of level 1 are not ben's to see: %v", got)
			}
			ben.Put(me, obj{"bio": "hi", "roles": []obj{{"role": "System Manager"}}}).OK(t)
			ben.Get("/api/resource/User/ann@example.com").Fails(t, 403, "PermissionError")
			ben.Get("/api/resource/DocType").Fails(t, 403, "PermissionError")
		})
		t.Run("public documents", func(t *testing.T) {
			s.Admin.Post("/api/resource/Role", obj{"role_name": "Reader", "desk_access": 1}).OK(t)
			desk := s.User(t, "desk@example.com", "Reader")
			s.Admin.Post("/api/resource/Note", obj{"title": "open", "public": 1}).OK(t)
			s.Admin.Post("/api/resource/Note", obj{"title": "closed"}).OK(t)
			if got := desk.Get("/api/resource/Note", "fields", []string{"title"}).Column(t, "title"); !reflect.DeepEqual(got, []any{"open"}) {
				t.Errorf("desk sees %v", got)
			}
			if got := desk.Get("/api/resource/User", "fields", []string{"name", "full_name", "email"}, "filters", `[["name","=","ann@example.com"]]`).List(t); len(got) != 1 || got[0].(obj)["email"] != nil {
				t.Errorf("select shows names and search fields: %v", got)
			}
		})
	})
}
