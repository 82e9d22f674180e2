package jobs

import (
	"encoding/json"
	"sync"
	"time"

	"armature/core/doctype"
	"armature/core/scope"
)

// State is what becomes of a job.
type State string

// The states. A job waits again after an attempt that failed, and after a step that has
// a next one.
const (
	Waiting   State = "waiting"   // for its time, for its turn, or it runs
	Done      State = "done"      // its last step was committed
	Dead      State = "dead"      // it is not tried any more, until a person asks for it
	Cancelled State = "cancelled" // a person has taken it back
)

// States lists all of them.
func States() []State { return []State{Waiting, Done, Dead, Cancelled} }

// never is when a job is due that does not wait: later than all that do, so that one
// index finds those that wait, in their order.
const never = int64(1) << 53

// parked is when a job is due that waits for another of its lane: it waits, and is never
// due by itself.
const parked = never - 1

// Job is one job as a site has it.
type Job struct {
	ID     string
	Method string          // path
	Args   json.RawMessage // a JSON object
	User   string          // as whom it runs
	State  State

	Due      time.Time // not before; zero where it does not wait
	Attempts int64     // that have failed since the last step
	Most     int64     // attempts, then it is dead
	Step     int64     // steps that are done
	Progress string    // what the last step said of it, JSON
	Error    string    // of the last attempt that failed
	Unique   string

	Enqueued, Changed time.Time

	lane   string
	cursor json.RawMessage // of the next step; nil: it is the first
	turn   int64           // grows with everything that becomes of it
	scopes []scope.Kept    // of the token that asked; nil: it was not narrowed
	frame  *scope.Kept     // of the plugin that asked; nil: none did
}

// Table is the table of the jobs. It belongs to no DocType of the schema, so that no
// request can name it, and is in every archive of the site.
var Table = sync.OnceValue(func() *doctype.DocType {
	dt, err := doctype.Define(doctype.Definition{Name: "Site Job", Table: "armature_job", Fields: []doctype.FieldDefinition{
		{Name: "method", Type: "Data"},
		{Name: "args", Type: "Long Text"},
		{Name: "user", Type: "Data"},
		{Name: "scopes", Type: "Long Text"},
		{Name: "frame", Type: "Long Text"},
		{Name: "state", Type: "Data", Indexed: 1},
		{Name: "due", Type: "Int", Indexed: 1}, // microseconds since 1970, as all times here; never
		{Name: "turn", Type: "Int"},
		{Name: "attempts", Type: "Int"},
		{Name: "most", Type: "Int"},
		{Name: "step", Type: "Int"},
		{Name: "next_cursor", Type: "Long Text"},
		{Name: "progress", Type: "Long Text"},
		{Name: "error", Type: "Long Text"},
		{Name: "unique_key", Type: "Data", Unique: 1}, // while it waits, else nothing
		{Name: "lane", Type: "Data", Indexed: 1},      // those of one run one after the other; nothing: it is in none
		{Name: "enqueued", Type: "Int"},
		{Name: "changed", Type: "Int"},
	}})
	if err != nil {
		panic(err) // a constant of this package is wrong
	}
	return dt
})

var schema = sync.OnceValue(func() *doctype.Schema { return doctype.NewSchema(0, []*doctype.DocType{Table()}) })

// of reads a row.
func of(doc *doctype.Document) (*Job, error) {
	j := &Job{
		ID: doc.Name(), Method: doc.Text("method"), Args: json.RawMessage(doc.Text("args")), User: doc.Text("user"),
		State: State(doc.Text("state")), Attempts: doc.Int("attempts"), Most: doc.Int("most"), Step: doc.Int("step"),
		Progress: doc.Text("progress"), Error: doc.Text("error"), Unique: doc.Text("unique_key"),
		Enqueued: time.UnixMicro(doc.Int("enqueued")), Changed: time.UnixMicro(doc.Int("changed")), turn: doc.Int("turn"), lane: doc.Text("lane"),
	}
	if due := doc.Int("due"); due < parked {
		j.Due = time.UnixMicro(due)
	}
	for _, part := range []struct {
		text string
		into any
	}{{doc.Text("next_cursor"), &j.cursor}, {doc.Text("scopes"), &j.scopes}, {doc.Text("frame"), &j.frame}} {
		if part.text == "" {
			continue
		}
		if err := json.Unmarshal([]byte(part.text), part.into); err != nil {
			return nil, err
		}
	}
	return j, nil
}
