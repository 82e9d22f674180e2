package main_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"armature/cmd/armature/armaturetest"
)

// TestLimitsAreApproved: a plugin that somebody installs has no more than every
// other until its limits are approved, and a version that asks for still more
// waits while the old one serves.
func TestLimitsAreApproved(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		s := in.Serve()
		s.Auth = in.Keys("Administrator")
		built := func(version, cpu int) string {
			dir := t.TempDir()
			source, out := filepath.Join(dir, "acme.hungry.js"), filepath.Join(dir, "hungry.wasm")
			armaturetest.Put(t, source, fmt.Appendf(nil, `
				export const manifest = { version: "%d", grants: [], limits: { cpu_ms: %d } };
				export function work() { let n = 0; for (let i = 0; i < 5e6; i++) n += i; return %d }`, version, cpu, version))
			in.Run("plugin", "build", source, "-o", out)
			if text := in.Run("plugin", "inspect", out); !strings.Contains(text, fmt.Sprintf("a call may use %d milliseconds of processor time; the usual is 100", cpu)) {
				t.Errorf("inspect says %s", text)
			}
			wasm, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			return base64.StdEncoding.EncodeToString(wasm)
		}
		install := func(wasm string) map[string]any {
			return s.Want("POST", "/api/method/framework.plugins.install", map[string]any{"wasm": wasm}).(map[string]any)
		}
		answers := func(want any) {
			t.Helper()
			status, answer := s.Call("POST", "/api/method/acme.hungry.work", map[string]any{})
			if got := answer["message"]; want != nil && fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("work answers %d %v, want %v", status, answer, want)
			}
			if want == nil && (status != http.StatusTooManyRequests && status/100 != 5 || answer["exc_type"] != "ResourceExhaustedError") {
				t.Errorf("without approval: %d %v", status, answer)
			}
		}
		done := install(built(1, 30_000))
		if fmt.Sprint(done["grants_waiting"]) != "[limit:cpu_ms=30000]" || done["status"] != "Awaiting Approval" {
			t.Errorf("installed: %v", done)
		}
		answers(nil)
		if text := in.Run("plugin", "approve", "acme.hungry"); !strings.Contains(text, "Active") {
			t.Errorf("approve says %s", text)
		}
		armaturetest.Eventually(t, "it has what was approved", func() bool { return s.Message("acme.hungry.work", map[string]any{}) == "1" })
		if done := install(built(2, 20_000)); done["pending"] != false {
			t.Errorf("one that asks for less: %v", done)
		}
		answers(2)
		if done := install(built(3, 60_000)); done["pending"] != true {
			t.Errorf("one that asks for more: %v", done)
		}
		answers(2)
	})
}
