package webhook_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"armature/core/identity"
	"armature/core/jobs"
	"armature/core/mail/mailtest"
	"armature/core/sites"
	"armature/core/sites/sitetest"
)

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYqrTwjU"

// receiver is a server that webhooks tell.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	got    []map[string]any
	ids    []string
	wrong  []error
	header []string
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{status: 200}
	verify, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		if err := verify.Verify(body, q.Header); err != nil {
			r.wrong = append(r.wrong, err)
		}
		var told map[string]any
		if err := json.Unmarshal(body, &told); err != nil {
			r.wrong = append(r.wrong, err)
		}
		r.got, r.ids, r.header = append(r.got, told), append(r.ids, q.Header.Get("webhook-id")), append(r.header, q.Header.Get("X-Token"))
		w.WriteHeader(r.status)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) answers(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = status
}

// told are the values of a field that were told, in their order.
func (r *receiver) told(field string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []string
	for _, one := range r.got {
		data, _ := one["data"].(map[string]any)
		all = append(all, fmt.Sprint(data[field]))
	}
	return strings.Join(all, " ")
}

func each(t *testing.T, test func(t *testing.T, s *sitetest.Server, r *receiver), options ...sitetest.Option) {
	t.Helper()
	for name, database := range map[string]func(testing.TB) string{"SQLite": func(testing.TB) string { return "" }, "PostgreSQL": sitetest.Postgres} {
		t.Run(name, func(t *testing.T) {
			r := newReceiver(t)
			s := sitetest.New(t, database(t), options...)
			s.Configure(t, "allowed_private_hosts", fmt.Sprintf("[%q]", strings.TrimPrefix(r.URL, "http://")))
			test(t, s, r)
		})
	}
}

// work runs what is due, one after the other, until nothing is.
func work(t *testing.T, s *sitetest.Server) (outcomes []jobs.Outcome) {
	t.Helper()
	for {
		due, _, err := s.Tenant.Jobs.Due(t.Context(), 100)
		if err != nil {
			t.Fatal(err)
		}
		if len(due) == 0 {
			return outcomes
		}
		for _, ticket := range due {
			outcome, err := s.Tenant.Jobs.Run(t.Context(), ticket)
			if err != nil {
				t.Fatal(err)
			}
			outcomes = append(outcomes, outcome)
		}
	}
}

func hook(r *receiver, more map[string]any) map[string]any {
	all := map[string]any{
		"document_type": "ToDo", "event": "on_update", "url": r.URL + "/in", "secret": secret, "condition": `[["status", "=", "Open"]]`, "fields": "description, status",
		"headers": []any{map[string]any{"key": "X-Token", "value": "hush"}},
	}
	for k, v := range more {
		all[k] = v
	}
	return all
}

// TestTells: what is committed and meets the condition is told, in order, signed, with the
// fields that were asked for; what is not is not.
func TestTells(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, r *receiver) {
		made := s.Admin.Post("/api/resource/Webhook", hook(r, nil)).OK(t)
		if strings.Contains(made.Text, "hush") || strings.Contains(made.Text, secret) {
			t.Errorf("secrets are shown: %s", made.Text)
		}
		todo := s.Admin.Post("/api/resource/ToDo", map[string]any{"description": "one"}).OK(t).Data(t)
		path := "/api/resource/ToDo/" + fmt.Sprint(todo["name"])
		s.Admin.Put(path, map[string]any{"description": "two"}).OK(t)
		s.Admin.Put(path, map[string]any{"description": "three"}).OK(t)
		s.Admin.Put(path, map[string]any{"status": "Closed"}).OK(t)
		s.Admin.Put(path, map[string]any{"priority": "nothing"})
		s.Admin.Post("/api/resource/Note", map[string]any{"title": "one"}).OK(t)
		work(t, s)
		if got := r.told("description"); got != "one two three" || len(r.wrong) > 0 {
			t.Errorf("told %q, %v", got, r.wrong)
		}
		if got := r.told("priority"); got != "<nil> <nil> <nil>" || r.header[0] != "hush" || r.got[0]["type"] != "ToDo.on_update" {
			t.Errorf("told %v with the header %s", r.got[0], r.header)
		}
		list := s.Admin.Get("/api/resource/Webhook Delivery", "fields", `["name","status","response_status"]`).OK(t).Text
		if strings.Count(list, `"status":"Sent","response_status":200`) != 3 {
			t.Errorf("the log is %s", list)
		}
		s.Admin.Post("/api/resource/Webhook Delivery", map[string]any{"webhook": "x"}).Fails(t, 403, "PermissionError")
		s.Admin.Post("/api/method/framework.webhook.resend", map[string]any{"delivery": r.ids[1]}).OK(t)
		work(t, s)
		if got := r.told("description"); got != "one two three two" || r.ids[3] != r.ids[1] {
			t.Errorf("sent again: %q, ids %v", got, r.ids)
		}
	})
}

// TestReveals: a webhook tells what its owner may read when it is made, and nothing once
// the owner may not any more.
func TestReveals(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, r *receiver) {
		zoe := s.User(t, "zoe@example.com", identity.SystemManager)
		zoe.Post("/api/resource/Webhook", hook(r, map[string]any{"condition": "", "document_type": "Note", "fields": ""})).OK(t)
		note := zoe.Post("/api/resource/Note", map[string]any{"title": "one"}).OK(t).Data(t)
		work(t, s)
		if got := r.told("title"); got != "one" {
			t.Fatalf("told %q", got)
		}
		zoe.Put("/api/resource/Note/"+fmt.Sprint(note["name"]), map[string]any{"title": "two"}).OK(t)
		s.Admin.Put("/api/resource/User/zoe@example.com", map[string]any{"enabled": 0}).OK(t)
		s.Admin.Post("/api/resource/Note", map[string]any{"title": "three"}).OK(t)
		work(t, s)
		if got := r.told("title"); got != "one" {
			t.Errorf("told %q after the owner was disabled", got)
		}
	})
}

// TestFails: a delivery that fails keeps those of its document behind it, and no others;
// one that has failed for days, or that the receiver does not want, is the last.
func TestFails(t *testing.T) {
	var mu sync.Mutex
	ahead := time.Duration(0)
	forward := func(d time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		ahead += d
	}
	with := func(c *sites.Config) {
		c.Clock = func() time.Time { mu.Lock(); defer mu.Unlock(); return time.Now().Add(ahead) }
	}
	each(t, func(t *testing.T, s *sitetest.Server, r *receiver) {
		office := mailtest.Open(t)
		s.Configure(t, "mail", office.Setting)
		owner := s.User(t, "owner@example.com", identity.SystemManager)
		made := owner.Post("/api/resource/Webhook", hook(r, map[string]any{"title": "Orders"})).OK(t).Data(t)
		path := "/api/resource/Webhook/" + fmt.Sprint(made["name"])
		first := s.Admin.Post("/api/resource/ToDo", map[string]any{"description": "a1"}).OK(t).Data(t)
		s.Admin.Put("/api/resource/ToDo/"+fmt.Sprint(first["name"]), map[string]any{"description": "a2"}).OK(t)
		r.answers(500)
		work(t, s)
		r.answers(200)
		s.Admin.Post("/api/resource/ToDo", map[string]any{"description": "b1"}).OK(t)
		work(t, s)
		if got := r.told("description"); got != "a1 b1" {
			t.Errorf("told %q while the first fails", got)
		}
		forward(5 * time.Second)
		work(t, s)
		if got := r.told("description"); got != "a1 b1 a1 a2" {
			t.Errorf("told %q", got)
		}
		r.answers(500)
		s.Admin.Post("/api/resource/ToDo", map[string]any{"description": "c1"}).OK(t)
		for range 17 {
			work(t, s)
			forward(24 * time.Hour)
		}
		if data := s.Admin.Get(path).OK(t).Data(t); fmt.Sprint(data["enabled"]) != "0" || !strings.Contains(fmt.Sprint(data["disabled_reason"]), "failed since") {
			t.Errorf("after days of failures: %v", data)
		}
		work(t, s) // the letter's job
		if n := office.Count(); n != 1 || !office.Has("owner@example.com", "Orders was disabled", r.URL, "failed since") {
			t.Errorf("%d letters; none tells the owner that it is disabled, and why", n)
		}
		before := r.told("description")
		s.Admin.Post("/api/resource/ToDo", map[string]any{"description": "d1"}).OK(t)
		work(t, s)
		if got := r.told("description"); got != before {
			t.Errorf("a disabled one told %q", strings.TrimPrefix(got, before))
		}
		s.Admin.Put(path, map[string]any{"enabled": 1}).OK(t)
		r.answers(410)
		s.Admin.Post("/api/resource/ToDo", map[string]any{"description": "e1"}).OK(t)
		work(t, s)
		if data := s.Admin.Get(path).OK(t).Data(t); fmt.Sprint(data["enabled"]) != "0" || !strings.Contains(fmt.Sprint(data["disabled_reason"]), "410") {
			t.Errorf("after 410: %v", data)
		}
		work(t, s)
		if n := office.Count(); n != 2 || !office.Has("owner@example.com", "410") {
			t.Errorf("%d letters; none tells the owner of the 410", n)
		}
	}, with)
}

// TestRefused: what could reveal more than it should, or goes where nothing may, is no
// webhook.
func TestRefused(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, r *receiver) {
		for _, wrong := range []map[string]any{
			{"url": "http://169.254.169.254/latest"}, {"url": "ftp://example.com"}, {"url": "http://example.com/in"}, {"secret": "short"}, {"condition": "nothing"},
			{"fields": "no_such"}, {"document_type": "Webhook Delivery"}, {"headers": []any{map[string]any{"key": "webhook-id", "value": "x"}}},
		} {
			if reply := s.Admin.Post("/api/resource/Webhook", hook(r, wrong)); reply.Status < 400 {
				t.Errorf("%v was taken: %s", wrong, reply.Text)
			}
		}
		s.User(t, "joe@example.com").Post("/api/resource/Webhook", hook(r, nil)).Fails(t, 403, "PermissionError")
		made := s.Admin.Post("/api/resource/Webhook", hook(r, nil)).OK(t).Data(t)
		zoe := s.User(t, "zoe@example.com", identity.SystemManager)
		zoe.Put("/api/resource/Webhook/"+fmt.Sprint(made["name"]), map[string]any{"url": r.URL + "/other"}).Fails(t, 403, "PermissionError")
	})
}
