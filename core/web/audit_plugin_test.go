package web_test

import (
	"slices"
	"testing"

	"armature/core/document"
	"armature/core/identity"
	"armature/core/sites/sitetest"
)

// TestPluginsAreAudited: what is done to a plugin is in the Activity Log, and what
// merely becomes of it is not.
func TestPluginsAreAudited(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, _ *clock) {
		ctx := t.Context()
		write := func(fn func(docs document.Acting) error) {
			t.Helper()
			err := s.Tenant.Store.Write(ctx, document.OwnTx, func(tx document.Tx) error { return fn(s.Tenant.Documents.As(identity.Root(), tx)) })
			if err != nil {
				t.Fatal(err)
			}
		}
		update := func(values map[string]any) {
			t.Helper()
			write(func(docs document.Acting) error {
				_, err := docs.Update(ctx, "Plugin", "acme", values)
				return err
			})
		}
		write(func(docs document.Acting) error {
			_, err := docs.Insert(ctx, "Plugin", map[string]any{
				"name": "acme", "status": "Awaiting Approval", "pending_version": "1.0.0", "pending_hash": "a", "grants_asked": "x\ny", "source": "stored:acme",
			})
			return err
		})
		update(map[string]any{"grants_approved": "x\ny", "version": "1.0.0", "hash": "a", "pending_version": "", "pending_hash": "", "status": "Active"})
		update(map[string]any{"error": "it fell over", "calls": int64(3), "status": "Error"})
		update(map[string]any{"grants_approved": "y", "status": "Disabled"})
		update(map[string]any{"status": "Active", "version": "1.1.0", "hash": "b", "publisher": "KEY"})
		update(map[string]any{"version": "1.0.0", "hash": "a", "publisher": ""})
		update(map[string]any{"grants_revoked": "z"})
		write(func(docs document.Acting) error { return docs.Delete(ctx, "Plugin", "acme") })
		var got []string
		rows := s.Admin.Get("/api/resource/Activity%20Log", "fields", []string{"subject"}, "filters", [][]string{{"operation", "=", "Plugins"}}).List(t)
		for _, row := range rows {
			got = append(got, row.(map[string]any)["subject"].(string))
		}
		want := []string{
			"Plugin acme: installed; version 1.0.0 waits for approval",
			"Plugin acme: serves version 1.0.0; approved x, y",
			"Plugin acme: disabled; taken back x",
			"Plugin acme: serves version 1.1.0; enabled; signed by KEY",
			"Plugin acme: serves version 1.0.0; signed by nobody",
			"Plugin acme: taken back z",
			"Plugin acme was removed",
		}
		slices.Sort(got) // the test's clock stands still
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	})
}
