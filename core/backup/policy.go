package backup

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Policy says which archives of a site stay: the newest so many, and of each of the
// last so many hours, days, weeks, months and years in which any was made the
// newest one. An archive stays that any of the rules keeps. Days are those of UTC,
// weeks begin on Monday (ISO 8601).
type Policy struct {
	Last    int `json:"last,omitempty"`
	Hourly  int `json:"hourly,omitempty"`
	Daily   int `json:"daily,omitempty"`
	Weekly  int `json:"weekly,omitempty"`
	Monthly int `json:"monthly,omitempty"`
	Yearly  int `json:"yearly,omitempty"`
}

// DefaultPolicy is what holds where nothing is said.
var DefaultPolicy = Policy{Last: 3, Daily: 7, Weekly: 4, Monthly: 6}

// rule is one line of a Policy.
type rule struct {
	name   string
	n      *int
	period func(time.Time) string // the same for two times of one period; nil: each is one
}

func (p *Policy) rules() []rule {
	return []rule{
		{"last", &p.Last, nil},
		{"hourly", &p.Hourly, func(t time.Time) string { return t.Format("2006-01-02 15") }},
		{"daily", &p.Daily, func(t time.Time) string { return t.Format(time.DateOnly) }},
		{"weekly", &p.Weekly, func(t time.Time) string {
			year, week := t.ISOWeek()
			return fmt.Sprint(year, " ", week)
		}},
		{"monthly", &p.Monthly, func(t time.Time) string { return t.Format("2006-01") }},
		{"yearly", &p.Yearly, func(t time.Time) string { return t.Format("2006") }},
	}
}

// ParsePolicy reads a policy such as "last=3,daily=7,weekly=4".
func ParsePolicy(text string) (p Policy, err error) {
	rules := p.rules()
	for part := range strings.SplitSeq(text, ",") {
		name, number, _ := strings.Cut(strings.TrimSpace(part), "=")
		i := slices.IndexFunc(rules, func(r rule) bool { return r.name == name })
		n, err := strconv.Atoi(number)
		if i < 0 || err != nil {
			return p, fmt.Errorf("%q does not say what to keep: it is a list such as \"last=3,daily=7,weekly=4,monthly=6\", in which hourly and yearly may be, too", text)
		}
		*rules[i].n = n
	}
	return p, p.Check()
}

// Check refuses a policy that keeps nothing.
func (p Policy) Check() error {
	sum := 0
	for _, r := range p.rules() {
		if *r.n < 0 {
			return fmt.Errorf("%s of the archives to keep is below 0", r.name)
		}
		sum += *r.n
	}
	if sum == 0 {
		return fmt.Errorf("no archive would be kept")
	}
	return nil
}

// String is the policy as ParsePolicy reads it.
func (p Policy) String() string {
	var parts []string
	for _, r := range p.rules() {
		if *r.n > 0 {
			parts = append(parts, fmt.Sprintf("%s=%d", r.name, *r.n))
		}
	}
	return strings.Join(parts, ",")
}

// Stay tells of archives that were made at some times which of them stay, in the
// order of the times. The newest always does.
func (p Policy) Stay(made []time.Time) []bool {
	newestFirst := make([]int, len(made))
	for i := range made {
		newestFirst[i] = i
	}
	slices.SortStableFunc(newestFirst, func(a, b int) int { return made[b].Compare(made[a]) })
	stay := make([]bool, len(made))
	for _, r := range p.rules() {
		left, last := *r.n, ""
		for nth, i := range newestFirst {
			if left == 0 {
				break
			}
			period := strconv.Itoa(nth)
			if r.period != nil {
				period = r.period(made[i].UTC())
			}
			if period != last {
				stay[i], last = true, period
				left--
			}
		}
	}
	if len(newestFirst) > 0 {
		stay[newestFirst[0]] = true
	}
	return stay
}
