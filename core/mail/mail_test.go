package mail_test

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	stdmail "net/mail"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"armature/core/mail"
)

// office is a mail server that keeps letters and knows one password.
type office struct {
	refuse error
	texts  chan string
	rcpts  chan string
}

func (o *office) NewSession(*smtp.Conn) (smtp.Session, error) { return &session{o}, nil }

type session struct{ o *office }

func (s *session) Reset()                               {}
func (s *session) Logout() error                        { return nil }
func (s *session) Mail(string, *smtp.MailOptions) error { return s.o.refuse }
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.o.rcpts <- to
	return nil
}
func (s *session) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	s.o.texts <- string(text)
	return err
}
func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }
func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != "site" || password != "pass" {
			return errors.New("wrong password")
		}
		return nil
	}), nil
}

// certified has a certificate for 127.0.0.1.
var certified = func() *httptest.Server {
	s := httptest.NewUnstartedServer(nil)
	s.StartTLS()
	s.Close()
	return s
}()

// vouched takes that certificate.
func vouched() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(certified.Certificate())
	return pool
}

// open starts an office on a free port.
func open(t *testing.T, refuse error) (*office, int) {
	t.Helper()
	o := &office{refuse: refuse, texts: make(chan string, 9), rcpts: make(chan string, 9)}
	server := smtp.NewServer(o)
	server.AllowInsecureAuth = true
	server.TLSConfig = certified.TLS
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return o, listener.Addr().(*net.TCPAddr).Port
}

func unsealed(purpose, text string) ([]byte, error) {
	if purpose != mail.Purpose || text != "v1.sealed" {
		return nil, errors.New("not sealed here")
	}
	return []byte("pass"), nil
}

func parse(t *testing.T, port int, rest string) *mail.Sender {
	t.Helper()
	server, err := mail.Parse([]byte(`{"host": "127.0.0.1", "port": `+strconv.Itoa(port)+`, "from": "The Site <site@example.org>"`+rest+`}`), unsealed)
	if err != nil {
		t.Fatal(err)
	}
	return &mail.Sender{Server: *server, Timeout: time.Minute}
}

var hello = mail.Letter{To: "jane@example.com", Name: "Jane", Subject: "Hello", Text: "A line.\n.\nAnother.\n"}

func TestSend(t *testing.T) {
	for _, how := range []string{"starttls", "none"} {
		t.Run(how, func(t *testing.T) { testSend(t, how) })
	}
}

func testSend(t *testing.T, how string) {
	o, port := open(t, nil)
	s := parse(t, port, `, "tls": "`+how+`", "user": "site", "password": "v1.sealed"`)
	s.Roots = vouched()
	if err := s.Send(t.Context(), hello); err != nil {
		t.Fatal(err)
	}
	if to := <-o.rcpts; to != hello.To {
		t.Errorf("handed in for %s", to)
	}
	msg, err := stdmail.ReadMessage(strings.NewReader(<-o.texts))
	if err != nil {
		t.Fatal(err)
	}
	if msg.Header.Get("From") != `"The Site" <site@example.org>` || msg.Header.Get("To") != `"Jane" <jane@example.com>` || msg.Header.Get("Subject") != "Hello" {
		t.Errorf("headers %v", msg.Header)
	}
	if text, _ := io.ReadAll(msg.Body); !strings.Contains(string(text), "A line.\r\n.\r\nAnother.") {
		t.Errorf("text %q", text)
	}
}

// TestNothingIsAdded: what people typed stays where it was put.
func TestNothingIsAdded(t *testing.T) {
	o, port := open(t, nil)
	s := parse(t, port, `, "tls": "none"`)
	l := hello
	l.Name, l.Subject = "Jane\r\nBcc: eve@evil.example", "Hi\nX-Evil: 1\r\n\r\ntext \U0001F600 "+strings.Repeat("long ", 60)
	if err := s.Send(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	msg, err := stdmail.ReadMessage(strings.NewReader(<-o.texts))
	if err != nil {
		t.Fatal(err)
	}
	if len(o.rcpts) != 1 || msg.Header.Get("Bcc") != "" || msg.Header.Get("X-Evil") != "" {
		t.Errorf("headers %v", msg.Header)
	}
	for _, to := range []string{"", "jane", "a@example.com, b@example.com", "Jane <jane@example.com>", "jane@example.com\r\nRCPT TO:<eve@evil.example>"} {
		l.To = to
		if err := s.Send(t.Context(), l); err == nil {
			t.Errorf("%q was taken for an address", to)
		}
	}
}

// TestClearTextIsRefused: unless the settings say so, nothing is said to a server
// that cannot prove who it is.
func TestClearTextIsRefused(t *testing.T) {
	o, port := open(t, nil)
	for _, rest := range []string{``, `, "tls": "tls"`} {
		if err := parse(t, port, rest).Send(t.Context(), hello); err == nil {
			t.Errorf("%q: sent to a stranger", rest)
		}
	}
	if len(o.rcpts)+len(o.texts) != 0 {
		t.Error("the server was told something")
	}
}

func TestFailures(t *testing.T) {
	_, port := open(t, &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCodeNotSet, Message: "later"})
	if err := parse(t, port, `, "tls": "none"`).Send(t.Context(), hello); !mail.Temporary(err) {
		t.Errorf("a server that says later: %v", err)
	}
	_, port = open(t, &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCodeNotSet, Message: "never"})
	if err := parse(t, port, `, "tls": "none"`).Send(t.Context(), hello); err == nil || mail.Temporary(err) {
		t.Errorf("a server that says never: %v", err)
	}
	_, port = open(t, nil)
	if err := parse(t, port, `, "tls": "none", "user": "site", "password": "hush-hush"`).Send(t.Context(), hello); err == nil || strings.Contains(err.Error(), "hush") {
		t.Errorf("a wrong password: %v", err)
	}
}

// TestSilentServer: a server that never answers is given up in time.
func TestSilentServer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	s := parse(t, listener.Addr().(*net.TCPAddr).Port, `, "tls": "none"`)
	s.Timeout = 200 * time.Millisecond
	began := time.Now()
	if err := s.Send(context.Background(), hello); !mail.Temporary(err) || time.Since(began) > mail.DefaultTimeout/2 {
		t.Errorf("after %s: %v", time.Since(began), err)
	}
}

func TestParse(t *testing.T) {
	if server, err := mail.Parse(nil, unsealed); server != nil || err != nil {
		t.Errorf("nothing: %v %v", server, err)
	}
	for _, text := range []string{
		`[]`, `{"from": "a@example.org"}`, `{"host": "h"}`, `{"host": "h", "from": "x"}`, `{"host": "h", "from": "a@example.org", "tls": "maybe"}`,
		`{"host": "h", "from": "a@example.org", "port": 70000}`, `{"host": "h", "from": "a@example.org", "prot": 25}`,
		`{"host": "mail.example.org", "from": "a@example.org", "user": "u", "tls": "none"}`,
		`{"host": "h", "from": "a@example.org", "password": "v1.other"}`, `{"host": "h\r\nx", "from": "a@example.org"}`,
	} {
		if _, err := mail.Parse([]byte(text), unsealed); err == nil {
			t.Errorf("%s was taken", text)
		}
	}
}
