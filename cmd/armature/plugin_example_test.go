package main_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestShopExample types what the README of the shop example says, on a running
// server, and compares what comes back.
func TestShopExample(t *testing.T) {
	dir := filepath.Join(root(t), "examples", "shop")
	text, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	in := &installation{t: t, data: t.TempDir()}
	s := in.serve()
	s.auth = in.keys("Administrator")
	steps := commands(string(text))
	if len(steps) != 5 {
		t.Fatalf("%d commands are in the README", len(steps))
	}
	for _, step := range steps {
		cmd := exec.Command("bash", "-c", step.command)
		cmd.Dir = dir
		cmd.Env = append(environment(), "URL="+s.url, "DATA="+in.data, "AUTH=Authorization: "+s.auth)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", step.command, err, out)
		}
		if !step.answers(string(out)) {
			t.Fatalf("%s\nanswers %s\nthe README says %s", step.command, out, step.want)
		}
		if strings.HasPrefix(step.command, "cp ") {
			eventually(t, "the plugin is loaded", func() bool {
				status, _ := s.call("GET", "/api/method/acme.shop.price?rate=1", nil)
				return status == http.StatusOK
			})
		}
	}

	// The table below the commands.
	for _, tt := range []struct {
		auth, verb, path string
		body             any
		status           int
		excType          string
	}{
		{s.auth, "POST", "/api/method/acme.shop.order", map[string]any{"item": "coffee"}, 404, "DoesNotExistError"},
		{s.auth, "POST", "/api/method/acme.shop.order", map[string]any{}, 417, ""},
		{"", "POST", "/api/method/acme.shop.order", map[string]any{"item": "tea"}, 403, "PermissionError"},
		{s.auth, "GET", "/api/method/acme.shop.order?item=tea", nil, 403, "PermissionError"},
		{s.auth, "PUT", "/api/resource/Shop%20Item/tea", map[string]any{"rate": -1}, 417, "ValidationError"},
	} {
		status, answer := s.callAs(tt.auth, tt.verb, tt.path, tt.body)
		if status != tt.status || tt.excType != "" && answer["exc_type"] != tt.excType {
			t.Errorf("%s %s: %d %v, want %d %s", tt.verb, tt.path, status, answer, tt.status, tt.excType)
		}
	}
	if item := s.want("GET", "/api/resource/Shop%20Item/tea", nil).(map[string]any); item["stock"] != 1.0 || item["rate"] != 2.5 {
		t.Errorf("after all of it: %v", item)
	}
}

// step is a command of a README with what it says comes back, where ... stands for
// anything.
type step struct{ command, want string }

// commands reads the lines that begin with a dollar sign.
func commands(readme string) (steps []step) {
	for line := range strings.Lines(readme) {
		line = strings.TrimRight(line, "\n")
		switch command, ok := strings.CutPrefix(line, "$ "); {
		case ok:
			steps = append(steps, step{command: command})
		case len(steps) > 0 && strings.HasPrefix(line, "{"):
			steps[len(steps)-1].want = line
		}
	}
	return steps
}

func (s step) answers(out string) bool {
	pattern := strings.ReplaceAll(regexp.QuoteMeta(s.want), `\.\.\.`, `.*`)
	return regexp.MustCompile("^" + pattern + "\n?$").MatchString(out)
}
