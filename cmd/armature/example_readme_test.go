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

	"armature/cmd/armature/armaturetest"
	"armature/cmd/armature/transcript"
)

// TestExamplesAreListed: every example says what to type, and the overview names
// it.
func TestExamplesAreListed(t *testing.T) {
	dir := filepath.Join(armaturetest.Root(t), "examples")
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
	in := armaturetest.New(t)
	in.Walk().Follow("shop")
}

// TestExampleHelpdesk: a plugin and the page before it.
func TestExampleHelpdesk(t *testing.T) {
	in := armaturetest.New(t)
	in.Walk().Follow("helpdesk")
}

// TestExampleTodo: the todo example is tested and built as each language's README
// says, and then does what the first one's says, whatever it is written in.
func TestExampleTodo(t *testing.T) {
	for _, l := range armaturetest.SDKs {
		t.Run(l.Todo, func(t *testing.T) {
			t.Parallel()
			in := armaturetest.New(t).Finding(l.Toolchain(t))
			w := in.Walk()
			if l.Todo != "todo" {
				w.Follow(l.Todo)
			} else {
				w.Follow("todo", "Build")
			}
			w.Follow("todo", "Use")
		})
	}
}

// TestExampleMisbehave: what the server does about bad plugins.
func TestExampleMisbehave(t *testing.T) {
	in := armaturetest.New(t)
	in.Walk().Follow("misbehave")
}

// TestExampleInvoice: the README, and what it says of invoices and payments that
// come at once.
func TestExampleInvoice(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		w := in.Walk()
		w.Follow("invoice")
		s := w.Server
		invoice := map[string]any{"customer": "Crowd", "docstatus": 1, "items": []any{map[string]any{"description": "x", "rate": 100}}}
		names := atOnce(8, 5, func() string {
			status, answer := s.Call("POST", "/api/resource/Invoice", invoice)
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
			status, answer := s.Call("POST", "/api/method/acme.invoice.pay", map[string]any{"name": names[0], "amount": 1})
			if status != http.StatusOK && answer["exc_type"] != "TimestampMismatchError" {
				t.Errorf("%d %v", status, answer)
			}
			return fmt.Sprint(status)
		})
		paid = slices.DeleteFunc(paid, func(status string) bool { return status != "200" })
		if got := s.Want("GET", "/api/resource/Invoice/"+names[0], nil).(map[string]any); got["paid"] != float64(len(paid)) || len(paid) == 0 {
			t.Errorf("%d payments were taken, %v is paid", len(paid), got["paid"])
		}
	})
}

// TestExampleApproval: the README, decisions on what has changed since it was
// seen, and a decision that eight make at once.
func TestExampleApproval(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		w := in.Walk()
		w.Follow("approval")
		header := func(name string) string { return strings.TrimPrefix(w.Variable(name), "Authorization: ") }
		ann, lea, finn := header("ANN"), header("LEA"), header("FINN")
		_, made := w.Server.CallAs(ann, "POST", "/api/resource/Purchase%20Request", map[string]any{"title": "Desk", "amount": 100})
		name := made["data"].(map[string]any)["name"]
		path := fmt.Sprintf("/api/resource/Purchase%%20Request/%s", name)
		seen := func() any {
			t.Helper()
			_, answer := w.Server.CallAs(lea, "GET", "/api/method/acme.approval.pending", nil)
			for _, r := range answer["message"].([]any) {
				if r := r.(map[string]any); r["name"] == name {
					return r["modified"]
				}
			}
			t.Fatalf("%s does not wait for Lea: %v", name, answer)
			return nil
		}
		before := seen()
		if status, answer := w.Server.CallAs(ann, "PUT", path, map[string]any{"amount": 100000}); status != http.StatusOK {
			t.Fatalf("%d %v", status, answer)
		}
		for _, method := range []string{"approve", "reject"} {
			for excType, args := range map[string]map[string]any{
				"TimestampMismatchError": {"name": name, "remark": "x", "modified": before},
				"ValidationError":        {"name": name, "remark": "x"},
			} {
				status, answer := w.Server.CallAs(lea, "POST", "/api/method/acme.approval."+method, args)
				if status != http.StatusExpectationFailed || answer["exc_type"] != excType {
					t.Errorf("%s %v: %d %v", method, args, status, answer)
				}
			}
			args := map[string]any{"name": name, "remark": "x", "modified": ""}
			if status, answer := w.Server.CallAs(lea, "POST", "/api/method/acme.approval."+method, args); status != http.StatusExpectationFailed {
				t.Errorf("%s %v: %d %v", method, args, status, answer)
			}
		}
		if status, answer := w.Server.CallAs(finn, "PUT", path, map[string]any{"amount": 1}); status != http.StatusForbidden || answer["exc_type"] != "NotYoursError" {
			t.Errorf("Finn changes what Ann asks for: %d %v", status, answer)
		}
		now := seen()
		got := atOnce(8, 1, func() string {
			status, answer := w.Server.CallAs(lea, "POST", "/api/method/acme.approval.approve", map[string]any{"name": name, "modified": now})
			return fmt.Sprint(status, answer["exc_type"])
		})
		if n := len(slices.DeleteFunc(slices.Clone(got), func(s string) bool { return !strings.HasPrefix(s, "200") })); n != 1 {
			t.Errorf("%d of 8 have decided: %v", n, got)
		}
		_, stored := w.Server.CallAs(ann, "GET", path, nil)
		if doc := stored["data"].(map[string]any); doc["status"] != "Checked" || doc["amount"] != 100000.0 || len(doc["decisions"].([]any)) != 1 {
			t.Errorf("stored %v", doc)
		}
	})
}

// TestExampleCSV: the README, and as many rows as one call takes.
func TestExampleCSV(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		in.Finding(armaturetest.RustToolchain(t))
		w := in.Walk()
		w.Follow("csv-import")
		var csv strings.Builder
		csv.WriteString("email,name,phone,born,notes\n")
		for i := range 5000 {
			fmt.Fprintf(&csv, "u%d@example.com,User %d,+49 30 %d,2000-01-31,\"a note, in quotes\"\n", i, i, i)
		}
		got := w.Server.Want("POST", "/api/method/acme.csv.import", map[string]any{"csv": csv.String()}).(map[string]any)
		if got["imported"] != 5000.0 {
			t.Errorf("got %v", got)
		}
		if status, answer := w.Server.Call("POST", "/api/method/acme.csv.import", map[string]any{"csv": csv.String() + "u,u,,,\n"}); status != http.StatusRequestEntityTooLarge {
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
	armaturetest.Compiler(t, "openssl", "apt-get install openssl")
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		w := in.Walk()
		w.Follow("webhook-receiver")
		secret := w.Variable("SECRET")
		again := atOnce(8, 4, func() string {
			cmd := exec.Command("sh", "-c", `printf %s "$(./send.sh "$URL" msg_once '{"type": "crowd"}')"`)
			cmd.Dir = filepath.Join(w.Examples, "webhook-receiver")
			cmd.Env = append(os.Environ(), "URL="+w.Server.URL, "SECRET="+secret)
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
		if got := w.Server.Want("GET", "/api/resource/Received%20Webhook?filters="+url.QueryEscape(`[["event_type","=","crowd"]]`), nil).([]any); len(got) != 1 {
			t.Errorf("stored %v", got)
		}
	})
}
