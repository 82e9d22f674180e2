package main_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"armature/cmd/armature/armaturetest"
)

// holding keeps its transaction open in every way there is.
const holding = `
	export const manifest = {
		version: "1", limits: {cpu_ms: 60000, tx_ms: 300},
		events: {"Note.validate": "first", "Note.before_save": "second"},
	};
	function spend(ms) { for (const end = Date.now() + ms; Date.now() < end;); }
	export function ready() { return true }
	export function loop() { doc.insert("ToDo", {description: "held"}); for (;;); }
	export function catching() {
		doc.insert("ToDo", {description: "held"});
		for (;;) try { spend(1); doc.count("ToDo") } catch {} // fewer calls than a call may make
	}
	export function nested() { doc.insert("ToDo", {description: "held"}); try { call("acme.holding.loop") } catch {} }
	export function begun() { try { call("acme.holding.quick") } catch {} for (;;); }
	export function quick() { doc.insert("ToDo", {description: "held"}) }
	export function before() { spend(600); doc.insert("ToDo", {description: "kept"}); return "done" }
	export function first({doc}) { if (doc.title.includes("first")) for (;;); if (doc.title === "both") spend(200) }
	export function second({doc}) { if (doc.title === "both") spend(200) }`

// TestHeldTransaction: a guest that keeps a transaction open is ended, whatever
// it does meanwhile; nothing of it stays, and the next write comes through.
func TestHeldTransaction(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		s := withScripts(in, map[string]string{"acme.holding.js": holding}, "acme.holding.ready")
		refused := func(what string, status int, answer map[string]any) {
			t.Helper()
			if text := fmt.Sprint(answer); status != http.StatusGatewayTimeout || answer["exc_type"] != "TimeoutError" || !strings.Contains(text, "a transaction may be kept open for 300ms") {
				t.Errorf("%s: %d %v", what, status, answer)
			}
			if n := s.Want("GET", "/api/method/framework.client.get_count?doctype=ToDo", nil); fmt.Sprint(n) != "0" {
				t.Errorf("%s: %v documents were kept", what, n)
			}
			name := s.Want("POST", "/api/resource/ToDo", map[string]any{"description": "after"}).(map[string]any)["name"].(string)
			if status, answer := s.Call("DELETE", "/api/resource/ToDo/"+name, nil); status != http.StatusAccepted {
				t.Errorf("%s: the next write: %d %v", what, status, answer)
			}
		}
		for _, name := range []string{"loop", "catching", "nested", "begun"} {
			status, answer := s.Call("POST", "/api/method/acme.holding."+name, map[string]any{})
			refused(name, status, answer)
		}
		note := s.Want("POST", "/api/resource/Note", map[string]any{"title": "neither"}).(map[string]any)["name"].(string)
		for _, title := range []string{"first", "both"} {
			status, answer := s.Call("PUT", "/api/resource/Note/"+note, map[string]any{"title": title})
			refused("a handler, "+title, status, answer)
			status, answer = s.Call("POST", "/api/method/framework.client.set_value", map[string]any{"doctype": "Note", "name": note, "fieldname": "title", "value": title})
			refused("a handler, "+title, status, answer)
		}
		if got := s.Want("GET", "/api/resource/Note/"+note, nil).(map[string]any)["title"]; got != "neither" {
			t.Errorf("the title is %v", got)
		}
		if got := s.Message("acme.holding.before", map[string]any{}); got != "done" {
			t.Errorf("what takes its time before the transaction: %q", got)
		}
	})
}

// TestLoginPassesGuests: sixteen calls of a plugin that keep the writer as long as
// they may, and a person who logs in meanwhile does not wait for them.
func TestLoginPassesGuests(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		s := withScripts(in, map[string]string{"acme.holding.js": holding}, "acme.holding.ready")
		s.Want("POST", "/api/resource/User", map[string]any{"email": "zoe@example.com", "first_name": "Zoe", "new_password": "correct horse battery"})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var calls sync.WaitGroup
		var ended atomic.Int32
		for range 16 {
			calls.Go(func() {
				req, err := http.NewRequestWithContext(ctx, "POST", s.URL+"/api/method/acme.holding.loop", strings.NewReader("{}"))
				if err != nil {
					t.Error(err)
					return
				}
				req.Header.Set("Authorization", s.Auth)
				req.Header.Set("Content-Type", "application/json")
				if resp, err := http.DefaultClient.Do(req); err == nil {
					resp.Body.Close()
					if resp.StatusCode != http.StatusGatewayTimeout {
						t.Errorf("a call that keeps the writer: %d", resp.StatusCode)
					}
					ended.Add(1)
				}
			})
		}
		armaturetest.Eventually(t, "a guest has had the writer", func() bool { return ended.Load() > 0 })
		form := url.Values{"usr": {"zoe@example.com"}, "pwd": {"correct horse battery"}}
		resp, err := http.PostForm(s.URL+"/api/method/login", form)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Errorf("the login: %d", resp.StatusCode)
		}
		if n := ended.Load(); in.Database == "" && n > 8 {
			t.Errorf("%d of 16 guests had the writer before somebody was logged in", n)
		}
		cancel() // those who wait leave the line
		calls.Wait()
		s.Want("POST", "/api/resource/ToDo", map[string]any{"description": "after"})
	})
}
