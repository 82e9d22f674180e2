package webhook

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/egress"
	"armature/core/fault"
	"armature/core/method"
)

// Hooks is the life of Webhooks, and what tells them of the documents of others.
func (s *Service) Hooks() document.Hooks { return hooks{s} }

type hooks struct{ s *Service }

// Handles is asked at every write. Where the webhooks have to be read anew, which needs
// a transaction, Run does that.
func (h hooks) Handles(typeName string) bool {
	if typeName == DocType || typeName == DeliveryType {
		return true
	}
	k := h.s.now()
	return k == nil || len(k.by[typeName]) > 0
}

func (hooks) RunsPlugins(string) bool { return false }

// told are the events that webhooks may tell of.
var told = []string{document.AfterInsert, document.OnUpdate, document.OnSubmit, document.OnCancel, document.OnUpdateAfterSubmit, document.OnTrash}

func (h hooks) Run(ctx context.Context, ev *document.Event) error {
	switch ev.Doc.Type.Name {
	case DocType:
		return h.s.saved(ctx, ev)
	case DeliveryType:
		if ev.Name == document.BeforeValidate {
			return fault.Denied("Deliveries are written by webhooks")
		}
		return nil
	}
	if !slices.Contains(told, ev.Name) {
		return nil
	}
	k, err := h.s.load(ctx, ev.Tx)
	if err != nil {
		return err
	}
	for _, of := range k.by[ev.Doc.Type.Name] {
		if of.event != ev.Name {
			continue
		}
		if err := h.s.tell(ctx, ev, of); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) saved(ctx context.Context, ev *document.Event) error {
	switch ev.Name {
	case document.BeforeValidate:
		return s.check(ctx, ev)
	case document.OnUpdate, document.AfterDelete:
		return s.c.Documents().Republish(ctx, ev.Tx)
	}
	return nil
}

// check refuses what cannot be sent, and completes the rest.
func (s *Service) check(ctx context.Context, ev *document.Event) error {
	doc := ev.Doc
	if ev.Before != nil && ev.Caller.User != ev.Before.Text("owner") {
		for _, field := range []string{"owner", "document_type", "event", "condition", "fields", "url", "secret"} {
			if doc.Text(field) != ev.Before.Text(field) {
				return fault.Denied("A webhook tells what its owner, %s, may read: only that user changes what it tells and whom; make one of your own", ev.Before.Text("owner"))
			}
		}
	}
	url := strings.TrimSpace(doc.Text("url"))
	doc.Put("url", url)
	if err := egress.CheckURL(url); err != nil {
		return fault.Invalid("", "URL: %s", fault.From(err).Message)
	}
	if _, err := s.policy(url); err != nil {
		return err
	}
	for i, row := range doc.Rows("headers") {
		key := row.Text("key")
		if !httpguts.ValidHeaderFieldName(key) || strings.HasPrefix(strings.ToLower(key), "webhook-") || slices.Contains(kept, http.CanonicalHeaderKey(key)) {
			return fault.Invalid("", "Row #%d: %s is no header that a webhook may set", i+1, key)
		}
	}
	dt := s.c.Documents().Schema().DocType(doc.Text("document_type"))
	if dt == nil {
		return nil // the link check says so
	}
	for _, name := range names(doc.Text("fields")) {
		if dt.Field(name) == nil {
			return fault.Invalid("", "%s has no field %s", dt.Name, name)
		}
	}
	if dt.Name == DocType || dt.Name == DeliveryType || dt.Child {
		return fault.Invalid("", "There are no webhooks of %s", dt.Name)
	}
	q, err := matching(doc.Text("condition"), "")
	if err != nil {
		return fault.Invalid("", "The condition is filters as JSON, such as [[\"status\", \"=\", \"Open\"]]: %s", fault.From(err).Message)
	}
	if _, err := s.c.Documents().As(ev.Caller, ev.Tx).Count(ctx, dt.Name, q); err != nil {
		return err
	}
	if doc.Int("enabled") != 0 && (ev.Before == nil || ev.Before.Int("enabled") == 0) {
		doc.Put("failing_since", nil)
		doc.Put("disabled_reason", "")
	}
	return s.seal(doc, ev.Before)
}

// kept are headers that are not a person's to set.
var kept = []string{"Content-Type", "Content-Length", "Host", "Connection", "Transfer-Encoding", "User-Agent"}

// keyBytes is how long a key is that is made here.
const keyBytes = 24

// seal makes a secret where there is none, and refuses one that signs nothing.
func (s *Service) seal(doc, before *doctype.Document) error {
	sealed := doc.Text("secret")
	switch {
	case sealed == "" && before != nil && before.Text("secret") != "":
		doc.Put("secret", before.Text("secret"))
	case sealed == "":
		key := make([]byte, keyBytes)
		rand.Read(key)
		doc.Put("secret", s.c.Secret.Seal(document.SealPurpose(DocType, "secret"), []byte("whsec_"+base64.StdEncoding.EncodeToString(key))))
	case before == nil || before.Text("secret") != sealed:
		text, err := s.c.Secret.Open(document.SealPurpose(DocType, "secret"), sealed)
		if err != nil {
			return err
		}
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(string(text), "whsec_"))
		if err != nil || len(key) < 24 || len(key) > 64 {
			return fault.Invalid("", "The secret of a webhook is whsec_ and 24 to 64 bytes in base64")
		}
	}
	return nil
}

// attempts is how often a delivery is tried: the last time 2.8 days after the first.
const attempts = 17

// tell keeps a delivery, if the owner may read the document and it meets the condition.
// A webhook that cannot be asked about fails no write.
func (s *Service) tell(ctx context.Context, ev *document.Event, of hook) error {
	owner, err := s.c.Caller(ctx, of.owner)
	if err != nil {
		if fault.KindOf(err) == fault.Authentication {
			return nil // the owner may not act any more
		}
		return err
	}
	typeName, name := ev.Doc.Type.Name, ev.Doc.Name()
	as := s.c.Documents().As(owner, ev.Tx)
	q, err := matching(of.condition, name)
	if err == nil {
		var n int64
		n, err = as.Count(ctx, typeName, q)
		if err == nil && n == 0 {
			return nil
		}
	}
	var doc *doctype.Document
	if err == nil {
		doc, err = as.Get(ctx, typeName, name)
	}
	switch fault.KindOf(err) {
	case 0:
	case fault.Permission, fault.Validation, fault.NotFound, fault.BadRequest:
		ev.Tx.AfterCommit(func() { s.c.Logger.Warn("a webhook tells nothing", "webhook", of.name, "name", name, "error", err) })
		return nil
	default:
		return err
	}
	data, err := pick(s.c.Documents().AppendJSON(nil, owner, doc, document.ReadOptions{}), of.fields)
	if err != nil {
		return err
	}
	body, err := json.Marshal(payload{Type: typeName + "." + ev.Name, Timestamp: s.c.Now().UTC().Format(time.RFC3339Nano), Data: data})
	if err != nil {
		return err
	}
	return s.keep(ctx, ev, of, string(body))
}

// payload is what is sent, in the form that Standard Webhooks recommends.
type payload struct {
	Type      string          `json:"type"`
	Timestamp string          `json:"timestamp"`
	Data      json.RawMessage `json:"data"`
}

// pick leaves of a document the fields that are wanted; none: all.
func pick(doc json.RawMessage, fields []string) (json.RawMessage, error) {
	if len(fields) == 0 {
		return doc, nil
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(doc, &all); err != nil {
		return nil, err
	}
	some := make(map[string]json.RawMessage, len(fields)+2)
	for _, name := range append([]string{"doctype", "name"}, fields...) {
		if value, ok := all[name]; ok {
			some[name] = value
		}
	}
	return json.Marshal(some)
}

// keep stores a delivery and the job that sends it.
func (s *Service) keep(ctx context.Context, ev *document.Event, of hook, body string) error {
	dt, err := s.c.Documents().Schema().Platform(DeliveryType)
	if err != nil {
		return nil // a DocType of the site's own has the name
	}
	doc := doctype.NewDocument(dt)
	id, stamp := "msg_"+strings.ToLower(rand.Text()), doctype.FormatDatetime(s.c.Now())
	job, err := s.send(ctx, ev.Tx, id, of.name, of.owner, ev.Doc.Type.Name, ev.Doc.Name())
	switch fault.KindOf(err) {
	case fault.Validation, fault.Unavailable: // as many jobs wait as may
		ev.Tx.AfterCommit(func() {
			s.c.Logger.Error("a webhook tells nothing", "webhook", of.name, "name", ev.Doc.Name(), "error", err)
		})
		return nil
	}
	if err != nil {
		return err
	}
	for field, value := range map[string]any{
		"name": id, "creation": stamp, "modified": stamp, "owner": of.owner, "modified_by": of.owner, "idx": int64(0), "docstatus": int64(0),
		"webhook": of.name, "document_type": ev.Doc.Type.Name, "document_name": ev.Doc.Name(), "event": ev.Name,
		"status": pending, "attempts": int64(0), "body": body, "job": job,
	} {
		doc.Put(field, value)
	}
	return ev.Tx.Insert(ctx, doc)
}

// send keeps the job that sends a delivery after those of the same document.
func (s *Service) send(ctx context.Context, tx document.Tx, id, webhook, owner, typeName, name string) (job string, err error) {
	args, err := json.Marshal(map[string]string{"delivery": id})
	if err != nil {
		return "", err
	}
	caller, err := s.c.Caller(ctx, owner)
	if err != nil {
		return "", err
	}
	return s.c.Later().Enqueue(ctx, tx, method.Deferred{
		Path: Path, Args: args, Caller: caller, Attempts: attempts, Lane: lane(fmt.Sprintf("%s %s %s", webhook, typeName, name)),
	})
}

// names reads the names of fields.
func names(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\r' || r == '\t' })
}
