package backup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// DefaultEvery is how often archives are made where nothing is said.
const DefaultEvery = 24 * time.Hour

// Schedule says when archives of a site are made, and which stay.
type Schedule struct {
	Every time.Duration // 0: never
	Keep  Policy
}

// Settings is what a site's configuration says of its backups, beside or instead
// of what the server's does. What it leaves out is the server's.
type Settings struct {
	Every  *Every          `json:"every"`
	Keep   *Policy         `json:"keep"`
	Folder string          `json:"folder"`
	Bucket json.RawMessage `json:"bucket"`
}

// ParseSettings reads Settings and refuses what makes no sense. What a bucket says
// is not looked at.
func ParseSettings(raw json.RawMessage) (s Settings, err error) {
	if len(raw) == 0 || string(raw) == "null" {
		return s, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return s, fmt.Errorf(`backup must be an object such as {"every": "24h", "keep": {"daily": 7, "weekly": 4}, "folder": "/srv/backups"}: %w`, err)
	}
	if s.Folder != "" && s.Bucket != nil {
		return s, fmt.Errorf("backup names a folder and a bucket: archives are kept in one of them")
	}
	if s.Keep != nil {
		if err := s.Keep.Check(); err != nil {
			return s, fmt.Errorf("backup: %w", err)
		}
	}
	return s, nil
}

// Over lays the settings of a site over the schedule of the server.
func (s Settings) Over(server Schedule) Schedule {
	if s.Every != nil {
		server.Every = s.Every.Duration()
	}
	if s.Keep != nil {
		server.Keep = *s.Keep
	}
	return server
}

// Every is a length of time as people set it: "24h", "90m"; "never" is 0.
type Every time.Duration

// shortest is how often archives may be made at most.
const shortest = time.Minute

// Set reads a length of time.
func (e *Every) Set(text string) error {
	if text == "never" {
		*e = 0
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < shortest {
		return fmt.Errorf("%q is not how often archives are made: it is a time such as \"24h\", at least a minute, or \"never\"", text)
	}
	*e = Every(d)
	return nil
}

// String is the text that Set reads.
func (e *Every) String() string {
	if *e == 0 {
		return "never"
	}
	return time.Duration(*e).String()
}

// Duration is 0 for never.
func (e Every) Duration() time.Duration { return time.Duration(e) }

// Type names the kind of value, for a flag.
func (*Every) Type() string { return "duration" }

// UnmarshalJSON reads a text as Set does.
func (e *Every) UnmarshalJSON(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return err
	}
	return e.Set(text)
}
