package letter

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"log/slog"
	stdmail "net/mail"
	"path"
	"strings"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/jobs"
	"armature/core/mail"
	"armature/core/method"
)

// Path is that of the jobs which send letters.
const Path = "@mail"

// TemplateType is the DocType of templates.
const TemplateType = "Email Template"

// What one call may send.
const (
	MaxRecipients  = 50
	MaxAttachments = 10
	MaxText        = 48 << 10 // bytes
	MaxBytes       = 10 << 20 // of all attachments
)

// Config is what a Service needs of a site.
type Config struct {
	Store     document.Store
	Documents func() *document.Service
	Later     func() method.Later
	Server    func() (*mail.Server, error) // the site's mail server; nil: none is configured
	Roots     *x509.CertPool               // who may vouch for it; nil: the system's
	Outgoing  func() error                 // an error while nothing may leave the site
	// Open finds the File of a URL that a caller may read, and Read reads one.
	Open func(ctx context.Context, tx document.Tx, caller *identity.Caller, url string) (*doctype.Document, error)
	Read func(ctx context.Context, file *doctype.Document, most int64) ([]byte, error)
	// Admit counts a letter of a plugin's, or of nobody's, and refuses one that is too many.
	Admit func(ctx context.Context, plugin string) error
	// Sent counts letters by what became of them; nil: nobody does.
	Sent   func(result string)
	Logger *slog.Logger
}

// Service is the letters of one open site. It may be used concurrently.
type Service struct{ c Config }

// New makes the service of a site.
func New(c Config) *Service {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Sent == nil {
		c.Sent = func(string) {}
	}
	return &Service{c}
}

// kept is a letter as its job has it.
type kept struct {
	To          string   `json:"to"`
	Subject     string   `json:"subject"`
	Text        string   `json:"text"`
	Attachments []string `json:"attachments,omitempty"`
}

// Send keeps a job for each recipient, as the caller, who has to be able to read the
// template and what is attached, now and when it is sent. Errors are faults: Validation,
// Permission, NotFound, RateLimitExceededError.
func (s *Service) Send(ctx context.Context, tx document.Tx, caller *identity.Caller, l method.Letter) (list []string, err error) {
	if server, err := s.c.Server(); err != nil {
		return nil, err
	} else if server == nil {
		return nil, fault.Invalid("", "The site's configuration has no mail server: armature site mail sets it")
	}
	if err := s.complete(ctx, tx, caller, &l); err != nil {
		return nil, err
	}
	plugin := ""
	if caller.Frame != nil {
		plugin = caller.Frame.Plugin()
	}
	for _, to := range l.To {
		if err := s.c.Admit(ctx, plugin); err != nil {
			return nil, err
		}
		id, err := s.keep(ctx, tx, caller, kept{to, l.Subject, l.Text, l.Attachments})
		if err != nil {
			return nil, err
		}
		list = append(list, id)
	}
	return list, nil
}

// Tell keeps a letter of the platform's own to a user of the site; nothing happens where
// the site has no mail server.
func (s *Service) Tell(ctx context.Context, tx document.Tx, user *identity.Caller, subject, text string) error {
	if server, err := s.c.Server(); err != nil || server == nil || user.Email == "" {
		return err
	}
	_, err := s.keep(ctx, tx, user, kept{To: user.Email, Subject: subject, Text: text})
	return err
}

func (s *Service) keep(ctx context.Context, tx document.Tx, caller *identity.Caller, k kept) (string, error) {
	args, err := json.Marshal(k)
	if err != nil {
		return "", err
	}
	return s.c.Later().Enqueue(ctx, tx, method.Deferred{Path: Path, Args: args, Caller: caller})
}

// complete checks a letter, and fills in what its template says.
func (s *Service) complete(ctx context.Context, tx document.Tx, caller *identity.Caller, l *method.Letter) (err error) {
	if l.Template != "" {
		if l.Subject != "" || l.Text != "" {
			return fault.Invalid("", "A letter has a template, or a subject and a text")
		}
		doc, err := s.c.Documents().As(caller, tx).Get(ctx, TemplateType, l.Template)
		if err != nil {
			return err
		}
		if l.Subject, err = fill(doc.Text("subject"), l.Values); err != nil {
			return err
		}
		if l.Text, err = fill(doc.Text("body"), l.Values); err != nil {
			return err
		}
	}
	switch {
	case len(l.To) == 0 || len(l.To) > MaxRecipients:
		return fault.Invalid("", "A letter goes to 1 to %d recipients, not %d", MaxRecipients, len(l.To))
	case strings.TrimSpace(l.Subject) == "" || strings.TrimSpace(l.Text) == "":
		return fault.Invalid("", "A letter has a subject and a text")
	case len(l.Subject) > 1000 || len(l.Text) > MaxText:
		return fault.New(fault.TooLarge, "", "A letter has at most 1000 bytes of subject and %d of text", MaxText)
	case len(l.Attachments) > MaxAttachments:
		return fault.Invalid("", "A letter has at most %d attachments", MaxAttachments)
	}
	for _, to := range l.To {
		if a, err := stdmail.ParseAddress(to); err != nil || a.Address != to {
			return fault.Invalid("", "%q is no address", to)
		}
	}
	var bytes int64
	for _, url := range l.Attachments {
		file, err := s.c.Open(ctx, tx, caller, url)
		if err != nil {
			return err
		}
		if bytes += file.Int("file_size"); bytes > MaxBytes {
			return fault.New(fault.TooLarge, "", "The attachments of a letter have at most %d bytes", MaxBytes)
		}
	}
	return nil
}

// Deliver is the task of the jobs at Path.
func (s *Service) Deliver(ctx context.Context, j *jobs.Job, caller *identity.Caller) (func(context.Context, document.Tx) error, error) {
	var k kept
	if err := json.Unmarshal(j.Args, &k); err != nil {
		return nil, err
	}
	server, err := s.c.Server()
	switch {
	case err != nil:
		return nil, err
	case server == nil:
		return nil, fault.New(fault.Unavailable, "", "The site's configuration has no mail server")
	}
	if err := s.c.Outgoing(); err != nil {
		return nil, err
	}
	l := mail.Letter{ID: j.ID, To: k.To, Subject: k.Subject, Text: k.Text}
	if l.Attached, err = s.attached(ctx, caller, k.Attachments); err != nil {
		return nil, err
	}
	err = (&mail.Sender{Server: *server, Roots: s.c.Roots}).Send(ctx, l)
	switch {
	case err == nil:
		s.c.Sent("sent")
		return nil, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case mail.Temporary(err):
		s.c.Sent("failed")
		return nil, fault.Wrap(fault.Unavailable, "OutgoingEmailError", err, "The mail server did not take the letter: %v", err)
	}
	s.c.Sent("refused") // trying again leads to nothing
	return nil, fault.Wrap(fault.Permission, "OutgoingEmailError", err, "The mail server refused the letter: %v", err)
}

// attached reads what is attached, as whoever sends it may read it now.
func (s *Service) attached(ctx context.Context, caller *identity.Caller, urls []string) (list []mail.Attachment, err error) {
	left := int64(MaxBytes)
	for _, url := range urls {
		var file *doctype.Document
		err := s.c.Store.Read(ctx, func(tx document.Tx) error {
			file, err = s.c.Open(ctx, tx, caller, url)
			return err
		})
		if err != nil {
			return nil, err
		}
		content, err := s.c.Read(ctx, file, left)
		if err != nil {
			return nil, err
		}
		left -= int64(len(content))
		list = append(list, mail.Attachment{Name: path.Base(file.Text("file_name")), Content: content})
	}
	return list, nil
}

// Methods are framework.email.sendmail. A System Manager may call it, and a plugin that
// was granted it by name, whoever it acts as.
func (s *Service) Methods() []*method.Method {
	return []*method.Method{{
		Path: "framework.email.sendmail", Tier: method.Named, Verbs: []string{"POST"},
		Description: "Sends a letter to each recipient, once the request is committed: recipients (addresses), subject and text, or template (an Email Template) and values; attachments (URLs of files that the caller may read). Answers the jobs.",
		Func: func(ctx context.Context, call *method.Call) (any, error) {
			if call.Caller.Frame == nil && !call.Caller.HasRole(identity.SystemManager) && !call.Caller.IsAdministrator() {
				return nil, fault.Denied("Letters are sent by System Managers, and by plugins that may")
			}
			l := method.Letter{Subject: call.Args.Text("subject"), Text: call.Args.Text("text"), Template: call.Args.Text("template")}
			for name, into := range map[string]*[]string{"recipients": &l.To, "attachments": &l.Attachments} {
				list, err := texts(call.Args.Get(name), name)
				if err != nil {
					return nil, err
				}
				*into = list
			}
			switch values := call.Args.Get("values").(type) {
			case nil:
			case map[string]any:
				l.Values = values
			case string:
				if values != "" && json.Unmarshal([]byte(values), &l.Values) != nil {
					return nil, fault.Invalid("", "values is an object")
				}
			default:
				return nil, fault.Invalid("", "values is an object")
			}
			return s.Send(ctx, call.Tx, call.Caller, l)
		},
	}}
}

// texts reads a list of texts: one of JSON, or a text with commas in it.
func texts(v any, name string) (list []string, err error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case string:
		if strings.HasPrefix(strings.TrimSpace(v), "[") {
			if err := json.Unmarshal([]byte(v), &list); err != nil {
				return nil, fault.Invalid("", "%s is a list of texts", name)
			}
			return list, nil
		}
		return strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' }), nil
	case []any:
		for _, one := range v {
			text, ok := one.(string)
			if !ok {
				return nil, fault.Invalid("", "%s is a list of texts", name)
			}
			list = append(list, text)
		}
		return list, nil
	}
	return nil, fault.Invalid("", "%s is a list of texts", name)
}
