package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const checkout = "../../.."

// What is in the repository is what the contract makes.
func TestEverythingIsGenerated(t *testing.T) {
	var out strings.Builder
	changed, err := run(checkout, true, &out)
	if err != nil || changed != 0 {
		t.Errorf("make generate would change %d files (%v):\n%s", changed, err, &out)
	}
}

// copied is a checkout with nothing but the files that are generated and the
// contract, after a change to that.
func copied(t *testing.T, old, new string) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]bool{"sdk/abi/contract.json": true}
	for _, o := range outputs {
		files[o.path] = true
	}
	for path := range files {
		text, err := os.ReadFile(filepath.Join(checkout, path))
		if err != nil {
			t.Fatal(err)
		}
		if path == "sdk/abi/contract.json" {
			if !bytes.Contains(text, []byte(old)) {
				t.Fatalf("the contract has no %s", old)
			}
			text = bytes.Replace(text, []byte(old), []byte(new), 1)
		}
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(path)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, path), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A capability more is one entry: it comes out in every language, in the tables
// and in the list of the host's operations, and a second run changes nothing.
func TestOneEntryReachesEveryLanguage(t *testing.T) {
	entry := `"capabilities": [{"name": "mail_send", "group": "http", "summary": "send a letter", "doc": "Sends a letter.",
		"request": {"type": "object", "required": ["to"], "properties": {"to": {"type": "string"}, "copies": {"type": "integer"}}}, "answer": {"type": "null"},
		"errors": [{"kind": "Permission"}], "example": {"request": {"to": "zoe@example.com"}, "answer": null}},`
	dir := copied(t, `"capabilities": [`, entry)
	var out strings.Builder
	if _, err := run(dir, true, &out); err != nil || !strings.Contains(out.String(), "sdk/c/armature.h") {
		t.Fatalf("the check says %q, %v", &out, err)
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "sdk/c/armature.h")); bytes.Contains(text, []byte("mail_send")) {
		t.Error("a check has written")
	}
	if _, err := run(dir, false, &out); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"runtime/abi/contract.go":           `= "mail_send"`,
		"runtime/hostapi/operations.go":     "{name: abi.MailSend, run: mailSend}",
		"sdk/abi/abi.md":                    "| `mail_send` | `{\"to\": \"zoe@example.com\"}` | `null` | `Permission` |",
		"sdk/abi/manifest.schema.json":      "mail_send|",
		"sdk/go/internal/raw/raw_wasip1.go": "//go:wasmimport armature1 mail_send\n",
		"sdk/rust/src/raw.rs":               "pub fn mail_send(",
		"sdk/c/armature.h":                  "AM_CAPABILITY(mail_send);",
		"sdk/cpp/armature.hpp":              "ARMATURE_CAPABILITY(mail_send);",
		"sdk/zig/armature.zig":              `extern "armature1" fn mail_send(`,
		"sdk/assemblyscript/armature.ts":    `@external("armature1", "mail_send")`,
		"sdk/js/armature.d.ts":              "mail_send: {\n    request: { to: string; copies?: number };\n    answer: null;",
		"sdk/go/requests.go":                "func (r MailSendRequest) Ask() error {\n\tq := asking{b: request(\"{\")}\n\tq.text(\"to\", r.To)\n\tif r.Copies != nil {",
		"sdk/rust/src/requests.rs":          "pub struct MailSend {\n    /// To.\n    pub to: String,\n    /// Copies; may be missing.\n    pub copies: Option<i64>,",
	} {
		if text, _ := os.ReadFile(filepath.Join(dir, path)); !bytes.Contains(text, []byte(want)) {
			t.Errorf("%s has no %q", path, want)
		}
	}
	for path, want := range map[string]string{
		"sdk/c/armature.h":               "am_result am_ask_mail_send(am_mail_send_request r)",
		"sdk/cpp/armature.hpp":           "std::optional<long long> copies{};",
		"sdk/zig/armature.zig":           "copies: ?i64 = null,",
		"sdk/assemblyscript/armature.ts": "ask(): Result { return ask(hostMailSend, this.toValue()); }",
	} {
		if text, _ := os.ReadFile(filepath.Join(dir, path)); !bytes.Contains(text, []byte(want)) {
			t.Errorf("%s has no request: %q", path, want)
		}
	}
	if changed, err := run(dir, true, &out); changed != 0 || err != nil {
		t.Errorf("a second run would change %d files, %v", changed, err)
	}
}

func TestAWrongContractIsRefused(t *testing.T) {
	for _, c := range []struct{ old, new, says string }{
		{`"module":`, `"modul":`, "unknown field"},
		{`"name": "doc_get"`, `"name": "docGet"`, "is no name"},
		{`"name": "doc_get"`, `"name": "doc_list"`, "is there twice"},
		{`{"kind": "NotFound"}`, `{"kind": "Lost"}`, "no kind Lost"},
		{`{"$ref": "#/types/document"}`, `{"$ref": "#/types/nothing"}`, "no #/types/nothing"},
		{`"kind": 2,`, `"kind": 3,`, "never moved"},
		{`"type": "buffer"`, `"type": "pointer"`, "no type"},
		{`"lock": {"type": "boolean"`, `"lock": {"type": "number"`, "no SDK has a type for lock"},
	} {
		dir := copied(t, c.old, c.new)
		if _, err := run(dir, true, &strings.Builder{}); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %s", c.new, err, c.says)
		}
	}
}
