package confirm

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/query"
)

// What has become of a confirmation.
const (
	Pending = "Pending" // nobody has decided yet
	Allowed = "Allowed" // the user has confirmed it
	Refused = "Refused" // the user has not
	Used    = "Used"    // the call was made
)

const (
	name = "Agent Confirmation"
	// Lives is for how long a confirmation is asked for, given and spent.
	Lives = 15 * time.Minute
	// maxWaiting is how many calls of a user may wait at a time.
	maxWaiting = 50
	// maxContent is how many bytes of a difference are kept.
	maxContent = 256 << 10
)

// Confirmation is one call that is to be confirmed.
type Confirmation struct {
	ID      string // unguessable; part of the page's address
	User    string
	Client  string // OAuth client; empty: an API key
	Digest  string // of user, client, tool and arguments
	Status  string
	Expires int64 // Unix seconds
	Content Content
}

// Content is what is shown of a call.
type Content struct {
	Agent      string     `json:"agent"` // what the program calls itself; nobody has checked it
	Tool       string     `json:"tool"`
	Arguments  []Argument `json:"arguments"` // without secrets
	Changes    []Change   `json:"changes"`
	More       int        `json:"more"`       // changes that are not shown
	Unforeseen []string   `json:"unforeseen"` // what was not tried out: what follows is not known
}

// Argument is one argument of the call, as text.
type Argument struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Change is what the call does to one document, or to many of a DocType.
type Change struct {
	Did      string  `json:"did"` // created, changed, deleted, set
	DocType  string  `json:"doctype"`
	Name     string  `json:"name"`
	Modified string  `json:"modified"` // of the document as it was shown; empty: it is new
	Count    int64   `json:"count"`    // of set: how many documents
	Hidden   bool    `json:"hidden"`   // the user may not read it
	Fields   []Field `json:"fields"`
	More     int     `json:"more"` // fields that are not shown
}

// Field is one field before and after.
type Field struct {
	Name   string `json:"name"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// Config is what a Service needs.
type Config struct {
	Store   document.Store
	Catalog *doctype.Catalog
	Now     func() time.Time
	// MAC authenticates texts with the site's key: what is written into a row by other
	// ways than the page confirms nothing.
	MAC func(label, text string) []byte
}

// Service keeps the confirmations of one site.
type Service struct{ c Config }

// New makes a Service.
func New(c Config) *Service { return &Service{c} }

func (s *Service) docType() (*doctype.DocType, error) {
	if dt := s.c.Catalog.Schema().DocType(name); dt != nil {
		return dt, nil
	}
	return nil, fault.New(fault.Unavailable, "", "This site cannot ask for confirmations before it is migrated")
}

// Keep asks for a confirmation. Errors: TooManyRequests where too many of the user's wait.
func (s *Service) Keep(ctx context.Context, c *Confirmation) error {
	dt, err := s.docType()
	if err != nil {
		return err
	}
	content, err := json.Marshal(c.Content)
	if err != nil {
		return err
	}
	if len(content) > maxContent {
		return fault.New(fault.TooLarge, "", "What the call changes is too much to be shown: over %d bytes", maxContent)
	}
	var id [20]byte
	rand.Read(id[:]) // never fails: it ends the program instead
	c.ID, c.Status, c.Expires = hex.EncodeToString(id[:]), Pending, s.c.Now().Add(Lives).Unix()
	return s.c.Store.Write(ctx, document.OwnTx, func(tx document.Tx) error {
		n, err := tx.Count(ctx, &doctype.Select{DocType: dt, Where: doctype.AllOf{
			compare(dt, "user", query.Eq, c.User), compare(dt, "status", query.Eq, Pending), compare(dt, "expires", query.Gt, s.c.Now().Unix()),
		}})
		if err != nil {
			return err
		}
		if n >= maxWaiting {
			return fault.New(fault.TooManyRequests, "", "%d calls wait for the user's confirmation already", n)
		}
		doc, now := doctype.NewDocument(dt), doctype.FormatDatetime(s.c.Now())
		for field, value := range map[string]any{
			"name": c.ID, "owner": c.User, "modified_by": c.User, "creation": now, "modified": now,
			"user": c.User, "client": c.Client, "digest": c.Digest, "status": c.Status, "content": string(content), "expires": c.Expires,
		} {
			doc.Put(field, value)
		}
		return tx.Insert(ctx, doc)
	})
}

// Find is the newest confirmation of a call that was not used and counts; nil: there is none.
func (s *Service) Find(ctx context.Context, user, digest string) (found *Confirmation, err error) {
	dt, err := s.docType()
	if err != nil {
		return nil, err
	}
	sel := &doctype.Select{
		DocType: dt, Length: 1,
		Columns: []doctype.Column{{Operand: doctype.Operand{Field: dt.Field("name")}, Key: "name"}},
		Where: doctype.AllOf{
			compare(dt, "digest", query.Eq, digest), compare(dt, "user", query.Eq, user), compare(dt, "status", query.Ne, Used),
			compare(dt, "expires", query.Gt, s.c.Now().Unix()),
		},
		Order: []doctype.OrderBy{{Operand: doctype.Operand{Field: dt.Field("creation")}, Desc: true}},
	}
	id := ""
	err = s.c.Store.Read(ctx, func(tx document.Tx) error {
		id = ""
		return tx.Rows(ctx, sel, func(v []any) error {
			id, _ = v[0].(string)
			return nil
		})
	})
	if err != nil || id == "" {
		return nil, err
	}
	found, err = s.Of(ctx, user, id)
	if fault.KindOf(err) == fault.NotFound {
		return nil, nil // it has ended meanwhile
	}
	return found, err
}

// Of reads a confirmation for the user whose call it is; Missing for anybody else, and
// once it has expired.
func (s *Service) Of(ctx context.Context, user, id string) (*Confirmation, error) {
	dt, err := s.docType()
	if err != nil {
		return nil, err
	}
	var c *Confirmation
	err = s.c.Store.Read(ctx, func(tx document.Tx) error {
		doc, err := tx.Get(ctx, s.c.Catalog.Schema(), dt, id, false)
		if err != nil {
			return err
		}
		c = &Confirmation{
			ID: doc.Name(), User: doc.Text("user"), Client: doc.Text("client"), Digest: doc.Text("digest"), Status: doc.Text("status"), Expires: doc.Int("expires"),
		}
		if c.Status == Allowed && !hmac.Equal([]byte(doc.Text("proof")), []byte(s.proof(c))) {
			return fault.Missing("There is no such confirmation")
		}
		return json.Unmarshal([]byte(doc.Text("content")), &c.Content)
	})
	switch {
	case fault.KindOf(err) == fault.NotFound, err == nil && (c.User != user || c.Expires <= s.c.Now().Unix()):
		return nil, fault.Missing("There is nothing to confirm at this address, or not any more")
	case err != nil:
		return nil, err
	}
	return c, nil
}

// Decide keeps what the user says of a call that waits. It is for requests that act by a
// session of that user. Errors are those of Of; Gone where it was decided before.
func (s *Service) Decide(ctx context.Context, user, id string, allow bool) error {
	c, err := s.Of(ctx, user, id)
	if err != nil {
		return err
	}
	set := map[string]any{"status": Refused}
	if allow {
		set["status"], set["proof"] = Allowed, s.proof(c)
	}
	ok, err := s.set(ctx, c.ID, Pending, set)
	if err == nil && !ok {
		err = fault.New(fault.Gone, "", "This was decided before")
	}
	return err
}

// Spend uses a confirmation up, and reports whether this call did: one of those that try.
func (s *Service) Spend(ctx context.Context, c *Confirmation) (bool, error) {
	return s.set(ctx, c.ID, Allowed, map[string]any{"status": Used})
}

// proof says that the page has taken the user's word for this very call.
func (s *Service) proof(c *Confirmation) string {
	return hex.EncodeToString(s.c.MAC("confirmation", c.ID+" "+c.Digest+" "+c.User))
}

func (s *Service) set(ctx context.Context, id, from string, to map[string]any) (done bool, err error) {
	dt, err := s.docType()
	if err != nil {
		return false, err
	}
	err = s.c.Store.Write(ctx, document.OneWrite, func(tx document.Tx) (err error) {
		done, err = tx.UpdateIf(ctx, dt, id, map[string]any{"status": from}, to)
		return err
	})
	return done, err
}

// Sweep deletes what has expired.
func (s *Service) Sweep(ctx context.Context) error {
	dt, err := s.docType()
	if err != nil {
		return nil // there are none
	}
	sel := &doctype.Select{
		DocType: dt, Length: 1000,
		Columns: []doctype.Column{{Operand: doctype.Operand{Field: dt.Field("name")}, Key: "name"}},
		Where:   compare(dt, "expires", query.Le, s.c.Now().Unix()),
	}
	return s.c.Store.Write(ctx, document.OwnTx, func(tx document.Tx) error {
		var names []string
		if err := tx.Rows(ctx, sel, func(v []any) error {
			id, _ := v[0].(string)
			names = append(names, id)
			return nil
		}); err != nil {
			return err
		}
		for _, id := range names {
			if _, err := tx.Delete(ctx, s.c.Catalog.Schema(), dt, id); err != nil {
				return err
			}
		}
		return nil
	})
}

func compare(dt *doctype.DocType, field string, op query.Op, value any) doctype.Where {
	return doctype.Compare{Operand: doctype.Operand{Field: dt.Field(field)}, Op: op, Value: value}
}
