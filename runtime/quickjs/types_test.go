package quickjs_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	declared = regexp.MustCompile(`^declare (?:const|function|class) (\w+)(.*)$`)
	member   = regexp.MustCompile(`^  (?:readonly )?(static )?(?:readonly )?(\w+)\??[(:<]`)
)

// TestTypes compares what sdk/js/armature.d.ts declares with what a script finds:
// the same globals, the same members.
func TestTypes(t *testing.T) {
	text, err := os.ReadFile("../../sdk/js/armature.d.ts")
	if err != nil {
		t.Fatal(err)
	}
	// Members by global; those of instances are looked for in what makes one.
	want := map[string][]string{}
	var global string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		if m := declared.FindStringSubmatch(line); m != nil {
			global = m[1]
			want[global] = []string{}
			if _, inline, ok := strings.Cut(m[2], "{ "); ok && strings.HasSuffix(line, "};") {
				for part := range strings.SplitSeq(inline, "; ") {
					if mm := member.FindStringSubmatch("  " + part); mm != nil {
						want[global] = append(want[global], mm[2])
					}
				}
			}
		} else if line == "" || line[0] == '}' {
			global = ""
		} else if m := member.FindStringSubmatch(line); m != nil && global != "" && m[2] != "constructor" {
			want[global] = append(want[global], m[2])
		}
	}
	if len(want) < 40 || !slices.Contains(want["doc"], "list") || !slices.Contains(want["URL"], "searchParams") || !slices.Contains(want["performance"], "now") {
		t.Fatalf("the declarations are not understood: %v", want)
	}
	m := script(t, `
		const before = new Set(["escape", "unescape"]);
		const samples = {
			Headers: () => new Headers(), Request: () => new Request("http://a/", {timeout: 1}), Response: () => new Response(), URL: () => new URL("http://a/"),
			URLSearchParams: () => new URLSearchParams(), TextEncoder: () => new TextEncoder(), TextDecoder: () => new TextDecoder(),
			CryptoKey: () => key, AbortController: () => new AbortController(), AbortSignal: () => AbortSignal.abort(),
		};
		const key = await crypto.subtle.importKey("raw", new Uint8Array(1), {name: "HMAC", hash: "SHA-1"}, true, ["sign"]);
		function names(object) {
			const all = new Set();
			for (; object && object !== Object.prototype && object !== Function.prototype; object = Object.getPrototypeOf(object)) {
				for (const name of Object.getOwnPropertyNames(object)) all.add(name);
			}
			return all;
		}
		const unnamed = new Set(["constructor", "length", "name", "prototype", "caller", "arguments", "type", "captureStackTrace", "stackTraceLimit", "prepareStackTrace", "isError", "kind", "message", "toString_"]);
		export function f({want}) {
			const wrong = [];
			for (const [global, members] of Object.entries(want)) {
				if (!(global in globalThis)) { wrong.push(global + " is not there"); continue }
				const value = globalThis[global];
				if (value.prototype instanceof Error) continue;
				let has = typeof value === "function" && !(global in samples) ? new Set() : names(value);
				if (global in samples) for (const name of names(samples[global]())) has.add(name);
				for (const name of members) if (!has.has(name)) wrong.push(global + "." + name + " is not there");
				for (const name of has) if (!members.includes(name) && !unnamed.has(name)) wrong.push(global + "." + name + " is not declared");
			}
			// What this engine adds to the language.
			const language = /^(Object|Function|Error|.*Error|Iterator|Array|ArrayBuffer|SharedArrayBuffer|.*Array|DataView|Date|Math|JSON|Reflect|Proxy|Promise|RegExp|Map|Set|Weak.*|FinalizationRegistry|Symbol|String|Number|Boolean|BigInt|Atomics|Suppressed.*|.*DisposableStack|globalThis|Infinity|NaN|undefined|eval|parse(Int|Float)|is(NaN|Finite)|(de|en)codeURI(Component)?|(un)?escape|DOMException|__date_clock|gc)$/;
			for (const name of Object.getOwnPropertyNames(globalThis)) {
				if (!(name in want) && !language.test(name)) wrong.push(name + " is not declared");
			}
			return wrong;
		}`, "f")
	input, err := json.Marshal(map[string]any{"want": want})
	if err != nil {
		t.Fatal(err)
	}
	if got := answer(t, m, string(input)); got != "[]" {
		t.Errorf("armature.d.ts and the prelude differ: %s", got)
	}
}
