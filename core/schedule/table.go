package schedule

import (
	"encoding/json"
	"sync"
	"time"

	"armature/core/doctype"
	"armature/core/identity"
	"armature/core/scope"
)

// never is when a schedule is due that is not: as in core/jobs.
const never = int64(1) << 53

// Row is one schedule as a site has it. Its name says where it is from.
type Row struct {
	Name     string
	Plugin   string // whose it is; empty: a document's
	Document string // its name; empty: a plugin's
	Cron     string
	TimeZone string // empty: the site's
	Skip     bool   // what was missed is skipped; else it runs once
	Method   string // path
	Args     json.RawMessage
	User     string // as whom

	Due  time.Time // the next time; zero: never again
	Last time.Time // a job was made; zero: none was yet

	scopes []scope.Kept // of the token with which it was saved; nil: it was not narrowed
	frame  *scope.Kept  // of the plugin that has saved the document; nil: none has
}

// Table is the table of the schedules. It belongs to no DocType of the schema, so that
// no request can name it, and is in every archive of the site.
var Table = sync.OnceValue(func() *doctype.DocType {
	dt, err := doctype.Define(doctype.Definition{Name: "Site Schedule", Table: "armature_schedule", Fields: []doctype.FieldDefinition{
		{Name: "plugin", Type: "Data", Indexed: 1},
		{Name: "document", Type: "Data"},
		{Name: "cron", Type: "Data"},
		{Name: "time_zone", Type: "Data"},
		{Name: "skip", Type: "Check"},
		{Name: "method", Type: "Data"},
		{Name: "args", Type: "Long Text"},
		{Name: "user", Type: "Data"},
		{Name: "scopes", Type: "Long Text"},
		{Name: "frame", Type: "Long Text"},
		{Name: "due", Type: "Int", Indexed: 1}, // microseconds since 1970, as all times here; never
		{Name: "last", Type: "Int"},
	}})
	if err != nil {
		panic(err) // a constant of this package is wrong
	}
	return dt
})

var schema = sync.OnceValue(func() *doctype.Schema { return doctype.NewSchema(0, []*doctype.DocType{Table()}) })

// of reads a row.
func of(doc *doctype.Document) (*Row, error) {
	r := &Row{
		Name: doc.Name(), Plugin: doc.Text("plugin"), Document: doc.Text("document"), Cron: doc.Text("cron"), TimeZone: doc.Text("time_zone"),
		Skip: doc.Int("skip") != 0, Method: doc.Text("method"), User: doc.Text("user"),
	}
	if text := doc.Text("args"); text != "" {
		r.Args = json.RawMessage(text)
	}
	if due := doc.Int("due"); due < never {
		r.Due = time.UnixMicro(due)
	}
	if last := doc.Int("last"); last != 0 {
		r.Last = time.UnixMicro(last)
	}
	for _, part := range []struct {
		text string
		into any
	}{{doc.Text("scopes"), &r.scopes}, {doc.Text("frame"), &r.frame}} {
		if part.text == "" {
			continue
		}
		if err := json.Unmarshal([]byte(part.text), part.into); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// values are the columns of a row, but for those that every document has.
func (r *Row) values() (map[string]any, error) {
	set := map[string]any{
		"plugin": r.Plugin, "document": r.Document, "cron": r.Cron, "time_zone": r.TimeZone, "skip": int64(0), "method": r.Method, "args": string(r.Args),
		"user": r.User, "scopes": "", "frame": "", "due": micro(r.Due),
	}
	if r.Skip {
		set["skip"] = int64(1)
	}
	if r.scopes != nil {
		text, err := json.Marshal(r.scopes)
		if err != nil {
			return nil, err
		}
		set["scopes"] = string(text)
	}
	if r.frame != nil {
		text, err := json.Marshal(r.frame)
		if err != nil {
			return nil, err
		}
		set["frame"] = string(text)
	}
	return set, nil
}

func micro(due time.Time) int64 {
	if due.IsZero() {
		return never
	}
	return due.UnixMicro()
}

// keep notes what narrows whoever saves a schedule.
func (r *Row) keep(c *identity.Caller) {
	if c.Scopes != nil {
		r.scopes = make([]scope.Kept, len(c.Scopes))
		for i, s := range c.Scopes {
			r.scopes[i] = s.Keep()
		}
	}
	if c.Frame != nil {
		kept := c.Frame.Keep()
		r.frame = &kept
	}
}

// caller is as whom the jobs of a schedule are asked for: the queue makes of it who the
// user is when they run.
func (r *Row) caller() *identity.Caller {
	c := &identity.Caller{User: r.User}
	for _, kept := range r.scopes {
		c.Scopes = append(c.Scopes, kept.Set())
	}
	if r.frame != nil {
		c.Frame = r.frame.Set()
	}
	return c
}
