package webhook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	neturl "net/url"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/egress"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/jobs"
	"armature/core/method"
	"armature/core/query"
)

// Path is that of the jobs which send deliveries.
const Path = "@webhook"

// The states of a delivery.
const (
	pending = "Pending"
	sent    = "Sent"
	failing = "Failing" // and tried again
	failed  = "Failed"
	refused = "Refused" // the owner may not read the document any more, or the webhook is disabled
)

// What a delivery may take.
const (
	patience  = 15 * time.Second
	maxAnswer = 64 << 10 // bytes
	// offAfter is how long a webhook fails that is then disabled.
	offAfter = 60 * time.Hour
)

// lane is the name of a lane of any length in a short form.
func lane(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "webhook:" + hex.EncodeToString(sum[:16])
}

// Send is the task of the jobs at Path.
func (s *Service) Send(ctx context.Context, j *jobs.Job, owner *identity.Caller) (func(context.Context, document.Tx) error, error) {
	var in struct {
		Delivery string `json:"delivery"`
	}
	if err := json.Unmarshal(j.Args, &in); err != nil {
		return nil, err
	}
	d, w, err := s.read(ctx, in.Delivery)
	if fault.KindOf(err) == fault.NotFound {
		return nil, nil // somebody has deleted it
	}
	if err != nil {
		return nil, err
	}
	if why := s.withheld(ctx, d, w, owner); why != nil {
		if kind := fault.KindOf(why); kind != fault.Permission && kind != fault.NotFound {
			return nil, why
		}
		s.c.Sent("refused")
		return s.note(d, map[string]any{"status": refused, "error": fault.From(why).Message}), nil
	}
	status, err := s.post(ctx, d, w)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	tried := map[string]any{"attempts": d.Int("attempts") + 1, "response_status": int64(status), "error": ""}
	if err == nil {
		s.c.Sent("sent")
		tried["status"], tried["sent"] = sent, doctype.FormatDatetime(s.c.Now())
		return func(ctx context.Context, tx document.Tx) error {
			if w.Text("failing_since") != "" {
				if _, err := tx.UpdateIf(ctx, w.Type, w.Name(), map[string]any{}, map[string]any{"failing_since": nil}); err != nil {
					return err
				}
			}
			return s.note(d, tried)(ctx, tx)
		}, nil
	}
	tried["status"], tried["error"] = failing, fault.From(err).Message
	gone := status == http.StatusGone // the receiver wants no more, as Standard Webhooks has it
	if j.Last() || gone {
		tried["status"] = failed
	}
	s.c.Sent("failed")
	wrote := s.c.Store.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		if err := s.note(d, tried)(ctx, tx); err != nil {
			return err
		}
		return s.failing(ctx, tx, w, gone)
	})
	if wrote != nil {
		return nil, wrote
	}
	if gone {
		return nil, nil
	}
	return nil, err
}

// read reads a delivery and its webhook.
func (s *Service) read(ctx context.Context, name string) (d, w *doctype.Document, err error) {
	sc := s.c.Documents().Schema()
	deliveries, err := sc.Platform(DeliveryType)
	if err != nil {
		return nil, nil, err
	}
	webhooks, err := sc.Platform(DocType)
	if err != nil {
		return nil, nil, err
	}
	err = s.c.Store.Read(ctx, func(tx document.Tx) error {
		if d, err = tx.Get(ctx, sc, deliveries, name, false); err != nil {
			return err
		}
		w, err = tx.Get(ctx, sc, webhooks, d.Text("webhook"), false)
		return err
	})
	return d, w, err
}

// withheld is why a delivery is not sent: what it tells was the owner's to read when it
// was made, and has to be now.
func (s *Service) withheld(ctx context.Context, d, w *doctype.Document, owner *identity.Caller) error {
	if w.Int("enabled") == 0 {
		return fault.Denied("The webhook is disabled")
	}
	typeName, name := d.Text("document_type"), d.Text("document_name")
	return s.c.Store.Read(ctx, func(tx document.Tx) error {
		as := s.c.Documents().As(owner, tx)
		_, err := as.Get(ctx, typeName, name)
		if fault.KindOf(err) == fault.NotFound { // it is gone: whoever may read such documents may know of that
			_, err = as.Count(ctx, typeName, &query.Query{})
		}
		return err
	})
}

// policy is where a webhook may send to: its own host, by https, or one that the site has
// on its own network.
func (s *Service) policy(url string) (egress.Policy, error) {
	private, err := egress.ParseHosts(s.c.PrivateHosts()...)
	if err != nil {
		return egress.Policy{}, err
	}
	if !strings.HasPrefix(strings.ToLower(url), "https:") && !private.Allows(url) {
		return egress.Policy{}, fault.Denied("The URL of a webhook is https, or its host is among the site's allowed_private_hosts")
	}
	u, err := neturl.Parse(url)
	if err != nil {
		return egress.Policy{}, fault.Invalid("", "This is no valid URL")
	}
	allowed, err := egress.ParseHosts(u.Host)
	if err != nil {
		return egress.Policy{}, err
	}
	return egress.Policy{Allowed: allowed, Private: private, Methods: []string{http.MethodPost}, MaxBody: maxAnswer, Timeout: patience}, nil
}

// post sends a delivery once. The status is 0 where there was no answer.
func (s *Service) post(ctx context.Context, d, w *doctype.Document) (status int, err error) {
	if err := s.c.Outgoing(); err != nil {
		return 0, err
	}
	policy, err := s.policy(w.Text("url"))
	if err != nil {
		return 0, err
	}
	secret, err := s.c.Secret.Open(document.SealPurpose(DocType, "secret"), w.Text("secret"))
	if err != nil {
		return 0, fmt.Errorf("open the secret of webhook %s: %w", w.Name(), err)
	}
	signer, err := standardwebhooks.NewWebhook(string(secret))
	if err != nil {
		return 0, fmt.Errorf("the secret of webhook %s: %w", w.Name(), err)
	}
	body, at := []byte(d.Text("body")), s.c.Now()
	signature, err := signer.Sign(d.Name(), at, body)
	if err != nil {
		return 0, err
	}
	header := http.Header{}
	for _, row := range w.Rows("headers") {
		value, err := s.c.Secret.Open(document.SealPurpose(headerType, "value"), row.Text("value"))
		if err != nil {
			return 0, fmt.Errorf("open a header of webhook %s: %w", w.Name(), err)
		}
		header.Set(row.Text("key"), string(value))
	}
	header.Set("Content-Type", "application/json")
	header.Set(standardwebhooks.HeaderWebhookID, d.Name())
	header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(at.Unix(), 10))
	header.Set(standardwebhooks.HeaderWebhookSignature, signature)
	answer, err := s.c.Egress.Do(ctx, policy, egress.Request{Method: http.MethodPost, URL: w.Text("url"), Header: header, Body: body})
	if err != nil {
		f := fault.From(err)
		if f.Kind == fault.Permission { // of the address, which may be another one later
			f = fault.New(fault.Unavailable, "", "%s", f.Message)
		}
		return 0, f
	}
	if answer.Status < 200 || answer.Status > 299 {
		return answer.Status, fault.New(fault.Unavailable, "", "The server answered %d", answer.Status)
	}
	return answer.Status, nil
}

// note writes down what became of a delivery.
func (s *Service) note(d *doctype.Document, set map[string]any) func(context.Context, document.Tx) error {
	return func(ctx context.Context, tx document.Tx) error {
		set["modified"] = doctype.FormatDatetime(s.c.Now())
		_, err := tx.UpdateIf(ctx, d.Type, d.Name(), map[string]any{}, set)
		return err
	}
}

// failing notes that a webhook fails, and disables one that has for days.
func (s *Service) failing(ctx context.Context, tx document.Tx, w *doctype.Document, gone bool) error {
	now := s.c.Now()
	since := w.Text("failing_since")
	if since == "" && !gone {
		_, err := tx.UpdateIf(ctx, w.Type, w.Name(), map[string]any{}, map[string]any{"failing_since": doctype.FormatDatetime(now)})
		return err
	}
	reason := "The receiver answered that it wants no more (410)"
	if !gone {
		began, _, ok := doctype.ParseDatetime(since, nil)
		if !ok || wallClock(now).Sub(began) < offAfter {
			return nil
		}
		reason = "Every delivery has failed since " + since
	}
	ok, err := tx.UpdateIf(ctx, w.Type, w.Name(), map[string]any{"enabled": int64(1)}, map[string]any{"enabled": int64(0), "disabled_reason": reason})
	if err != nil || !ok {
		return err
	}
	s.c.Logger.Warn("a webhook was disabled", "webhook", w.Name(), "reason", reason)
	if err := s.c.Documents().Republish(ctx, tx); err != nil {
		return err
	}
	if s.c.Tell == nil {
		return nil
	}
	title := w.Text("title")
	if title == "" {
		title = w.Name()
	}
	err = s.c.Tell(ctx, tx, w.Text("owner"), "The webhook "+title+" was disabled",
		"The webhook "+title+" tells "+w.Text("url")+" of "+w.Text("document_type")+" ("+w.Text("event")+") no more.\n\n"+reason+".\n\nEnable it again once the receiver works; deliveries that failed can be sent again.\n")
	if err != nil {
		s.c.Logger.Error("tell the owner of a webhook that it was disabled", "webhook", w.Name(), "error", err)
	}
	return nil
}

// wallClock is what the site's clock shows, as documents keep it.
func wallClock(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}

// Resend has a delivery sent again, with the id that it had.
func (s *Service) Resend(ctx context.Context, tx document.Tx, name string) (job string, err error) {
	sc := s.c.Documents().Schema()
	dt, err := sc.Platform(DeliveryType)
	if err != nil {
		return "", err
	}
	d, err := tx.Get(ctx, sc, dt, name, true)
	if fault.KindOf(err) == fault.NotFound {
		return "", fault.Missing("There is no Webhook Delivery %s", name)
	}
	if err != nil {
		return "", err
	}
	if d.Text("status") == pending || d.Text("status") == failing {
		return "", fault.Invalid("", "%s has not been sent yet: armature job retry %s has it sent now", name, d.Text("job"))
	}
	job, err = s.send(ctx, tx, name, d.Text("webhook"), d.Text("owner"), d.Text("document_type"), d.Text("document_name"))
	if err != nil {
		return "", err
	}
	return job, s.note(d, map[string]any{"status": pending, "error": "", "job": job})(ctx, tx)
}

// Methods are framework.webhook.*, for System Managers.
func (s *Service) Methods() []*method.Method {
	return []*method.Method{{
		Path: "framework.webhook.resend", Tier: method.Named, Roles: []string{identity.SystemManager}, Verbs: []string{"POST"},
		Description: "Sends a delivery of a webhook again that was sent, failed or was refused: delivery, the name of a Webhook Delivery. Answers the job.",
		Func: func(ctx context.Context, call *method.Call) (any, error) {
			name, err := call.Args.Need("delivery")
			if err != nil {
				return nil, err
			}
			return s.Resend(ctx, call.Tx, name)
		},
	}}
}
