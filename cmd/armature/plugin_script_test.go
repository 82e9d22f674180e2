package main_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// drop puts a file into the folder of the plugins for all sites.
func (in *installation) drop(name, text string) {
	in.t.Helper()
	path := filepath.Join(in.data, "plugins", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		in.t.Fatal(err)
	}
	put(in.t, path, []byte(text))
}

// message is what a method answers, or "" if it fails.
func (s *server) message(path string, args map[string]any) string {
	status, answer := s.call("POST", "/api/method/"+path, args)
	if status != http.StatusOK {
		return ""
	}
	return fmt.Sprint(answer["message"])
}

// TestDropScript: a file is put into the folder, changed, broken, mended and
// removed, and the server, which runs all the time, follows.
func TestDropScript(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		s := in.serve()
		s.auth = in.keys("Administrator")
		in.drop("shop.js", `export function hello({name}) { return "hello " + name }`)
		zoe := map[string]any{"name": "Zoë"}
		eventually(t, "the script answers", func() bool { return s.message("shop.hello", zoe) == "hello Zoë" })
		in.drop("shop.js", `export const hello = async ({name}) => "good day " + name`)
		eventually(t, "it has changed", func() bool { return s.message("shop.hello", zoe) == "good day Zoë" })

		in.drop("shop.js", "export function hello() {\n  return 1 +;\n}")
		eventually(t, "the log says what is wrong, and where", func() bool {
			return strings.Contains(in.run("plugin", "list"), "shop.js:2:13: Unexpected \";\"")
		})
		if got := s.message("shop.hello", zoe); got != "good day Zoë" {
			t.Errorf("while the file is broken: %q", got)
		}
		in.drop("shop.js", `export const hello = () => "again"`)
		eventually(t, "it is mended", func() bool { return s.message("shop.hello", zoe) == "again" })
		if err := os.Remove(filepath.Join(in.data, "plugins", "shop.js")); err != nil {
			t.Fatal(err)
		}
		eventually(t, "it is gone", func() bool { return s.message("shop.hello", zoe) == "" })
	})
}
