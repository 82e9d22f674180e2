package letter_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/emersion/go-smtp"

	"armature/core/identity"
	"armature/core/jobs"
	"armature/core/sites/sitetest"
)

// office is a mail server that keeps letters.
type office struct {
	mu     sync.Mutex
	texts  []string
	rcpts  []string
	refuse error
}

func (o *office) NewSession(*smtp.Conn) (smtp.Session, error) { return session{o}, nil }

func (o *office) refuses(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.refuse = err
}

func (o *office) got() (rcpts, texts string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Join(o.rcpts, " "), strings.Join(o.texts, "\n")
}

type session struct{ *office }

func (s session) Reset()        {}
func (s session) Logout() error { return nil }
func (s session) Mail(string, *smtp.MailOptions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refuse
}

func (s session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rcpts = append(s.rcpts, to)
	return nil
}

func (s session) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.texts = append(s.texts, string(text))
	return err
}

func each(t *testing.T, test func(t *testing.T, s *sitetest.Server, o *office)) {
	t.Helper()
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		o := &office{}
		server := smtp.NewServer(o)
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		var serving sync.WaitGroup
		serving.Go(func() { _ = server.Serve(listener) })
		t.Cleanup(func() { _ = server.Close(); serving.Wait() })
		s.Configure(t, "mail", fmt.Sprintf(`{"host": "127.0.0.1", "port": %d, "tls": "none", "from": "Shop <shop@example.com>"}`, listener.Addr().(*net.TCPAddr).Port))
		test(t, s, o)
	})
}

func work(t *testing.T, s *sitetest.Server) (outcomes []jobs.Outcome) {
	t.Helper()
	due, _, err := s.Tenant.Jobs.Due(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, ticket := range due {
		outcome, err := s.Tenant.Jobs.Run(t.Context(), ticket)
		if err != nil {
			t.Fatal(err)
		}
		outcomes = append(outcomes, outcome)
	}
	return outcomes
}

const sendmail = "/api/method/framework.email.sendmail"

type obj = map[string]any

// TestSends: each recipient gets a letter of its own with what the template says and what
// is attached; what is refused is not tried again, what fails for a while is.
func TestSends(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, o *office) {
		s.Admin.Post("/api/resource/Email Template", obj{"name": "Due", "subject": "Order {{ order }}", "body": "Hello {{name}},\nyour order {{ order }} is due."}).OK(t)
		url := sitetest.KeepFile(t, s.Tenant, "bill.txt", "forty two")
		s.Admin.Post(sendmail, obj{
			"recipients": []any{"ada@example.com", "bob@example.com"}, "template": "Due", "values": obj{"order": 7, "name": "Ada"}, "attachments": []any{url},
		}).OK(t)
		if rcpts, _ := o.got(); rcpts != "" {
			t.Errorf("sent within the request to %s", rcpts)
		}
		work(t, s)
		rcpts, texts := o.got()
		if rcpts != "ada@example.com bob@example.com" || strings.Count(texts, "Subject: Order 7") != 2 || strings.Count(texts, "bill.txt") < 2 || !strings.Contains(texts, "Hello Ada") {
			t.Errorf("to %s:\n%s", rcpts, texts)
		}
		o.refuses(&smtp.SMTPError{Code: 550, Message: "no such user"})
		s.Admin.Post(sendmail, obj{"recipients": "none@example.com", "subject": "a", "text": "b"}).OK(t)
		if got := work(t, s); len(got) != 1 || got[0] != jobs.Died {
			t.Errorf("a letter that is refused: %v", got)
		}
		o.refuses(&smtp.SMTPError{Code: 451, Message: "later"})
		s.Admin.Post(sendmail, obj{"recipients": "late@example.com", "subject": "a", "text": "b"}).OK(t)
		if got := work(t, s); len(got) != 1 || got[0] != jobs.Failed {
			t.Errorf("a letter that is not taken for now: %v", got)
		}
	})
}

// TestRefused: nobody sends what they may not read, or more than the site may.
func TestRefused(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, o *office) {
		url := sitetest.KeepFile(t, s.Tenant, "secret.txt", "hush")
		letter := obj{"recipients": "ada@example.com", "subject": "a", "text": "b"}
		with := func(more obj) obj {
			all := obj{}
			for _, from := range []obj{letter, more} {
				for k, v := range from {
					all[k] = v
				}
			}
			return all
		}
		zoe := s.User(t, "zoe@example.com", identity.SystemManager)
		zoe.Post(sendmail, with(obj{"attachments": url})).Fails(t, 403, "PermissionError")
		zoe.Post(sendmail, with(obj{"recipients": "no address"})).Fails(t, 417, "ValidationError")
		zoe.Post(sendmail, with(obj{"subject": "", "text": "", "template": "None"})).Fails(t, 404, "DoesNotExistError")
		s.User(t, "joe@example.com").Post(sendmail, letter).Fails(t, 403, "PermissionError")
		s.Configure(t, "mail_per_day", "2")
		zoe.Post(sendmail, letter).OK(t)
		zoe.Post(sendmail, letter).OK(t)
		if reply := zoe.Post(sendmail, letter); reply.Status != 429 {
			t.Errorf("the third letter of a day: %d %s", reply.Status, reply.Text)
		}
		s.Configure(t, "quotas", `{"jobs": 1}`)
		s.Configure(t, "mail_per_day", "100")
		zoe.Post(sendmail, letter).Fails(t, 507, "QuotaExceededError")
	})
}
