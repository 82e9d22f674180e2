package main_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"armature/cmd/armature/armaturetest"
)

// addPlugins puts into the data that a released format has left the records of two
// plugins, as servers of that format have written them.
func (f *format) addPlugins(t *testing.T, in *armaturetest.Installation) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "formats", fmt.Sprintf("%d-plugins.json", f.Number)))
	if err != nil {
		t.Fatal(err)
	}
	var tables map[string][]map[string]any
	if err := json.Unmarshal(text, &tables); err != nil {
		t.Fatal(err)
	}
	driver, source, schema := "sqlite", filepath.Join(in.Data, "sites", "default", "site.db"), ""
	if in.Database != "" {
		driver, source, schema = "pgx", in.Database, "site_default."
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for table, rows := range tables {
		for _, row := range rows {
			columns := slices.Sorted(maps.Keys(row))
			var places []string
			var values []any
			for i, c := range columns {
				places, values = append(places, fmt.Sprintf("$%d", i+1)), append(values, row[c])
			}
			_, err := db.ExecContext(t.Context(), "INSERT INTO "+schema+table+" ("+strings.Join(columns, ", ")+") VALUES ("+strings.Join(places, ", ")+")", values...)
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestPluginsOfReleasedFormats: a plugin that was installed before there were rights
// goes on doing what it did to everybody's documents, and waits with what it did to
// the platform's, with a list.
func TestPluginsOfReleasedFormats(t *testing.T) {
	eachFormat(t, func(t *testing.T, in *armaturetest.Installation, f *format) {
		f.addPlugins(t, in)
		s := in.Serve()
		s.Auth = f.Authorization
		plugin := func(name string) map[string]any {
			t.Helper()
			return s.Want("GET", "/api/method/framework.plugins.list?plugin="+name, nil).([]any)[0].(map[string]any)
		}
		armaturetest.Eventually(t, "the records are read", func() bool { return plugin("acme.old")["status"] == "Active" })
		old := plugin("acme.old")
		if text := fmt.Sprint(old["grants_approved"]); text != "[event:ToDo.validate http_fetch http_fetch:api.example.com resource:*:read sets:ToDo.validate:*]" {
			t.Errorf("approved %v", text)
		}
		todo := s.Want("POST", "/api/resource/ToDo", map[string]any{"description": "x"}).(map[string]any)
		if todo["priority"] != "High" {
			t.Errorf("its handler is not heard: %v", todo)
		}
		if status, answer := s.Call("GET", "/api/method/acme.old.list", nil); status != http.StatusOK || len(answer["message"].([]any)) == 0 {
			t.Errorf("its method: %d %v", status, answer)
		}
		if status, answer := s.Call("GET", "/api/method/acme.old.users", nil); status == http.StatusOK {
			t.Errorf("it reads the platform's documents: %v", answer)
		}
		guard := plugin("acme.guard")
		if text := fmt.Sprint(guard["grants_waiting"]); guard["status"] != "Awaiting Approval" || text != "[event:User.validate sets:User.validate:*]" {
			t.Errorf("%v waits for %v", guard["status"], text)
		}
		if status, answer := s.Call("GET", "/api/method/acme.guard.ping", nil); status != http.StatusExpectationFailed || !strings.Contains(fmt.Sprint(answer), "event:User.validate") {
			t.Errorf("while it waits: %d %v", status, answer)
		}
		user := map[string]any{"email": "new@example.com", "first_name": "New"}
		if status, answer := s.Call("POST", "/api/resource/User", user); status != http.StatusForbidden || !strings.Contains(fmt.Sprint(answer), "acme.guard") {
			t.Errorf("saved without the handler that waits: %d %v", status, answer)
		}
		s.Want("POST", "/api/method/framework.plugins.approve", map[string]any{"plugin": "acme.guard", "grants": []string{"event:User.validate"}})
		s.Want("POST", "/api/resource/User", user)
		s.Want("GET", "/api/method/acme.guard.ping", nil)
	})
}
