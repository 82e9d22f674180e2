package doctype

import (
	"testing"
	"time"
)

func TestSpan(t *testing.T) {
	// A Wednesday in the middle of a quarter, and the last day of a leap month.
	tests := []struct{ today, name, first, last string }{
		{"2026-11-18", "today", "2026-11-18", "2026-11-18"},
		{"2026-11-18", "yesterday", "2026-11-17", "2026-11-17"},
		{"2026-11-18", "tomorrow", "2026-11-19", "2026-11-19"},
		{"2026-11-18", "last 7 days", "2026-11-11", "2026-11-18"},
		{"2026-11-18", "next 30 days", "2026-11-18", "2026-12-18"},
		{"2026-11-18", "last week", "2026-11-08", "2026-11-14"},
		{"2026-11-18", "this week", "2026-11-15", "2026-11-21"},
		{"2026-11-18", "next week", "2026-11-22", "2026-11-28"},
		{"2026-11-18", "last month", "2026-10-01", "2026-10-31"},
		{"2026-11-18", "this month", "2026-11-01", "2026-11-30"},
		{"2026-11-18", "next month", "2026-12-01", "2026-12-31"},
		{"2026-11-18", "this quarter", "2026-10-01", "2026-12-31"},
		{"2026-11-18", "last quarter", "2026-07-01", "2026-09-30"},
		{"2026-11-18", "next quarter", "2027-01-01", "2027-03-31"},
		{"2026-11-18", "last 6 months", "2026-04-01", "2026-09-30"},
		{"2026-11-18", "next 6 months", "2027-01-01", "2027-06-30"},
		{"2026-11-18", "last year", "2025-01-01", "2025-12-31"},
		{"2026-11-18", "this year", "2026-01-01", "2026-12-31"},
		{"2026-11-18", "next year", "2027-01-01", "2027-12-31"},
		{"2024-02-29", "last month", "2024-01-01", "2024-01-31"},
		{"2024-02-29", "next month", "2024-03-01", "2024-03-31"},
		{"2024-03-31", "last month", "2024-02-01", "2024-02-29"},
		{"2024-01-31", "next month", "2024-02-01", "2024-02-29"},
		{"2024-02-29", "last quarter", "2023-10-01", "2023-12-31"},
	}
	for _, tt := range tests {
		t.Run(tt.today+" "+tt.name, func(t *testing.T) {
			today, err := time.Parse(DateLayout, tt.today)
			if err != nil {
				t.Fatal(err)
			}
			first, last, ok := Span(tt.name, today)
			if !ok || first.Format(DateLayout) != tt.first || last.Format(DateLayout) != tt.last {
				t.Errorf("got %s to %s, %v; want %s to %s", first.Format(DateLayout), last.Format(DateLayout), ok, tt.first, tt.last)
			}
		})
	}
	if _, _, ok := Span("last fortnight", time.Now()); ok {
		t.Error("an unknown span is none")
	}
}
