package main_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"armature/plugins/bundle"
	"armature/runtime/wasmtest"
)

// greedy uses as much of one thing as each of its methods is about, well below
// what the server allows.
const greedy = `(module
  (import "armature1" "input" (func $input (param i32 i32) (result i32)))
  (import "armature1" "output" (func $output (param i32 i32)))
  (import "armature1" "take" (func $take (param i32 i32) (result i32)))
  (import "armature1" "throw" (func $throw (param i32 i32 i32)))
  (import "armature1" "log" (func $log (param i32 i32 i32)))
  (import "armature1" "now" (func $now (result i64)))
  (import "armature1" "caller_get" (func $caller (param i32 i32 i32 i32) (result i32)))
  (import "armature1" "http_fetch" (func $fetch (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 4)
  (data (i32.const 16) "1234567890123456789012345678901234567890")

  (func $work (export "work") (param $n i32)
    (local.set $n (i32.const 4000000))
    (loop $next
      (local.set $n (i32.sub (local.get $n) (i32.const 1)))
      (br_if $next (local.get $n))))

  (func $grow (export "grow") (param $n i32)
    (if (i32.lt_s (memory.grow (i32.const 32)) (i32.const 0)) (then (unreachable))))

  (func $dive (param $n i32) (result i32)
    (if (result i32) (local.get $n)
      (then (i32.add (call $dive (i32.sub (local.get $n) (i32.const 1))) (i32.const 1)))
      (else (i32.const 0))))
  (func $deep (export "deep") (param $n i32) (drop (call $dive (i32.const 1000))))

  (func $ask (export "ask") (param $n i32)
    (local.set $n (i32.const 100))
    (loop $next
      (drop (call $now))
      (local.set $n (i32.sub (local.get $n) (i32.const 1)))
      (br_if $next (local.get $n))))

  (func $hear (export "hear") (param $n i32)
    (drop (call $caller (i32.const 0) (i32.const 0) (i32.const 4096) (i32.const 4096))))

  (func $say (export "say") (param $n i32) (call $output (i32.const 16) (i32.const 40)))

  (func $chat (export "chat") (param $n i32)
    (call $log (i32.const 2) (i32.const 16) (i32.const 40))
    (call $log (i32.const 2) (i32.const 16) (i32.const 40)))

  (func $once (param $n i32) (local $r i32)
    (local.set $r (call $fetch (i32.const 4096) (local.get $n) (i32.const 65536) (i32.const 65536)))
    (if (i32.lt_s (local.get $r) (i32.const 0))
      (then (call $throw (i32.sub (i32.const 0) (local.get $r)) (i32.const 65536) (call $take (i32.const 65536) (i32.const 65536))))))
  (func $fetches (export "fetch") (param $n i32)
    (drop (call $input (i32.const 4096) (i32.const 4096)))
    (call $once (local.get $n))
    (call $once (local.get $n)))
)`

// TestLimitsOfSite: what a site's configuration allows plugins is all they get,
// from the next call on, and never more than before.
func TestLimitsOfSite(t *testing.T) {
	outside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer outside.Close()
	host := strings.TrimPrefix(outside.URL, "http://")
	wasm, err := wasmtest.Assemble(greedy)
	if err != nil {
		t.Fatal(err)
	}
	methods := []any{}
	for _, export := range []string{"work", "grow", "deep", "ask", "hear", "say", "chat", "fetch"} {
		methods = append(methods, map[string]any{"path": "acme.greedy." + export, "export": export})
	}
	text, err := json.Marshal(map[string]any{
		"name": "acme.greedy", "version": "1", "abi": 1, "methods": methods,
		"grants": []string{"http_fetch"}, "allowed_hosts": []string{host},
	})
	if err != nil {
		t.Fatal(err)
	}
	if wasm, err = bundle.Embed(wasm, text); err != nil {
		t.Fatal(err)
	}

	in := &installation{t: t, data: t.TempDir()}
	s := in.serve()
	s.auth = in.keys("Administrator")
	s.install(wasm)
	in.run("plugin", "approve", "acme.greedy")
	set := func(key, value string) { t.Helper(); in.run("site", "config", "default", "set", key, value) }
	set("allowed_private_hosts", `["`+host+`"]`)
	call := func(method string) (int, string) {
		args := map[string]any{}
		if method == "fetch" || method == "say" {
			args["url"] = outside.URL
		}
		status, answer := s.call("POST", "/api/method/acme.greedy."+method, args)
		return status, fmt.Sprint(answer["exc_type"])
	}
	eventually(t, "the private host is allowed", func() bool {
		status, _ := call("fetch")
		return status == http.StatusOK
	})
	free := func() {
		t.Helper()
		for _, m := range methods {
			_, method, _ := strings.Cut(m.(map[string]any)["path"].(string), "acme.greedy.")
			if status, excType := call(method); status != http.StatusOK {
				t.Errorf("%s without a limit: %d %s", method, status, excType)
			}
		}
	}
	free()
	for _, tt := range []struct {
		method, limits string
		status         int
		excType        string
	}{
		{"work", `{"cpu_ms": 1}`, http.StatusInternalServerError, "ResourceExhaustedError"},
		{"grow", `{"memory": 1048576}`, http.StatusInternalServerError, "ResourceExhaustedError"},
		{"work", `{"wall_ms": 1}`, http.StatusGatewayTimeout, "TimeoutError"},
		{"deep", `{"depth": 500}`, http.StatusInternalServerError, "ResourceExhaustedError"},
		{"ask", `{"host_calls": 50}`, http.StatusInternalServerError, "ResourceExhaustedError"},
		{"say", `{"output": 39}`, http.StatusInternalServerError, "ResourceExhaustedError"},
		{"hear", `{"input": 30}`, http.StatusInternalServerError, "ResourceExhaustedError"},
		{"say", `{"input": 5}`, http.StatusRequestEntityTooLarge, "RequestEntityTooLargeError"},
		{"fetch", `{"http": 1}`, http.StatusInternalServerError, "ResourceExhaustedError"},
	} {
		set("plugin_limits", tt.limits)
		eventually(t, tt.method+" meets "+tt.limits, func() bool {
			status, excType := call(tt.method)
			return status == tt.status && excType == tt.excType
		})
	}
	set("plugin_limits", "null")
	eventually(t, "everything is free again", func() bool {
		status, _ := call("fetch")
		return status == http.StatusOK
	})
	free()

	// Log lines over the limit are left out, which is no error.
	set("plugin_limits", `{"log": 50}`)
	eventually(t, "chat meets a limit", func() bool {
		call("chat")
		last := s.want("GET", "/api/method/framework.plugins.logs?plugin=acme.greedy&lines=1", nil).([]any)[0].(map[string]any)
		return last["cut"] == true && last["msg"] == "1234567890"
	})

	// What makes no sense is refused by name.
	for _, wrong := range []string{`{"memroy": 5}`, `{"memory": "1M"}`, `[]`} {
		if _, stderr, err := in.try("", "site", "config", "default", "set", "plugin_limits", wrong); err == nil || !strings.Contains(stderr, "plugin_limits") {
			t.Errorf("%s was taken: %v %s", wrong, err, stderr)
		}
	}
	for key, wrong := range map[string]string{"allowed_private_hosts": `["http://10.0.0.5/"]`, "record_failed_calls": `"yes"`, "plugins": `[]`} {
		if _, stderr, err := in.try("", "site", "config", "default", "set", key, wrong); err == nil || !strings.Contains(stderr, key) {
			t.Errorf("%s for %s was taken: %v %s", wrong, key, err, stderr)
		}
	}
}
