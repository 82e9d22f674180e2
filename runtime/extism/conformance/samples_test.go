package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	extism "github.com/extism/go-sdk"
	"github.com/tetratelabs/wazero"
)

// samples are those of the SDK's own plugins that need nothing but Extism.
var samples = []struct{ file, export, input string }{
	{"alloc", "run_test", ""},
	{"config", "run_test", ""},
	{"count_vowels", "count_vowels", "Hello, World!"},
	{"count_vowels", "count_vowels", ""},
	{"exit", "_start", ""}, // with code 2 if nothing is configured
	{"fail", "run_test", ""},
	{"fs", "run_test", ""}, // there are no files
	{"hello", "run_test", ""},
	{"hello_haskell", "testing", "Zoë"},
	{"http_headers", "http_get", "no JSON"},
	{"input_offset", "input_offset_length", "twenty bytes of text"},
	{"log", "run_test", ""},
	{"println", "run_test", "a line"},
	{"replace", "run_test", "hello {world}"},
	{"sleep", "run_test", ""},
	{"std_command", "_start", "a command"},
	{"var", "run_test", ""},
}

// foreign are those that need another plugin, or functions of another host.
var foreign = []string{"host", "host_memory", "host_multiple", "main"}

// TestSamples: the samples answer as they do in Extism, and so they do when they
// are called again.
func TestSamples(t *testing.T) {
	dir := samplesDir(t)
	s := serve(t)
	for _, name := range foreign {
		s.drop(name, manifest(name, "run_test"), read(t, dir, name))
	}
	exports := map[string]string{}
	for _, c := range samples {
		exports[c.file] = c.export
	}
	for name, export := range exports {
		s.drop(name, manifest(name, export), read(t, dir, name))
	}
	eventually(t, "the samples serve", func() bool {
		serving := s.plugins()
		for name := range exports {
			if !serving["x."+name] {
				return false
			}
		}
		return true
	})
	for name, serves := range s.plugins() {
		for _, f := range foreign {
			if serves && name == "x."+f {
				t.Errorf("%s serves, though nobody offers what it imports", name)
			}
		}
	}
	for _, c := range samples {
		t.Run(c.file, func(t *testing.T) {
			code, output, err := original(t, read(t, dir, c.file), c.export, c.input)
			for range 2 {
				a := s.text("x."+c.file+".call", c.input)
				if code != 0 || err != nil {
					said := ""
					if err != nil && !strings.Contains(err.Error(), "module closed") {
						said, _, _ = strings.Cut(err.Error(), "\n")
					}
					if a.status == http.StatusOK || !strings.Contains(a.Exc, said) {
						t.Errorf("%d %s %s; Extism has code %d and %q", a.status, a.Message, a.Exc, code, said)
					}
					continue
				}
				if got := textOf(t, a); a.status != http.StatusOK || got != string(output) {
					t.Errorf("%d %q %s; Extism has %q", a.status, got, a.Exc, output)
				}
			}
		})
	}
}

// TestAdopted: a module becomes a plugin of a running server by one command.
func TestAdopted(t *testing.T) {
	dir := samplesDir(t)
	s := serve(t)
	into := func(name string) string { return filepath.Join(s.data, "plugins", name) }
	if said := string(s.run("plugin", "new", "acme.vowels", "--module", filepath.Join(dir, "count_vowels.wasm"), "--dir", into("vowels"))); !strings.Contains(said, "acme.vowels.count_vowels") {
		t.Errorf("it says %s", said)
	}
	s.run("plugin", "new", "acme.command", "--module", filepath.Join(dir, "std_command.wasm"), "--dir", into("command"))
	s.run("plugin", "new", "acme.http", "--module", filepath.Join(dir, "http.wasm"), "--dir", into("http"))
	eventually(t, "they serve", func() bool {
		serving := s.plugins()
		return serving["acme.vowels"] && serving["acme.command"]
	})
	s.want(s.text("acme.vowels.count_vowels", "Hello, World!"), `{"count":3,"total":3,"vowels":"aeiouAEIOU"}`)
	s.want(s.text("acme.command.run", "Zoë"), `"hello Zoë"`)
	// What reaches out waits until somebody has approved it.
	if said := string(s.run("plugin", "list")); s.plugins()["acme.http"] || !strings.Contains(said, "http_fetch") {
		t.Errorf("acme.http is to wait for http_fetch: %s", said)
	}
}

// original calls a plugin in Extism's own SDK, which is given what our server's
// plugins have: nothing.
func original(t *testing.T, wasm []byte, export, input string) (code uint32, output []byte, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	plugin, err := extism.NewPlugin(ctx, extism.Manifest{Wasm: []extism.Wasm{extism.WasmData{Data: wasm}}},
		extism.PluginConfig{EnableWasi: true, RuntimeConfig: wazero.NewRuntimeConfigInterpreter()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer plugin.Close(ctx)
	return plugin.CallWithContext(ctx, export, []byte(input))
}

// textOf is the output behind a message: of a string its text, of nothing none, and
// of anything else what the plugin has output.
func textOf(t *testing.T, a answer) string {
	t.Helper()
	var text string
	switch {
	case a.Message == nil:
	case json.Unmarshal(a.Message, &text) == nil:
	default:
		text = string(a.Message)
	}
	return text
}

func manifest(name, export string) []byte {
	return fmt.Appendf(nil, `{"name": "x.%s", "version": "1", "abi": 1, "optional_grants": ["http_fetch"],
		"methods": [{"path": "x.%s.call", "export": %q, "input": "text"}]}`, name, name, export)
}

// samplesDir is where the SDK's module has its samples.
func samplesDir(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/extism/go-sdk").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "wasm")
}

func read(t *testing.T, dir, name string) []byte {
	t.Helper()
	wasm, err := os.ReadFile(filepath.Join(dir, name+".wasm"))
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}
