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
	eachDatabase(t, func(t *testing.T, in *installation) {
		s := in.withScripts(map[string]string{"acme.holding.js": holding}, "acme.holding.ready")
		refused := func(what string, status int, answer map[string]any) {
			t.Helper()
			if text := fmt.Sprint(answer); status != http.StatusGatewayTimeout || answer["exc_type"] != "TimeoutError" || !strings.Contains(text, "a transaction may be kept open for 300ms") {
				t.Errorf("%s: %d %v", what, status, answer)
			}
			if n := s.want("GET", "/api/method/framework.client.get_count?doctype=ToDo", nil); fmt.Sprint(n) != "0" {
				t.Errorf("%s: %v documents were kept", what, n)
			}
			name := s.want("POST", "/api/resource/ToDo", map[string]any{"description": "after"}).(map[string]any)["name"].(string)
			if status, answer := s.call("DELETE", "/api/resource/ToDo/"+name, nil); status != http.StatusAccepted {
				t.Errorf("%s: the next write: %d %v", what, status, answer)
			}
		}
		for _, name := range []string{"loop", "catching", "nested", "begun"} {
			status, answer := s.call("POST", "/api/method/acme.holding."+name, map[string]any{})
			refused(name, status, answer)
		}
		note := s.want("POST", "/api/resource/Note", map[string]any{"title": "neither"}).(map[string]any)["name"].(string)
		for _, title := range []string{"first", "both"} {
			status, answer := s.call("PUT", "/api/resource/Note/"+note, map[string]any{"title": title})
			refused("a handler, "+title, status, answer)
			status, answer = s.call("POST", "/api/method/framework.client.set_value", map[string]any{"doctype": "Note", "name": note, "fieldname": "title", "value": title})
			refused("a handler, "+title, status, answer)
		}
		if got := s.want("GET", "/api/resource/Note/"+note, nil).(map[string]any)["title"]; got != "neither" {
			t.Errorf("the title is %v", got)
		}
		if got := s.message("acme.holding.before", map[string]any{}); got != "done" {
			t.Errorf("what takes its time before the transaction: %q", got)
		}
	})
}

// TestLoginPassesGuests: sixteen calls of a plugin that keep the writer as long as
// they may, and a person who logs in meanwhile does not wait for them.
func TestLoginPassesGuests(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		s := in.withScripts(map[string]string{"acme.holding.js": holding}, "acme.holding.ready")
		s.want("POST", "/api/resource/User", map[string]any{"email": "zoe@example.com", "first_name": "Zoe", "new_password": "correct horse battery"})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var calls sync.WaitGroup
		var ended atomic.Int32
		for range 16 {
			calls.Go(func() {
				req, err := http.NewRequestWithContext(ctx, "POST", s.url+"/api/method/acme.holding.loop", strings.NewReader("{}"))
				if err != nil {
					t.Error(err)
					return
				}
				req.Header.Set("Authorization", s.auth)
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
		eventually(t, "a guest has had the writer", func() bool { return ended.Load() > 0 })
		form := url.Values{"usr": {"zoe@example.com"}, "pwd": {"correct horse battery"}}
		resp, err := http.PostForm(s.url+"/api/method/login", form)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Errorf("the login: %d", resp.StatusCode)
		}
		if n := ended.Load(); in.database == "" && n > 8 {
			t.Errorf("%d of 16 guests had the writer before somebody was logged in", n)
		}
		cancel() // those who wait leave the line
		calls.Wait()
		s.want("POST", "/api/resource/ToDo", map[string]any{"description": "after"})
	})
}
