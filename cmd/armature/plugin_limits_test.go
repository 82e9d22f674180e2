package main_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"armature/cmd/armature/armaturetest"
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

  (func $spin (export "spin") (param $n i32) (loop $next (br $next)))

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

var greedyMethods = []string{"work", "grow", "deep", "ask", "hear", "say", "chat", "fetch"}

// greedyBundle is greedy as acme.greedy, which asks to reach the host, and for limits
// beside the usual ones.
func greedyBundle(t *testing.T, host string, limits map[string]any) []byte {
	t.Helper()
	wasm, err := wasmtest.Assemble(greedy)
	if err != nil {
		t.Fatal(err)
	}
	methods := []any{}
	for _, export := range append([]string{"spin"}, greedyMethods...) {
		methods = append(methods, map[string]any{"path": "acme.greedy." + export, "export": export})
	}
	text, err := json.Marshal(map[string]any{
		"name": "acme.greedy", "version": "1", "abi": 1, "methods": methods,
		"optional_grants": []string{"http_fetch"}, "allowed_hosts": []string{host}, "limits": limits,
	})
	if err != nil {
		t.Fatal(err)
	}
	if wasm, err = bundle.Embed(wasm, text); err != nil {
		t.Fatal(err)
	}
	return wasm
}

// TestLimitsOfSite: what a site's configuration allows plugins is all they get,
// from the next call on, and never more than before.
func TestLimitsOfSite(t *testing.T) {
	outside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer outside.Close()
	host := strings.TrimPrefix(outside.URL, "http://")
	wasm := greedyBundle(t, host, nil)
	in := armaturetest.New(t)
	s := in.Serve()
	s.Auth = in.Keys("Administrator")
	s.Install(wasm)
	in.Run("plugin", "approve", "acme.greedy")
	set := func(key, value string) { t.Helper(); in.Run("site", "config", "default", "set", key, value) }
	set("allowed_private_hosts", `["`+host+`"]`)
	call := func(method string) (int, string) {
		args := map[string]any{}
		if method == "fetch" || method == "say" {
			args["url"] = outside.URL
		}
		status, answer := s.Call("POST", "/api/method/acme.greedy."+method, args)
		return status, fmt.Sprint(answer["exc_type"])
	}
	armaturetest.Eventually(t, "the private host is allowed", func() bool {
		status, _ := call("fetch")
		return status == http.StatusOK
	})
	free := func() {
		t.Helper()
		for _, method := range greedyMethods {
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
		armaturetest.Eventually(t, tt.method+" meets "+tt.limits, func() bool {
			status, excType := call(tt.method)
			return status == tt.status && excType == tt.excType
		})
	}
	set("plugin_limits", "null")
	armaturetest.Eventually(t, "everything is free again", func() bool {
		status, _ := call("fetch")
		return status == http.StatusOK
	})
	free()

	// Log lines over the limit are left out, which is no error.
	set("plugin_limits", `{"log": 50}`)
	armaturetest.Eventually(t, "chat meets a limit", func() bool {
		call("chat")
		last := s.Want("GET", "/api/method/framework.plugins.logs?plugin=acme.greedy&lines=1", nil).([]any)[0].(map[string]any)
		return last["cut"] == true && last["msg"] == "1234567890"
	})

	// What makes no sense is refused by name.
	for _, wrong := range []string{`{"memroy": 5}`, `{"memory": "1M"}`, `[]`} {
		if _, stderr, err := in.Try("", "site", "config", "default", "set", "plugin_limits", wrong); err == nil || !strings.Contains(stderr, "plugin_limits") {
			t.Errorf("%s was taken: %v %s", wrong, err, stderr)
		}
	}
	for key, wrong := range map[string]string{"allowed_private_hosts": `["http://10.0.0.5/"]`, "record_failed_calls": `"yes"`, "plugins": `[]`} {
		if _, stderr, err := in.Try("", "site", "config", "default", "set", key, wrong); err == nil || !strings.Contains(stderr, key) {
			t.Errorf("%s for %s was taken: %v %s", wrong, key, err, stderr)
		}
	}
}

// twoSites is an installation with a site default and one for other.example.
func twoSites(t *testing.T) *armaturetest.Installation {
	t.Helper()
	in := armaturetest.New(t)
	in.Run("site", "new", "default")
	in.Run("site", "new", "other")
	in.Run("site", "config", "other", "set", "hosts", `["other.example"]`)
	return in
}

// TestBudgetOfPlugin: a plugin that has used up its CPU time on a site does not
// run until the window is over; the other sites' do.
func TestBudgetOfPlugin(t *testing.T) {
	in := twoSites(t)
	if err := os.WriteFile(filepath.Join(in.Data, "plugins", "greedy.wasm"), greedyBundle(t, "a.example", nil), 0o600); err != nil {
		t.Fatal(err)
	}
	s := in.Serve()
	s.Auth = in.Keys("Administrator")
	other := in.Keys("Administrator", "--site", "other")
	callAs := func(host, auth string) (*http.Response, string) {
		t.Helper()
		r, err := http.NewRequest(http.MethodPost, s.URL+"/api/method/acme.greedy.work", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		r.Header.Set("Authorization", auth)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var answer map[string]any
		if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
			t.Fatal(err)
		}
		return resp, fmt.Sprint(answer["exc_type"])
	}
	call := func() (*http.Response, string) { t.Helper(); return callAs("", s.Auth) }
	calls := func() string {
		t.Helper()
		resp, err := http.Get(s.URL + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), `armature_plugin_calls_total{method="acme.greedy.work"`) {
				return lines.Text()
			}
		}
		return ""
	}
	if resp, excType := call(); resp.StatusCode != http.StatusOK {
		t.Fatalf("without a budget: %d %s", resp.StatusCode, excType)
	}
	// A call is some 4 ms of counted work: the third finds nothing left. The
	// window is a year, so none ends meanwhile.
	in.Run("site", "config", "default", "set", "budgets", `{"plugins": {"acme.greedy": {"limit": 0.005, "window": 31536000}}}`)
	var refused *http.Response
	var excType string
	armaturetest.Eventually(t, "the budget is used up", func() bool {
		refused, excType = call()
		return refused.StatusCode != http.StatusOK
	})
	if refused.StatusCode != http.StatusTooManyRequests || excType != "RateLimitExceededError" {
		t.Fatalf("over the budget: %d %s", refused.StatusCode, excType)
	}
	for header, want := range map[string]string{"X-RateLimit-Limit": "5000", "X-RateLimit-Remaining": "0", "Retry-After": refused.Header.Get("X-RateLimit-Reset")} {
		if got := refused.Header.Get(header); got != want || got == "" {
			t.Errorf("%s is %q, want %q", header, got, want)
		}
	}
	before := calls()
	if resp, _ := call(); resp.StatusCode != http.StatusTooManyRequests {
		t.Errorf("again: %d", resp.StatusCode)
	}
	if after := calls(); before == "" || after != before {
		t.Errorf("a refused call ran: %s, before %s", after, before)
	}
	if resp, excType := callAs("other.example", other); resp.StatusCode != http.StatusOK {
		t.Errorf("on the other site: %d %s", resp.StatusCode, excType)
	}
	if me := s.Want("GET", "/api/method/framework.auth.get_logged_user", nil); me != "Administrator" {
		t.Errorf("other methods: %v", me)
	}
	in.Run("site", "config", "default", "set", "budgets", "null")
	armaturetest.Eventually(t, "it is free again", func() bool {
		resp, _ := call()
		return resp.StatusCode == http.StatusOK
	})
}

// TestNoisySite: while one site's guests loop until their limit ends them, more of
// them than there are processors, another site's calls get their turns.
func TestNoisySite(t *testing.T) {
	in := twoSites(t)
	// Processor time ends them, on a busy machine, too, where the clock would be first.
	limits := map[string]any{"cpu_ms": 400, "wall_ms": 60000}
	if err := os.WriteFile(filepath.Join(in.Data, "plugins", "greedy.wasm"), greedyBundle(t, "a.example", limits), 0o600); err != nil {
		t.Fatal(err)
	}
	s := in.Serve()
	noisy, quiet := in.Keys("Administrator"), in.Keys("Administrator", "--site", "other")
	call := func(host, auth, method string) int {
		r, err := http.NewRequest(http.MethodPost, s.URL+"/api/method/acme.greedy."+method, nil)
		if err != nil {
			t.Error(err)
			return 0
		}
		r.Host = host
		r.Header.Set("Authorization", auth)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Error(err)
			return 0
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	waited := func() (sum float64) {
		resp, err := http.Get(s.URL + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			_, _ = fmt.Sscanf(lines.Text(), `armature_plugin_queue_seconds_sum{method="acme.greedy.work",plugin="acme.greedy"} %g`, &sum)
		}
		return sum
	}

	// Twelve guests want 1600 turns each, a call of the quiet site 20. In one queue
	// for all, its turns would come after as many of each of the twelve.
	const guests = 12
	ended := make(chan int, guests)
	for range guests {
		go func() { ended <- call("", noisy, "spin") }()
	}
	calls := 0
	for before := waited(); waited() == before && calls < 1000; calls++ {
		if status := call("other.example", quiet, "work"); status != http.StatusOK {
			t.Fatalf("the quiet site: %d", status)
		}
	}
	if calls == 1000 || len(ended) > 0 {
		t.Fatalf("after %d calls of the quiet site, of which one had to wait, %d of %d endless guests had ended", calls, len(ended), guests)
	}
	for range 3 {
		if status := call("other.example", quiet, "work"); status != http.StatusOK {
			t.Fatalf("the quiet site: %d", status)
		}
	}
	if n := len(ended); n > 0 {
		t.Errorf("%d of %d endless guests of another site ended before three calls did", n, guests)
	}
	for range guests {
		if status := <-ended; status != http.StatusInternalServerError {
			t.Errorf("an endless guest: %d", status)
		}
	}
}
