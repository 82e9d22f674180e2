package web_test

import (
	"bytes"
	"io"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"armature/core/sites/sitetest"
)

const (
	resetMethod  = "/api/method/framework.core.doctype.user.user.reset_password"
	updateMethod = "/api/method/framework.core.doctype.user.user.update_password"
)

// mailbox is a mail server that keeps what it is given.
type mailbox struct{ letters chan letter }

type letter struct {
	from string
	to   []string
	text string
}

func (m *mailbox) NewSession(*smtp.Conn) (smtp.Session, error) { return &delivery{box: m}, nil }

type delivery struct {
	box *mailbox
	letter
}

func (d *delivery) Reset()        { d.letter = letter{} }
func (d *delivery) Logout() error { return nil }
func (d *delivery) Mail(from string, _ *smtp.MailOptions) error {
	d.from = from
	return nil
}
func (d *delivery) Rcpt(to string, _ *smtp.RcptOptions) error {
	d.to = append(d.to, to)
	return nil
}
func (d *delivery) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	d.text = string(text)
	d.box.letters <- d.letter
	return err
}

// mailed gives the site a mail server and says where the site is.
func mailed(t *testing.T, s *sitetest.Server) *mailbox {
	t.Helper()
	box := &mailbox{letters: make(chan letter, 20)}
	server := smtp.NewServer(box)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	port := listener.Addr().(*net.TCPAddr).Port
	configure(t, s, "mail", `{"host": "127.0.0.1", "tls": "none", "from": "Site <site@example.org>", "port": `+strconv.Itoa(port)+`}`)
	configure(t, s, "host_name", `"https://site.example.org"`)
	return box
}

// next is the letter that comes next; it must come soon.
func (m *mailbox) next(t *testing.T) letter {
	t.Helper()
	select {
	case l := <-m.letters:
		return l
	case <-time.After(2 * time.Minute):
		t.Fatal("no letter came")
		return letter{}
	}
}

// message is the letter that comes next.
func (m *mailbox) message(t *testing.T) *mail.Message {
	t.Helper()
	msg, err := mail.ReadMessage(strings.NewReader(m.next(t).text))
	if err != nil {
		t.Fatal(err)
	}
	return msg
}

// quoted reads the text of a letter.
func quoted(msg *mail.Message) io.Reader {
	if msg.Header.Get("Content-Transfer-Encoding") == "quoted-printable" {
		return quotedprintable.NewReader(msg.Body)
	}
	return msg.Body
}

var linkIn = regexp.MustCompile(`https://site\.example\.org/update-password\?key=([0-9a-f]{64})\s`)

// key is the key of the link in the letter.
func (l letter) key(t *testing.T) string {
	t.Helper()
	msg, err := mail.ReadMessage(strings.NewReader(l.text))
	if err != nil {
		t.Fatal(err)
	}
	var body bytes.Buffer
	if _, err := body.ReadFrom(quoted(msg)); err != nil {
		t.Fatal(err)
	}
	found := linkIn.FindStringSubmatch(body.String())
	if found == nil {
		t.Fatalf("no link in %s", l.text)
	}
	return found[1]
}

func ask(t *testing.T, s *sitetest.Server, user string, headers ...string) reply {
	t.Helper()
	return send(t, s, "POST", resetMethod, url.Values{"user": {user}}.Encode(), append(headers, "Content-Type", "application/x-www-form-urlencoded")...)
}

func update(t *testing.T, s *sitetest.Server, form url.Values, headers ...string) reply {
	t.Helper()
	return send(t, s, "POST", updateMethod, form.Encode(), append(headers, "Content-Type", "application/x-www-form-urlencoded")...)
}

const (
	jane  = "jane@example.com"
	other = "another horse entirely"
)

// TestReset: a link is mailed, works once, and ends what the old password began.
func TestReset(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		box := mailed(t, s)
		sid := loggedIn(t, s, jane)
		known, unknown := ask(t, s, jane), ask(t, s, "nobody@example.com")
		if known.StatusCode != 200 || known.text != unknown.text || unknown.StatusCode != 200 || known.body["message"] == "" {
			t.Fatalf("known %d %s, unknown %d %s", known.StatusCode, known.text, unknown.StatusCode, unknown.text)
		}
		l := box.next(t)
		if l.from != "site@example.org" || len(l.to) != 1 || l.to[0] != jane || !strings.Contains(l.text, "Auto-Submitted: auto-generated") {
			t.Errorf("letter %+v", l)
		}
		key := l.key(t)
		// Nothing that is stored shows the key.
		if rows := s.Admin.Get("/api/resource/Activity%20Log", "fields", []string{"*"}, "limit", "0"); strings.Contains(rows.Text, key) {
			t.Error("the Activity Log holds the key")
		}

		update(t, s, url.Values{"key": {strings.Repeat("0", 64)}, "new_password": {other}}).fails(t, 410, "LinkExpired")
		update(t, s, url.Values{"key": {key}, "new_password": {"password"}}).fails(t, 417, "ValidationError")
		update(t, s, url.Values{"key": {key}, "new_password": {"short"}}).fails(t, 417, "ValidationError")
		if user := who(t, s, sid); user != jane {
			t.Errorf("a refused password ended the session: %q", user)
		}
		// Failed logins are forgotten with the password.
		configure(t, s, "allow_consecutive_login_attempts", "3")
		for range 5 {
			login(t, s, jane, "wrong")
		}
		login(t, s, jane, right).fails(t, 429, "RateLimitExceededError")
		if r := update(t, s, url.Values{"key": {key}, "new_password": {other}}); r.StatusCode != 200 || r.body["message"] != "/login" {
			t.Fatalf("%d %s", r.StatusCode, r.text)
		}
		if user := who(t, s, sid); user != "" {
			t.Errorf("the old session is still %q", user)
		}
		update(t, s, url.Values{"key": {key}, "new_password": {other + "!"}}).fails(t, 410, "LinkExpired")
		login(t, s, jane, right).fails(t, 401, "AuthenticationError")
		if r := login(t, s, jane, other); r.StatusCode != 200 {
			t.Errorf("the new password: %d %s", r.StatusCode, r.text)
		}
		select {
		case l := <-box.letters:
			t.Errorf("a letter went to %v", l.to)
		default:
		}
	})
}

// TestResetExpires: a key is good for a day, or for as long as the site says, and
// until the password is changed otherwise.
func TestResetExpires(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		box := mailed(t, s)
		configure(t, s, "password_reset_limit", "100")
		next := func() string {
			t.Helper()
			if r := ask(t, s, jane); r.StatusCode != 200 {
				t.Fatalf("%d %s", r.StatusCode, r.text)
			}
			return box.next(t).key(t)
		}
		key := next()
		c.advance(24*time.Hour + time.Second)
		update(t, s, url.Values{"key": {key}, "new_password": {other}}).fails(t, 410, "LinkExpired")
		configure(t, s, "reset_password_link_expiry_duration", "60")
		key = next()
		c.advance(61 * time.Second)
		update(t, s, url.Values{"key": {key}, "new_password": {other}}).fails(t, 410, "LinkExpired")
		key = next()
		setPassword(t, s, jane, other)
		update(t, s, url.Values{"key": {key}, "new_password": {right}}).fails(t, 410, "LinkExpired")
		key = next()
		s.Admin.Put("/api/resource/User/"+jane, map[string]any{"enabled": 0}).OK(t)
		update(t, s, url.Values{"key": {key}, "new_password": {right}}).fails(t, 410, "LinkExpired")
	})
}

// TestResetOnce: of many who hold a link, one sets the password.
func TestResetOnce(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, _ *clock) {
		box := mailed(t, s)
		ask(t, s, jane)
		key := box.next(t).key(t)
		answers := make(chan int)
		for i := range 8 {
			go func() {
				answers <- update(t, s, url.Values{"key": {key}, "new_password": {other + strconv.Itoa(i)}}).StatusCode
			}()
		}
		count := map[int]int{}
		for range 8 {
			count[<-answers]++
		}
		if count[200] != 1 || count[410] != 7 {
			t.Errorf("answers %v", count)
		}
	})
}

// TestResetLimit: nobody's mailbox is filled by asking.
func TestResetLimit(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		mailed(t, s)
		for _, user := range []string{jane, "nobody@example.com"} {
			for range 3 {
				if r := ask(t, s, user); r.StatusCode != 200 {
					t.Fatalf("%d %s", r.StatusCode, r.text)
				}
			}
			r := ask(t, s, strings.ToUpper(user))
			r.fails(t, 429, "RateLimitExceededError")
			if r.Header.Get("Retry-After") != "3600" {
				t.Errorf("Retry-After %q", r.Header.Get("Retry-After"))
			}
		}
		for i := range 24 {
			if r := ask(t, s, strconv.Itoa(i)+"@example.com"); r.StatusCode != 200 {
				t.Fatalf("%d: %d %s", i, r.StatusCode, r.text)
			}
		}
		ask(t, s, "x@example.com").fails(t, 429, "RateLimitExceededError")
		c.advance(time.Hour)
		if r := ask(t, s, jane); r.StatusCode != 200 {
			t.Errorf("an hour later: %d %s", r.StatusCode, r.text)
		}
		ask(t, s, "").fails(t, 417, "ValidationError")
		ask(t, s, jane, "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site").fails(t, 400, "CSRFTokenError")
		send(t, s, "GET", resetMethod+"?user="+jane, "").fails(t, 403, "PermissionError")
	})
}

// TestResetLeadsHome: a link leads to the site, whatever host the request names,
// and hostile names of users stay inside their header.
func TestResetLeadsHome(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, _ *clock) {
		box := mailed(t, s)
		s.Admin.Put("/api/resource/User/"+jane, map[string]any{"first_name": "Jane\r\nBcc: eve@evil.example\r\n\r\nhello"}).OK(t)
		ask(t, s, jane, "X-Forwarded-Host", "evil.example")
		l := box.next(t)
		msg, err := mail.ReadMessage(strings.NewReader(l.text))
		if err != nil {
			t.Fatal(err)
		}
		if len(l.to) != 1 || msg.Header.Get("Bcc") != "" || strings.Contains(l.text, "evil.example/") {
			t.Errorf("letter to %v: %s", l.to, l.text)
		}
		l.key(t)
		// Without a place of its own the site sends nothing: the request's host is
		// its sender's choice.
		configure(t, s, "host_name", "null")
		ask(t, s, jane)
		configure(t, s, "password_reset_limit", "100")
		configure(t, s, "host_name", `"https://site.example.org"`)
		ask(t, s, jane, "User-Agent", "second")
		box.next(t).key(t)
		select {
		case l := <-box.letters:
			t.Errorf("a second letter came: %s", l.text)
		default:
		}
		ask(t, s, "Administrator")
		ask(t, s, jane)
		if l := box.next(t); l.to[0] != jane {
			t.Errorf("a letter went to %v", l.to)
		}
	})
}

// TestChangePassword: the old password is asked for, and guessing it counts.
// TestResetLinksOfSeveralHosts: of the hosts that the site lists the one that was
// asked is linked to, and neither the port nor the scheme of a request ever is.
func TestResetLinksOfSeveralHosts(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, _ *clock) {
		box := mailed(t, s)
		configure(t, s, "password_reset_limit", "100")
		configure(t, s, "host_name", "null")
		configure(t, s, "hosts", `["a.example", "b.example", "127.0.0.1"]`)
		for host, want := range map[string]string{
			"a.example": "https://a.example/", "b.example:4444": "https://b.example/", "B.example.": "https://b.example/",
		} {
			ask(t, s, jane, "Host", host)
			text, err := io.ReadAll(quoted(box.message(t)))
			if err != nil || !strings.Contains(string(text), want+"update-password?key=") || strings.Contains(string(text), "4444") {
				t.Errorf("asked at %s: %v %s", host, err, text)
			}
		}
		configure(t, s, "host_name", `"http://site.example.org:8000"`)
		ask(t, s, jane, "Host", "b.example:4444")
		if text, _ := io.ReadAll(quoted(box.message(t))); !strings.Contains(string(text), "http://site.example.org:8000/update-password?key=") {
			t.Errorf("with a host_name: %s", text)
		}
	})
}

func TestChangePassword(t *testing.T) {
	each(t, func(t *testing.T, s *sitetest.Server, c *clock) {
		s.Admin.Put("/api/resource/User/"+jane, map[string]any{"simultaneous_sessions": 5}).OK(t)
		mine, elsewhere := loggedIn(t, s, jane), loggedIn(t, s, jane)
		update(t, s, url.Values{"old_password": {right}, "new_password": {other}}).fails(t, 403, "PermissionError")
		update(t, s, url.Values{"old_password": {"wrong"}, "new_password": {other}}, "Cookie", mine).fails(t, 417, "ValidationError")
		update(t, s, url.Values{"old_password": {right}, "new_password": {"password"}}, "Cookie", mine).fails(t, 417, "ValidationError")
		send(t, s, "POST", updateMethod+"?new_password="+url.QueryEscape(other), "", "Cookie", mine).fails(t, 400, "BadRequestError")
		r := update(t, s, url.Values{"old_password": {right}, "new_password": {other}}, "Cookie", mine)
		if r.StatusCode != 200 || r.body["message"] != "/app" || len(r.Cookies()) != 0 {
			t.Fatalf("%d %s %v", r.StatusCode, r.text, r.Cookies())
		}
		if a, b := who(t, s, mine), who(t, s, elsewhere); a != jane || b != "" {
			t.Errorf("this session is %q's, the other one %q's", a, b)
		}
		login(t, s, jane, right).fails(t, 401, "AuthenticationError")
		if r := login(t, s, jane, other); r.StatusCode != 200 {
			t.Errorf("%d %s", r.StatusCode, r.text)
		}
		configure(t, s, "allow_consecutive_login_attempts", "3")
		for range 4 {
			update(t, s, url.Values{"old_password": {"wrong"}, "new_password": {right}}, "Cookie", mine).fails(t, 417, "ValidationError")
		}
		update(t, s, url.Values{"old_password": {other}, "new_password": {right}}, "Cookie", mine).fails(t, 429, "RateLimitExceededError")
	})
}
