package main_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"armature/cmd/armature/transcript"
)

// TestExamplesAreListed: every example says what to type, and the overview names
// it.
func TestExamplesAreListed(t *testing.T) {
	dir := filepath.Join(root(t), "examples")
	overview, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		if !strings.Contains(string(overview), "`"+e.Name()+"/`") {
			t.Errorf("examples/README.md does not name %s", e.Name())
		}
		if e.Name() == "deploy" {
			continue // how to run a server
		}
		readme, err := os.ReadFile(filepath.Join(dir, e.Name(), "README.md"))
		if err != nil {
			t.Error(err)
			continue
		}
		if steps, err := transcript.Read(string(readme)); err != nil || len(steps) == 0 {
			t.Errorf("examples/%s/README.md has %d commands: %v", e.Name(), len(steps), err)
		}
	}
}

// TestExampleShop: nothing is built; the file is put into the plugins folder.
func TestExampleShop(t *testing.T) {
	in := &installation{t: t, data: t.TempDir()}
	in.walk().follow("shop")
}

// TestExampleTodo: the todo example is tested and built as each language's README
// says, and then does what the first one's says, whatever it is written in.
func TestExampleTodo(t *testing.T) {
	for _, l := range sdks {
		t.Run(l.todo, func(t *testing.T) {
			in := (&installation{t: t, data: t.TempDir()}).finding(l.toolchain(t))
			w := in.walk()
			if l.todo != "todo" {
				w.follow(l.todo)
			} else {
				w.follow("todo", "Build")
			}
			w.follow("todo", "Use")
		})
	}
}

// TestExampleMisbehave: what the server does about bad plugins.
func TestExampleMisbehave(t *testing.T) {
	in := &installation{t: t, data: t.TempDir()}
	in.walk().follow("misbehave")
}

// TestExampleInvoice: the README, and what it says of invoices and payments that
// come at once.
func TestExampleInvoice(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		w := in.walk()
		w.follow("invoice")
		s := w.server
		invoice := map[string]any{"customer": "Crowd", "docstatus": 1, "items": []any{map[string]any{"description": "x", "rate": 100}}}
		names := atOnce(8, 5, func() string {
			status, answer := s.call("POST", "/api/resource/Invoice", invoice)
			if status != http.StatusOK {
				t.Errorf("%d %v", status, answer)
				return ""
			}
			return answer["data"].(map[string]any)["name"].(string)
		})
		slices.Sort(names)
		if n := len(slices.Compact(slices.Clone(names))); n != 8*5 {
			t.Errorf("%d numbers for %d invoices: %v", n, len(names), names)
		}
		// Whoever is told that a payment is in finds it in.
		paid := atOnce(8, 3, func() string {
			status, answer := s.call("POST", "/api/method/acme.invoice.pay", map[string]any{"name": names[0], "amount": 1})
			if status != http.StatusOK && answer["exc_type"] != "TimestampMismatchError" {
				t.Errorf("%d %v", status, answer)
			}
			return fmt.Sprint(status)
		})
		paid = slices.DeleteFunc(paid, func(status string) bool { return status != "200" })
		if got := s.want("GET", "/api/resource/Invoice/"+names[0], nil).(map[string]any); got["paid"] != float64(len(paid)) || len(paid) == 0 {
			t.Errorf("%d payments were taken, %v is paid", len(paid), got["paid"])
		}
	})
}

// TestExampleApproval: the README, decisions on what has changed since it was
// seen, and a decision that eight make at once.
func TestExampleApproval(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		w := in.walk()
		w.follow("approval")
		header := func(name string) string { return strings.TrimPrefix(w.variable(name), "Authorization: ") }
		ann, lea, finn := header("ANN"), header("LEA"), header("FINN")
		_, made := w.server.callAs(ann, "POST", "/api/resource/Purchase%20Request", map[string]any{"title": "Desk", "amount": 100})
		name := made["data"].(map[string]any)["name"]
		path := fmt.Sprintf("/api/resource/Purchase%%20Request/%s", name)
		seen := func() any {
			t.Helper()
			_, answer := w.server.callAs(lea, "GET", "/api/method/acme.approval.pending", nil)
			for _, r := range answer["message"].([]any) {
				if r := r.(map[string]any); r["name"] == name {
					return r["modified"]
				}
			}
			t.Fatalf("%s does not wait for Lea: %v", name, answer)
			return nil
		}
		before := seen()
		if status, answer := w.server.callAs(ann, "PUT", path, map[string]any{"amount": 100000}); status != http.StatusOK {
			t.Fatalf("%d %v", status, answer)
		}
		for _, method := range []string{"approve", "reject"} {
			for excType, args := range map[string]map[string]any{
				"TimestampMismatchError": {"name": name, "remark": "x", "modified": before},
				"ValidationError":        {"name": name, "remark": "x"},
			} {
				status, answer := w.server.callAs(lea, "POST", "/api/method/acme.approval."+method, args)
				if status != http.StatusExpectationFailed || answer["exc_type"] != excType {
					t.Errorf("%s %v: %d %v", method, args, status, answer)
				}
			}
			args := map[string]any{"name": name, "remark": "x", "modified": ""}
			if status, answer := w.server.callAs(lea, "POST", "/api/method/acme.approval."+method, args); status != http.StatusExpectationFailed {
				t.Errorf("%s %v: %d %v", method, args, status, answer)
			}
		}
		if status, answer := w.server.callAs(finn, "PUT", path, map[string]any{"amount": 1}); status != http.StatusForbidden || answer["exc_type"] != "NotYoursError" {
			t.Errorf("Finn changes what Ann asks for: %d %v", status, answer)
		}
		now := seen()
		got := atOnce(8, 1, func() string {
			status, answer := w.server.callAs(lea, "POST", "/api/method/acme.approval.approve", map[string]any{"name": name, "modified": now})
			return fmt.Sprint(status, answer["exc_type"])
		})
		if n := len(slices.DeleteFunc(slices.Clone(got), func(s string) bool { return !strings.HasPrefix(s, "200") })); n != 1 {
			t.Errorf("%d of 8 have decided: %v", n, got)
		}
		_, stored := w.server.callAs(ann, "GET", path, nil)
		if doc := stored["data"].(map[string]any); doc["status"] != "Checked" || doc["amount"] != 100000.0 || len(doc["decisions"].([]any)) != 1 {
			t.Errorf("stored %v", doc)
		}
	})
}

// TestExampleCSV: the README, and as many rows as one call takes.
func TestExampleCSV(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		in.finding(rustToolchain(t))
		w := in.walk()
		w.follow("csv-import")
		var csv strings.Builder
		csv.WriteString("email,name,phone,born,notes\n")
		for i := range 5000 {
			fmt.Fprintf(&csv, "u%d@example.com,User %d,+49 30 %d,2000-01-31,\"a note, in quotes\"\n", i, i, i)
		}
		got := w.server.want("POST", "/api/method/acme.csv.import", map[string]any{"csv": csv.String()}).(map[string]any)
		if got["imported"] != 5000.0 {
			t.Errorf("got %v", got)
		}
		if status, answer := w.server.call("POST", "/api/method/acme.csv.import", map[string]any{"csv": csv.String() + "u,u,,,\n"}); status != http.StatusRequestEntityTooLarge {
			t.Errorf("one row more: %d %v", status, answer)
		}
	})
}

// atOnce has several workers do something several times each, and returns what
// they got.
func atOnce(workers, times int, do func() string) []string {
	got := make([]string, workers*times)
	var done sync.WaitGroup
	for worker := range workers {
		done.Go(func() {
			for i := range times {
				got[worker*times+i] = do()
			}
		})
	}
	done.Wait()
	return got
}

// TestExampleWebhook: the README, and a delivery that comes eight times at once.
func TestExampleWebhook(t *testing.T) {
	compiler(t, "openssl", "apt-get install openssl")
	eachDatabase(t, func(t *testing.T, in *installation) {
		w := in.walk()
		w.follow("webhook-receiver")
		secret := w.variable("SECRET")
		again := atOnce(8, 4, func() string {
			cmd := exec.Command("sh", "-c", `printf %s "$(./send.sh "$URL" msg_once '{"type": "crowd"}')"`)
			cmd.Dir = filepath.Join(w.examples, "webhook-receiver")
			cmd.Env = append(os.Environ(), "URL="+w.server.url, "SECRET="+secret)
			out, err := cmd.Output()
			if err != nil {
				t.Error(err)
			}
			return string(out)
		})
		first := slices.DeleteFunc(slices.Clone(again), func(answer string) bool { return answer == `{"message":{"received":"msg_once","again":true}} 200` })
		if !slices.Equal(first, []string{`{"message":{"received":"msg_once"}} 200`}) {
			t.Errorf("answers to who was not told that it is here already: %q", first)
		}
		if got := w.server.want("GET", "/api/resource/Webhook%20Delivery?filters="+url.QueryEscape(`[["event_type","=","crowd"]]`), nil).([]any); len(got) != 1 {
			t.Errorf("stored %v", got)
		}
	})
}
