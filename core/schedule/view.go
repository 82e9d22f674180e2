package schedule

import (
	"cmp"
	"encoding/json"
	"time"

	"armature/core/doctype"
)

// View is a schedule as people see it. Times are those of the site's clocks.
type View struct {
	Next     string          `json:"next"`
	Last     string          `json:"last,omitempty"`
	Cron     string          `json:"cron"`
	TimeZone string          `json:"time_zone"`
	Missed   string          `json:"missed"` // run or skip
	Method   string          `json:"method"`
	Args     json.RawMessage `json:"args,omitempty"`
	User     string          `json:"user"`
	Plugin   string          `json:"plugin,omitempty"`
	Document string          `json:"document,omitempty"` // of DocType Scheduled Job
}

// Show is the schedule as people see it, on the wall clock of now's zone.
func (r *Row) Show(now time.Time) View {
	at := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return doctype.FormatDatetime(t.In(now.Location()))
	}
	v := View{
		Next: at(r.Due), Last: at(r.Last), Cron: r.Cron, TimeZone: cmp.Or(r.TimeZone, now.Location().String()), Missed: "run",
		Method: r.Method, Args: r.Args, User: r.User, Plugin: r.Plugin, Document: r.Document,
	}
	if r.Skip {
		v.Missed = "skip"
	}
	return v
}
