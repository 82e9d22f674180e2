// Package mail sends letters by SMTP.
//
// A Letter is text for one person. A Server is where it is handed in, as the
// site's configuration names it. Sending waits for the network, so it belongs
// into no transaction.
package mail

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/mail"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
)

// DefaultTimeout is how long handing in one letter may take, from the name of the
// server to its last answer.
const DefaultTimeout = 30 * time.Second

// Letter is what is sent. To is an address, Name whose it is; both may come from
// people, and neither can add a header or a recipient.
type Letter struct {
	ID            string // of what is sent again as the same letter; empty: it is another one each time
	To, Name      string
	Subject, Text string
	Attached      []Attachment
}

// Attachment is a file that goes with a letter.
type Attachment struct {
	Name    string
	Content []byte
}

// Sender hands letters in. Its methods may be called by many goroutines.
type Sender struct {
	Server  Server
	Timeout time.Duration  // of one letter; 0: DefaultTimeout
	Roots   *x509.CertPool // who may vouch for the server; nil: the system's
}

// Send hands one letter in. It has been taken when the error is nil; Temporary
// tells whether another try may help.
func (s *Sender) Send(ctx context.Context, l Letter) error {
	msg, err := s.message(l)
	if err != nil {
		return err
	}
	timeout := s.Timeout
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	ctx, stop := context.WithTimeout(ctx, timeout)
	defer stop()
	client, err := s.client(timeout)
	if err != nil {
		return fmt.Errorf("mail: %w", err)
	}
	if err := client.DialAndSendWithContext(ctx, msg); err != nil {
		return fmt.Errorf("mail to %s: %w", s.Server.address(), err)
	}
	return nil
}

func (s *Sender) client(timeout time.Duration) (*gomail.Client, error) {
	v := s.Server
	options := []gomail.Option{
		gomail.WithPort(v.Port), gomail.WithTimeout(timeout),
		gomail.WithTLSConfig(&tls.Config{ServerName: v.Host, MinVersion: tls.VersionTLS12, RootCAs: s.Roots}),
	}
	switch v.TLS {
	case TLS:
		options = append(options, gomail.WithSSL())
	case None:
		options = append(options, gomail.WithTLSPolicy(gomail.NoTLS))
	default:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	}
	if v.User != "" {
		how := gomail.SMTPAuthAutoDiscover
		if v.TLS == None {
			how = gomail.SMTPAuthPlainNoEnc // on this machine only, see Settings
		}
		options = append(options, gomail.WithSMTPAuth(how), gomail.WithUsername(v.User), gomail.WithPassword(v.password))
	}
	return gomail.NewClient(v.Host, options...)
}

// message makes the letter's text as it travels. Addresses are parsed and headers
// encoded by the library, so what is in them stays in them.
func (s *Sender) message(l Letter) (*gomail.Msg, error) {
	to, err := mail.ParseAddress(l.To)
	if err != nil || to.Address != l.To {
		return nil, errors.New("mail: the recipient is no address")
	}
	msg := gomail.NewMsg()
	msg.FromMailAddress(s.Server.From)
	msg.ToMailAddress(&mail.Address{Name: oneLine(l.Name), Address: to.Address})
	msg.Subject(oneLine(l.Subject))
	msg.SetDate()
	if l.ID == "" {
		msg.SetMessageID()
	} else {
		_, host, _ := strings.Cut(s.Server.From.Address, "@")
		msg.SetMessageIDWithValue(l.ID + "@" + host)
	}
	// Programs that answer letters leave this one alone (RFC 3834).
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	msg.SetBodyString(gomail.TypeTextPlain, l.Text)
	for _, a := range l.Attached {
		if err := msg.AttachReader(oneLine(a.Name), bytes.NewReader(a.Content)); err != nil {
			return nil, fmt.Errorf("mail: attach %s: %w", oneLine(a.Name), err)
		}
	}
	return msg, nil
}

// oneLine takes line ends and other control characters out of a header's text.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
}

// Temporary reports whether the server may take the same letter later: it could
// not be reached, or said so itself.
func Temporary(err error) bool {
	var refused *gomail.SendError
	if errors.As(err, &refused) {
		return refused.IsTemp()
	}
	return err != nil
}
