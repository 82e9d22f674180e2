package browser

import (
	"fmt"
	"io"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
)

// mailbox is a mail server that keeps what it is given.
type mailbox struct {
	t       *testing.T
	letters chan string
}

// mailed gives the site of a server a mail server, and says where the site is.
func (s *server) mailed() *mailbox {
	s.t.Helper()
	box := &mailbox{t: s.t, letters: make(chan string, 100)}
	server := smtp.NewServer(box)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	s.t.Cleanup(func() { _ = server.Close() })
	s.configure("mail", fmt.Sprintf(`{"host": "127.0.0.1", "tls": "none", "from": "site@example.org", "port": %d}`, listener.Addr().(*net.TCPAddr).Port))
	s.configure("host_name", `"`+s.origin+`"`)
	return box
}

func (m *mailbox) NewSession(*smtp.Conn) (smtp.Session, error) { return &delivery{box: m}, nil }

// delivery takes one letter.
type delivery struct{ box *mailbox }

func (d *delivery) Reset()                               {}
func (d *delivery) Logout() error                        { return nil }
func (d *delivery) Mail(string, *smtp.MailOptions) error { return nil }
func (d *delivery) Rcpt(string, *smtp.RcptOptions) error { return nil }
func (d *delivery) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	d.box.letters <- string(text)
	return err
}

// find is what a pattern finds in the letter that comes next, which goes to an address.
func (m *mailbox) find(to, pattern string) string {
	m.t.Helper()
	var text string
	select {
	case text = <-m.letters:
	case <-time.After(time.Minute):
		m.t.Fatal("no letter came")
	}
	msg, err := mail.ReadMessage(strings.NewReader(text))
	if err != nil {
		m.t.Fatal(err)
	}
	body := io.Reader(msg.Body)
	if msg.Header.Get("Content-Transfer-Encoding") == "quoted-printable" {
		body = quotedprintable.NewReader(body)
	}
	said, err := io.ReadAll(body)
	if err != nil {
		m.t.Fatal(err)
	}
	found := regexp.MustCompile(pattern).FindStringSubmatch(string(said))
	if found == nil || !strings.Contains(msg.Header.Get("To"), to) {
		m.t.Fatalf("to %s, without %s: %s", msg.Header.Get("To"), pattern, said)
	}
	return found[1]
}
