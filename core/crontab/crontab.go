// Package crontab knows when a line of cron comes next.
package crontab

import (
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"armature/core/fault"
)

// Line is a line of cron in a time zone.
//
// At a change of the clocks it does as cron has always done: what names hours runs once
// a day, so at a time that there is not it runs when the clock has been put forward, and
// at one that comes twice the first time; what runs in every hour, or every few, goes on
// by the time that has passed.
type Line struct {
	spec *cron.SpecSchedule
	zone *time.Location
}

// starBit is how the parser marks a field that was written with a star.
const starBit = 1 << 63

// parser reads the five fields of crontab(5), names of months and days, and @daily and
// its like.
var parser = cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)

// maxLine is how many bytes a line has at most.
const maxLine = 100

// Parse reads a line. zone is the name of a time zone; empty: site's. Errors are
// Validation faults for a person.
func Parse(line, zone string, site *time.Location) (*Line, error) {
	c := &Line{zone: site}
	if zone != "" {
		var err error
		if c.zone, err = time.LoadLocation(zone); err != nil || strings.EqualFold(zone, "local") {
			return nil, fault.Invalid("", "There is no time zone %q; expected one such as Europe/Zurich", zone)
		}
	}
	// The parser would take a zone of its own and intervals, which have no time of day.
	plain := len(line) <= maxLine && !strings.ContainsAny(line, "=\n\r\t") && !strings.HasPrefix(strings.ToLower(strings.TrimSpace(line)), "@every")
	if plain {
		if s, err := parser.Parse(line); err == nil {
			c.spec, _ = s.(*cron.SpecSchedule)
		}
	}
	if c.spec == nil {
		return nil, fault.Invalid("", "%q is no schedule: expected minute, hour, day of the month, month and day of the week as in a crontab, such as 0 6 * * 1-5", line)
	}
	if c.Next(time.Unix(0, 0)).IsZero() {
		return nil, fault.Invalid("", "%q never comes", line)
	}
	return c, nil
}

// Next is the first moment after t; zero: there is none within five years.
func (c *Line) Next(t time.Time) time.Time {
	if c.spec.Hour&starBit != 0 {
		s := *c.spec
		s.Location = c.zone
		return s.Next(t.In(c.zone)).UTC().In(c.zone)
	}
	s := *c.spec
	s.Location = time.UTC
	for wall := wallClock(t.In(c.zone)); ; {
		if wall = s.Next(wall); wall.IsZero() {
			return time.Time{}
		}
		if next := c.moment(wall); next.After(t) {
			return next
		}
	}
}

// wallClock is what a clock in t's zone shows, as if it were UTC.
func wallClock(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}

// moment is when the clock shows a time: the first time that it does, and where it never
// does the moment at which it is put past it.
func (c *Line) moment(wall time.Time) time.Time {
	_, before := wall.Add(-24 * time.Hour).In(c.zone).Zone()
	early := wall.Add(-time.Duration(before) * time.Second).In(c.zone) // as if the clock had not been changed lately
	if wallClock(early).Equal(wall) {
		return early
	}
	_, after := wall.Add(24 * time.Hour).In(c.zone).Zone()
	if late := wall.Add(-time.Duration(after) * time.Second).In(c.zone); wallClock(late).Equal(wall) {
		return late
	}
	start, _ := early.ZoneBounds()
	return start
}
