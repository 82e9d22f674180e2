package manifest_test

import (
	"reflect"
	"strings"
	"testing"

	"armature/plugins/manifest"
)

const whole = `{
  "name": "acme.todo",
  "version": "1.2.0",
  "abi": 1,
  "description": "Closes ToDos",
  "methods": [
    {"path": "acme.todo.close", "verbs": ["POST"], "roles": ["System Manager"], "writes": true,
     "args": {"type": "object"}, "result": true, "description": "Closes one"},
    {"path": "acme.todo.ping", "export": "ping", "allow_guest": true, "tx": "manual"}
  ],
  "events": {"ToDo.validate": "check", "*.on_trash": "trashed"},
  "grants": ["http_fetch"],
  "allowed_hosts": ["api.example.com", "*.example.org:8443"],
  "limits": {"memory": 1048576, "wall_ms": 2000},
  "doctypes": [{"name": "Remark", "fields": []}]
}`

func TestParse(t *testing.T) {
	m, err := manifest.Parse([]byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	if m.Methods[0].Export != "acme.todo.close" || m.Methods[1].Export != "ping" {
		t.Errorf("exports %q, %q", m.Methods[0].Export, m.Methods[1].Export)
	}
	any := []string{"*"}
	want := []manifest.Handler{
		{DocType: "*", Event: "on_trash", Export: "trashed", Sets: any}, {DocType: "ToDo", Event: "validate", Export: "check", Sets: any},
	}
	if got := m.Handlers(); !reflect.DeepEqual(got, want) {
		t.Errorf("handlers %v, want %v", got, want)
	}
	if !m.Asks("http_fetch") || !m.Asks("doc_get") || m.Asks("kv_get") || !m.Asks("caller_get") || !m.Asks("log") {
		t.Error("what is asked for is not what the manifest says")
	}
	if m.Limits.Memory != 1<<20 || m.Methods[1].Tx != manifest.TxManual {
		t.Errorf("manifest %+v", m)
	}
}

func TestRefused(t *testing.T) {
	// with replaces one piece of a manifest that is in order.
	with := func(old, new string) string {
		if !strings.Contains(whole, old) {
			t.Fatalf("the manifest has no %s", old)
		}
		return strings.Replace(whole, old, new, 1)
	}
	tests := []struct {
		name, text, want string
	}{
		{"empty", "", "ends early"},
		{"cut off", `{"name": "acme.todo"`, "ends early"},
		{"not an object", `[]`, "expected an object"},
		{"not JSON", "{\n  name: 1}", "line 2, column"},
		{"more text", `{} {}`, "more text"},
		{"not UTF-8", "{\"name\": \"\xff\"}", "UTF-8"},
		{"deep", strings.Repeat("[", 100), "nested too deep"},
		{"unknown field", with(`"version"`, `"versoin"`), "line 3, column 3: unknown field versoin; expected one of name, version"},
		{"unknown field below", with(`"allow_guest"`, `"guest"`), "unknown field methods[1].guest; expected one of path, export, verbs"},
		{"other letter case", with(`"name"`, `"Name"`), "unknown field Name"},
		{"twice", with(`"abi": 1`, `"abi": 1, "abi": 1`), "abi is given twice"},
		{"wrong type", with(`"writes": true`, `"writes": "yes"`), "writes: expected true or false, found string"},
		{"fraction", with(`"abi": 1`, `"abi": 1.5`), "abi: expected a whole number"},
		{"no name", with(`"acme.todo",`, `"",`), "name: missing"},
		{"one part", with(`"acme.todo",`, `"todo",`), "two lower-case parts"},
		{"upper case", with(`"acme.todo",`, `"Acme.todo",`), "two lower-case parts"},
		{"reserved", with(`"acme.todo",`, `"framework.todo",`), "reserved"},
		{"no version", with(`"1.2.0"`, `""`), "version:"},
		{"other ABI", with(`"abi": 1`, `"abi": 2`), "abi: expected 1"},
		{"foreign path", with(`"acme.todo.ping"`, `"acme.note.ping"`), "methods[1].path: expected acme.todo."},
		{"sibling path", with(`"acme.todo.ping"`, `"acme.todoping"`), "methods[1].path"},
		{"path of dots", with(`"acme.todo.ping"`, `"acme.todo..ping"`), "methods[1].path"},
		{"path twice", with(`"acme.todo.ping"`, `"acme.todo.close"`), "listed twice"},
		{"verb", with(`"POST"`, `"PATCH"`), "methods[0].verbs[0]: expected GET, POST, PUT, DELETE"},
		{"reserved export", with(`"ping"`, `"_initialize"`), "reserved"},
		{"tx", with(`"manual"`, `"none"`), `methods[1].tx: expected "manual"`},
		{"schema", with(`{"type": "object"}`, `"object"`), "methods[0].args: expected a JSON Schema"},
		{"role", with(`"System Manager"`, `" "`), "roles[0]"},
		{"event", with(`ToDo.validate`, `ToDo.validated`), "unknown event"},
		{"event without DocType", with(`ToDo.validate`, `validate`), "expected a DocType, a dot"},
		{"event without export", with(`"check"`, `""`), `events["ToDo.validate"]: missing`},
		{"grant", with(`"http_fetch"`, `"root"`), "grants[0]: expected elevated"},
		{"host", with(`api.example.com`, `https://api.example.com`), "allowed_hosts[0]"},
		{"host in upper case", with(`api.example.com`, `API.example.com`), "allowed_hosts[0]"},
		{"short address", with(`api.example.com`, `127.1`), "allowed_hosts[0]: expected"},
		{"hexadecimal address", with(`api.example.com`, `0x7f000001`), "allowed_hosts[0]: expected"},
		{"number as address", with(`api.example.com`, `2130706433:8080`), "allowed_hosts[0]: expected"},
		{"below an address", with(`api.example.com`, `*.192.0.2.1`), "allowed_hosts[0]: expected"},
		{"IPv6 without brackets", with(`api.example.com`, `2001:db8::1`), "allowed_hosts[0]: expected"},
		{"port out of range", with(`api.example.com`, `api.example.com:70000`), "allowed_hosts[0]: expected"},
		{"limit", with(`1048576`, `1073741824`), "limits.memory: expected 1 to 268435456, found 1073741824"},
		{"DocType by name", with(`{"name": "Remark", "fields": []}`, `"Remark"`), "doctypes[0]: expected the JSON of a DocType"},
		{"negative limit", with(`2000`, `-1`), "limits.wall_ms"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := manifest.Parse([]byte(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
			if tt.name != "not UTF-8" && !strings.HasPrefix(err.Error(), "manifest: line ") {
				t.Errorf("error %v says no line", err)
			}
		})
	}
}

// TestPlaces: an error about what a member says shows where it says so; one about
// what is missing, where it is missing.
func TestPlaces(t *testing.T) {
	const text = `{
  "name": "acme.todo", "version": "1", "abi": 1,
  "methods": [
    {"path": "acme.todo.a"},
    {"description": "Zoë", "path": "acme.todo.b", "verbs": ["GET", "POST"], "writes": true,
     "args": {"type": "object",
       "properties": {"n": {"type": "integer"}}}}
  ],
  "events": {"Sales Order.validate": "check"},
  "grants": ["doc_get", "doc_list"],
  "limits": {"memory": 1048576}
}`
	tests := []struct{ old, new, want string }{
		{`"acme.todo"`, `"acme"`, "line 2, column 11: name: expected"},
		{`"version": "1", `, ``, "line 1, column 1: version: expected"},
		{`1,`, `2,`, "line 2, column 47: abi: expected 1"},
		{`{"path": "acme.todo.a"}`, `{}`, "line 4, column 5: methods[0].path: missing"},
		{`"acme.todo.b"`, `"acme.other.b"`, "line 5, column 36: methods[1].path: expected acme.todo."},
		{`"acme.todo.b"`, `"acme.todo.a"`, "line 5, column 36: methods[1].path: acme.todo.a is listed twice"},
		{`"POST"`, `"GET"`, "line 5, column 68: methods[1].verbs[1]:"},
		{`"writes": true`, `"writes": "yes"`, "line 5, column 87: methods[1].writes: expected true or false, found string"},
		{`"integer"`, `"int"`, "line 7, column 28: methods[1].args: at /properties/n: type: expected"},
		{`Order.validate`, `Order.validated`, `line 9, column 39: events["Sales Order.validated"]: unknown event`},
		{`"doc_list"`, `"doc_lists"`, "line 10, column 25: grants[1]: expected"},
		{`1048576`, `-1`, "line 11, column 24: limits.memory: expected"},
		{`"limits": {`, `"limits": {"momery": 1, `, "line 11, column 14: unknown field limits.momery"},
		{`"limits": {"memory": 1048576}`, `"limits": 1`, "line 11, column 13: limits: expected an object"},
	}
	for _, tt := range tests {
		changed := strings.Replace(text, tt.old, tt.new, 1)
		if _, err := manifest.Parse([]byte(changed)); changed == text || err == nil || !strings.HasPrefix(err.Error(), "manifest: "+tt.want) {
			t.Errorf("%s: %v, want %q", tt.new, err, tt.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte(`{"name":"a.b","version":"1","abi":1,"methods":[{"path":"a.b.c"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := manifest.Parse(text)
		if err != nil {
			return
		}
		for _, method := range m.Methods {
			if !strings.HasPrefix(method.Path, m.Name+".") || method.Export == "" {
				t.Errorf("accepted %+v", method)
			}
		}
	})
}

// TestAddressesAsHosts: an address is written as a URL has it.
func TestAddressesAsHosts(t *testing.T) {
	for _, host := range []string{"192.0.2.1", "192.0.2.1:8080", "[2001:db8::1]", "[2001:db8::1]:8443"} {
		text := `{"name": "acme.todo", "version": "1", "abi": 1, "allowed_hosts": ["` + host + `"], "methods": [{"path": "acme.todo.ping"}]}`
		if _, err := manifest.Parse([]byte(text)); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
}
