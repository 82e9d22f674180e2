package doctype

import "time"

// Span is the first and last day of a named span, counted from the day of now on
// its wall clock. The last day is included.
func Span(name string, now time.Time) (first, last time.Time, ok bool) {
	today := day(now)
	in := func(years, months, days int) time.Time { return today.AddDate(years, months, days) }
	month := func(n int) time.Time { return monthStart(today).AddDate(0, n, 0) }
	switch name {
	case "yesterday":
		return in(0, 0, -1), in(0, 0, -1), true
	case "today":
		return today, today, true
	case "tomorrow":
		return in(0, 0, 1), in(0, 0, 1), true
	case "last 7 days":
		return in(0, 0, -7), today, true
	case "last 14 days":
		return in(0, 0, -14), today, true
	case "last 30 days":
		return in(0, 0, -30), today, true
	case "last 90 days":
		return in(0, 0, -90), today, true
	case "next 7 days":
		return today, in(0, 0, 7), true
	case "next 14 days":
		return today, in(0, 0, 14), true
	case "next 30 days":
		return today, in(0, 0, 30), true
	case "last week":
		return weekStart(today).AddDate(0, 0, -7), weekStart(today).AddDate(0, 0, -1), true
	case "this week":
		return weekStart(today), weekStart(today).AddDate(0, 0, 6), true
	case "next week":
		return weekStart(today).AddDate(0, 0, 7), weekStart(today).AddDate(0, 0, 13), true
	case "last month":
		return month(-1), month(0).AddDate(0, 0, -1), true
	case "this month":
		return month(0), month(1).AddDate(0, 0, -1), true
	case "next month":
		return month(1), month(2).AddDate(0, 0, -1), true
	}
	return longSpan(name, today)
}

func longSpan(name string, today time.Time) (first, last time.Time, ok bool) {
	quarter := monthStart(today).AddDate(0, -(int(today.Month())-1)%3, 0)
	year := monthStart(today).AddDate(0, 1-int(today.Month()), 0)
	months := func(from time.Time, skip, length int) (time.Time, time.Time, bool) {
		start := from.AddDate(0, skip, 0)
		return start, start.AddDate(0, length, -1), true
	}
	switch name {
	case "last quarter":
		return months(quarter, -3, 3)
	case "this quarter":
		return months(quarter, 0, 3)
	case "next quarter":
		return months(quarter, 3, 3)
	case "last 6 months":
		return months(quarter, -6, 6)
	case "next 6 months":
		return months(quarter, 3, 6)
	case "last year":
		return months(year, -12, 12)
	case "this year":
		return months(year, 0, 12)
	case "next year":
		return months(year, 12, 12)
	}
	return today, today, false
}

func day(t time.Time) time.Time {
	y, m, d := t.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

func monthStart(t time.Time) time.Time { return t.AddDate(0, 0, 1-t.Day()) }

// weekStart is the Sunday on or before the day, the reference's default.
func weekStart(t time.Time) time.Time { return t.AddDate(0, 0, -int(t.Weekday())) }
