package main_test

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
)

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
