package transcript_test

import (
	"slices"
	"strings"
	"testing"

	"armature/cmd/armature/transcript"
)

func TestRead(t *testing.T) {
	readme := strings.ReplaceAll(`# Title
$ not a command
'''
$ not one either
'''

## Try it

'''console
$ curl -s $URL -d '{
    "it": "isn\t"}'
{"a":
  1}
404

$ echo "a 'b" \
    c
$ true
'''
`, "'''", "```")
	steps, err := transcript.Read(readme)
	if err != nil {
		t.Fatal(err)
	}
	want := []transcript.Step{
		{Line: 10, Section: "Try it", Command: "curl -s $URL -d '{\n    \"it\": \"isn\\t\"}'", Want: "{\"a\":\n  1}\n404"},
		{Line: 16, Section: "Try it", Command: "echo \"a 'b\" \\\n    c"},
		{Line: 18, Section: "Try it", Command: "true"},
	}
	if len(steps) != len(want) {
		t.Fatalf("%d steps: %+v", len(steps), steps)
	}
	for i := range want {
		if steps[i] != want[i] {
			t.Errorf("got %+v\nwant %+v", steps[i], want[i])
		}
	}
}

// TestFiles: a block that names a file is its text, in its place among the commands.
func TestFiles(t *testing.T) {
	steps, err := transcript.Read(strings.ReplaceAll("# A\n@json\n{}\n@\n@ts data/a.ts\nlet a = 1;\n\n$ no command\n@\n@console\n$ true\n@\n", "@", "```"))
	want := []transcript.Step{{Line: 6, Section: "A", File: "data/a.ts", Text: "let a = 1;\n\n$ no command\n"}, {Line: 11, Section: "A", Command: "true"}}
	if err != nil || !slices.Equal(steps, want) {
		t.Errorf("%v\n%+v", err, steps)
	}
}

func TestHereDocument(t *testing.T) {
	steps, err := transcript.Read(strings.ReplaceAll("@console\n$ cat <<'END'\nit's\nEND\nit's\n@\n", "@", "```"))
	want := []transcript.Step{{Line: 2, Command: "cat <<'END'\nit's\nEND", Want: "it's"}}
	if err != nil || !slices.Equal(steps, want) {
		t.Errorf("%v\n%+v", err, steps)
	}
}

func TestReadRefuses(t *testing.T) {
	for _, readme := range []string{"```console\nno command\n```\n", "```console\n$ echo '\n```\n", "```console\n$ echo\n", "```console\n$ echo\n```\n```console\nanswer\n```\n"} {
		if steps, err := transcript.Read(readme); err == nil {
			t.Errorf("%q was read as %+v", readme, steps)
		}
	}
}

func TestMatch(t *testing.T) {
	for _, tt := range []struct{ name, got, want, differ string }{
		{"same", `{"a":1,"b":[true,null]}` + "\n", "{\"b\": [true, null],\n \"a\": 1.0}", ""},
		{"more members", `{"a":1,"b":2}`, `{"a": 1}`, "b is not in the README"},
		{"any members", `{"a":1,"b":2}`, `{"a": 1, ...}`, ""},
		{"any members before", `{"a":1,"b":2}`, `{..., "b": 2}`, ""},
		{"member missing", `{"a":{}}`, `{"a": {"b": 1, ...}}`, "a.b is missing"},
		{"any value", `{"a":{"b":1}}`, `{"a": ...}`, ""},
		{"another value", `{"a":[{"b":1}]}`, `{"a": [{"b": 2}]}`, "a[0].b is 1, in the README 2"},
		{"another type", `{"a":"1"}`, `{"a": 1}`, `a is "1", in the README 1`},
		{"object for text", `{"a":{}}`, `{"a": "..."}`, `a is {}, in the README "..."`},
		{"array for object", `[]`, `{...}`, `the answer is []`},
		{"part of a text", `{"a":"INV-2026-001"}`, `{"a": "INV-...-001"}`, ""},
		{"whole text", `{"a":"INV-2026-001 x"}`, `{"a": "INV-...-001"}`, "a is"},
		{"special characters", `{"a":"x(y)*"}`, `{"a": "x(y)*"}`, ""},
		{"escaped quote", `{"a":"\"...","b":1}`, `{"a": "\"...", ...}`, ""},
		{"any elements", `[1,2,3]`, `[1, ...]`, ""},
		{"any element", `[1,2,3]`, `[..., 2, 3]`, ""},
		{"no further element", `[1]`, `[1, ...]`, ""},
		{"too few elements", `[]`, `[1, ...]`, "has 0 elements"},
		{"too many elements", `[1,2]`, `[1]`, "has 2 elements, in the README 1"},
		{"status behind", `{"a":1} 403`, `{...} 403`, ""},
		{"another status behind", `{"a":1} 200`, `{...} 403`, `the text is "200"`},
		{"dots behind", `{"a":1} 12 ms`, `{...} ... ms`, ""},
		{"two values", `{"a":1}` + "\n" + `{"a":2}`, `{"a": 1}` + "\n" + `{"a": 3}`, "a is 2"},
		{"text", "installed x 1: Active", "installed x ...: Active", ""},
		{"text of more lines", "one\ntwo", "...", "the text is"},
		{"lines between", "one\ntwo\nthree\nfour", "one\n...\nfour", ""},
		{"lines between others", "one\ntwo\nthree\nfour", "one\n...\nfive", "the text is"},
		{"nothing", "", "", ""},
		{"something for nothing", "error", "", `the text is "error"`},
		{"nothing for JSON", "", "{...}", "not JSON"},
		{"text for JSON", "curl: (7)", "{...}", "not JSON"},
		{"broken README", "{}", "{...", "the README's answer"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := transcript.Match(tt.got, tt.want)
			switch {
			case tt.differ == "" && err != nil:
				t.Error(err)
			case tt.differ != "" && (err == nil || !strings.Contains(err.Error(), tt.differ)):
				t.Errorf("got %v, want %s", err, tt.differ)
			}
		})
	}
}
