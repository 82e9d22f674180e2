package manifest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"armature/core/crontab"
	"armature/core/fault"
	"armature/core/method"
)

// Schedule is what is called at the times that its key says. In a manifest it may be the
// name of the method alone.
type Schedule struct {
	Method   string          `json:"method"`              // its path, or what follows the plugin's name in it
	TimeZone string          `json:"time_zone,omitempty"` // such as Europe/Zurich; without it the site's
	Missed   string          `json:"missed,omitempty"`    // MissedRun or MissedSkip; without it MissedRun
	Args     json.RawMessage `json:"args,omitempty"`      // an object
}

// What becomes of times at which nothing ran, since no server did: one run for all of
// them, or none.
const (
	MissedRun  = "run"
	MissedSkip = "skip"
)

// UnmarshalJSON reads either form.
func (s *Schedule) UnmarshalJSON(text []byte) error {
	*s = Schedule{}
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, &s.Method)
	}
	type plain Schedule
	if err := json.Unmarshal(text, (*plain)(s)); err != nil {
		return &Error{Field: "schedules", Text: "expected the name of a method, or an object with method, time_zone, missed and args"}
	}
	return nil
}

// MarshalJSON writes the shorter form where it says the same.
func (s Schedule) MarshalJSON() ([]byte, error) {
	if s.TimeZone == "" && s.Missed == "" && s.Args == nil {
		return json.Marshal(s.Method)
	}
	type plain Schedule
	return json.Marshal(plain(s))
}

// Scheduled lists the schedules in the order of their keys.
func (m *Manifest) Scheduled() []method.Scheduled {
	list := make([]method.Scheduled, 0, len(m.Schedules))
	for _, cron := range slices.Sorted(maps.Keys(m.Schedules)) {
		s := m.Schedules[cron]
		path := s.Method
		if x := m.scheduled(s.Method); x != nil {
			path = x.Path
		}
		list = append(list, method.Scheduled{Plugin: m.Name, Cron: cron, TimeZone: s.TimeZone, Skip: s.Missed == MissedSkip, Path: path, Args: s.Args})
	}
	return list
}

// scheduled is the method that a schedule names; nil: there is none.
func (m *Manifest) scheduled(name string) *Method {
	for i := range m.Methods {
		if path := m.Methods[i].Path; path == name || path == m.Name+"."+name {
			return &m.Methods[i]
		}
	}
	return nil
}

func (m *Manifest) validSchedules() error {
	for _, cron := range slices.Sorted(maps.Keys(m.Schedules)) {
		s, field := m.Schedules[cron], fmt.Sprintf("schedules[%q]", cron)
		if _, err := crontab.Parse(cron, s.TimeZone, time.UTC); err != nil {
			return wrong(field, "%s", fault.From(err).Message)
		}
		x := m.scheduled(s.Method)
		if err := first(
			check(x != nil, field+".method", "expected a method of the plugin, found %q", s.Method),
			check(s.Missed == "" || s.Missed == MissedRun || s.Missed == MissedSkip, field+".missed", "expected %q or %q, found %q", MissedRun, MissedSkip, s.Missed),
			check(len(s.Args) == 0 || s.Args[0] == '{', field+".args", "expected an object"),
		); err != nil {
			return err
		}
		if len(x.Verbs) > 0 && !slices.Contains(x.Verbs, http.MethodPost) {
			return wrong(field+".method", "%s is not called with POST, as schedules call", x.Path)
		}
	}
	return nil
}
