// Package mailtest has a mail server for tests, which keeps what it is handed.
package mailtest

import (
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/emersion/go-smtp"
)

// Office is a mail server on loopback, of one test.
type Office struct {
	// Setting is the setting "mail" of a site that hands its letters in here.
	Setting string

	mu   sync.Mutex
	kept []letter
}

// letter is one that was handed in.
type letter struct{ to, text string }

// Open serves until the test ends.
func Open(t testing.TB) *Office {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o := &Office{Setting: fmt.Sprintf(`{"host": "127.0.0.1", "port": %d, "tls": "none", "from": "Shop <shop@example.com>"}`, listener.Addr().(*net.TCPAddr).Port)}
	server := smtp.NewServer(o)
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) })
	t.Cleanup(func() { _ = server.Close(); serving.Wait() })
	return o
}

// Has reports whether there is a letter to somebody with all of that in it.
func (o *Office) Has(to string, parts ...string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.ContainsFunc(o.kept, func(l letter) bool {
		return l.to == to && !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(l.text, p) })
	})
}

// Count is how many letters there are.
func (o *Office) Count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.kept)
}

// NewSession implements smtp.Backend.
func (o *Office) NewSession(*smtp.Conn) (smtp.Session, error) { return &session{office: o}, nil }

// session is one connection.
type session struct {
	office *Office
	to     string
}

func (s *session) Reset()                               {}
func (s *session) Logout() error                        { return nil }
func (s *session) Mail(string, *smtp.MailOptions) error { return nil }

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.to = to
	return nil
}

func (s *session) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	s.office.mu.Lock()
	defer s.office.mu.Unlock()
	s.office.kept = append(s.office.kept, letter{s.to, string(text)})
	return err
}
