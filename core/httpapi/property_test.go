package httpapi_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"armature/core/sites/sitetest"
)

// TestDatabasesAgree asks both databases the same random questions about the
// same random documents: status, errors and rows must be equal to the byte. A
// failure prints the question.
func TestDatabasesAgree(t *testing.T) {
	database := sitetest.Postgres(t)
	servers := []*sitetest.Server{sitetest.New(t, ""), sitetest.New(t, database)}
	const documents, questions = 60, 2000
	g := &asker{rand.New(rand.NewPCG(7, 11))}
	for _, doctype := range g.doctypes() {
		for _, s := range servers {
			newDocType(t, s.Admin, doctype.name, doctype.fields, doctype.more)
		}
	}
	for i := range documents {
		values := g.thing(i)
		for _, s := range servers {
			s.Admin.Post("/api/resource/Thing", values).OK(t)
		}
	}
	failures, telling := 0, 0
	for range questions {
		params := g.question()
		var answers [2]string
		for i, s := range servers {
			r := s.Admin.Get("/api/resource/Thing", params...)
			answers[i] = fmt.Sprint(r.Status, " ", stamps.ReplaceAllString(r.Text, ""))
			if r.Status != 200 {
				answers[i] = fmt.Sprint(r.Status, " ", r.Body["exc_type"], " ", r.Told(t))
			}
			if r.Status >= 500 {
				t.Errorf("%s: %v", answers[i], params)
			}
		}
		if strings.HasPrefix(answers[0], `200 {"data":[{`) {
			telling++
		}
		if answers[0] == answers[1] {
			continue
		}
		text, _ := json.Marshal(params)
		t.Errorf("%s\nSQLite:     %s\nPostgreSQL: %s", text, answers[0], answers[1])
		if failures++; failures == 5 {
			t.Fatal("and so on")
		}
	}
	if telling < questions/4 {
		t.Errorf("only %d of %d answers have rows", telling, questions)
	}
}

// stamps are when the sites were made, in what expand shows.
var stamps = regexp.MustCompile(`"(creation|modified)":"[^"]*",`)

// asker makes documents and questions.
type asker struct{ r *rand.Rand }

type kindOfDocument struct {
	name   string
	fields []obj
	more   obj
}

func (g *asker) doctypes() []kindOfDocument {
	field := func(name, typ string, options ...string) obj {
		return obj{"fieldname": name, "fieldtype": typ, "options": strings.Join(options, "")}
	}
	return []kindOfDocument{
		{"Part", []obj{field("word", "Data"), field("many", "Int")}, obj{"istable": 1, "permissions": nil}},
		{"Thing", []obj{
			field("word", "Data"), field("text", "Long Text"), field("whole", "Int"), field("real", "Float"), field("flag", "Check"),
			field("day", "Date"), field("moment", "Datetime"), field("clock", "Time"), field("choice", "Select", "\nRed\nGreen"),
			field("kind", "Link", "Priority"), field("parts", "Table", "Part"),
		}, obj{"autoname": "Prompt"}},
	}
}

var words = []any{
	nil, "", "a", "A", "b", "ab", "aB", "é", "É", "e\u0301", "ß", "SS", "100%", "under_score", `back\slash`, "emoji 🦀", "Ω", "ω", "z", "Z",
	"10", "9", "-1", "null", "it's", `say "x"`, "日本", "İ", "ı", "ﬀ", "a b", "a-b", "true", "2024-02-29", "～", "\u00a0", "\U0001F600",
}

func pick[T any](g *asker, from ...T) T { return from[g.r.IntN(len(from))] }

func (g *asker) chance(percent int) bool { return g.r.IntN(100) < percent }

func (g *asker) day() any {
	return pick[any](g, nil, "2024-02-29", "2024-01-01", "2023-12-31", "1999-07-04", fmt.Sprintf("2024-%02d-%02d", 1+g.r.IntN(12), 1+g.r.IntN(28)))
}

func (g *asker) moment() any {
	day := g.day()
	if day == nil {
		return nil
	}
	return fmt.Sprint(day, pick(g, "", " 00:00:00", " 23:59:59", " 23:59:59.999999", " 12:30:15.5", " 07:00"))
}

func (g *asker) clock() any { return pick[any](g, nil, "00:00:00", "07:08", "23:59:59.5", "12:00:00") }
func (g *asker) whole() any { return pick[any](g, 0, 1, -1, 2, 10, 9, 1<<40, g.r.IntN(20)) }

// real is a multiple of a quarter: sums of those are exact in any order.
func (g *asker) real() any { return pick(g, 0, 0.25, -0.5, 1, 1.75, 1e6, float64(g.r.IntN(40))/4) }
func (g *asker) word() any { return pick(g, words...) }
func (g *asker) kind() any { return pick[any](g, nil, "High", "Low", "Medium") }

func (g *asker) thing(i int) obj {
	parts := []obj{}
	for range g.r.IntN(3) {
		parts = append(parts, obj{"word": g.word(), "many": g.whole()})
	}
	prefix := pick(g, "n", "N", "é", "Z", "_", "日")
	return obj{"name": fmt.Sprint(prefix, i), "word": g.word(), "text": g.word(), "whole": g.whole(), "real": g.real(), "flag": g.r.IntN(2),
		"day": g.day(), "moment": g.moment(), "clock": g.clock(), "choice": pick[any](g, nil, "", "Red", "Green"), "kind": g.kind(), "parts": parts}
}

// value is something to compare a field with; now and then of another type.
func (g *asker) value(field string) any {
	if g.chance(4) {
		return pick[any](g, nil, "", true, 3, "x", []any{}, "0", 1.5, "2024-01-01")
	}
	switch field {
	case "whole", "flag", "parts.many", "idx":
		return g.whole()
	case "real":
		return g.real()
	case "day":
		return g.day()
	case "moment":
		return g.moment()
	case "clock":
		return g.clock()
	case "choice":
		return pick[any](g, nil, "", "Red", "red", "Green")
	case "kind", "kind.title":
		return g.kind()
	case "name":
		return pick[any](g, "n1", "N2", "é", "a", "日9")
	}
	return g.word()
}

var askable = []string{"name", "word", "text", "whole", "real", "flag", "day", "moment", "clock", "choice", "kind",
	"kind.title", "parts.word", "parts.many", "docstatus", "idx", "owner"}

func (g *asker) field() string { return pick(g, askable...) }

func (g *asker) condition() []any {
	f := g.field()
	op := pick(g, "=", "!=", "<", ">", "<=", ">=", "like", "not like", "in", "not in", "is", "between", "timespan", "previous", "next",
		"LIKE", "Not In", "descendants of", "=<")
	var v any
	switch strings.ToLower(op) {
	case "like", "not like":
		v = pick(g, "%", "", "a%", "%B%", "_", "%é%", "É", `100\%`, "%_%", `%\_%`, `%\`, "ω", "1%", "2024%", "%ß%")
	case "in", "not in":
		list := []any{}
		for range g.r.IntN(4) {
			list = append(list, g.value(f))
		}
		v = pick[any](g, list, list, "a,b,É", nil)
	case "is":
		v = pick(g, "set", "not set", "Set", "unset")
	case "between":
		v = []any{g.value(f), g.value(f)}
	case "timespan":
		v = pick(g, "last year", "this month", "last 90 days", "never")
	case "previous", "next":
		v = pick(g, "1 week", "6 months", "1 fortnight")
	default:
		v = g.value(f)
	}
	return []any{f, op, v}
}

func (g *asker) conditions() []any {
	all := []any{}
	for range g.r.IntN(4) {
		all = append(all, g.condition())
	}
	if len(all) == 2 && g.chance(30) {
		return []any{[]any{all[0]}, pick(g, "and", "or"), []any{all[1]}}
	}
	return all
}

// question makes the parameters of one list.
func (g *asker) question() []any {
	var params []any
	add := func(name string, v any) { params = append(params, name, v) }
	var columns []any
	aggregate := g.chance(25)
	for range 1 + g.r.IntN(4) {
		f := g.field()
		switch {
		case aggregate && g.chance(60):
			columns = append(columns, obj{pick(g, "COUNT", "SUM", "AVG", "MIN", "MAX"): f, "as": fmt.Sprint("x", len(columns))})
		case g.chance(5):
			columns = append(columns, obj{"parts": pick(g, []string{"word", "many"}, []string{"idx"}, []string{"nothing"})})
		case g.chance(15):
			columns = append(columns, f+" as "+pick(g, "x", "y", "name", "word"))
		default:
			columns = append(columns, f)
		}
	}
	add("fields", columns)
	if c := g.conditions(); len(c) > 0 && g.chance(80) {
		add("filters", c)
	}
	if c := g.conditions(); len(c) > 0 && g.chance(25) {
		add("or_filters", c)
	}
	if aggregate && g.chance(60) {
		group := g.field()
		if g.chance(30) {
			group += ", " + g.field()
		}
		add("group_by", group)
	}
	order := g.field() + pick(g, "", " asc", " desc")
	if g.chance(40) {
		order += ", " + g.field() + pick(g, " ASC", " desc")
	}
	add("order_by", order) // the default is by the time of the last change, which differs
	add("limit_page_length", fmt.Sprint(pick(g, 0, 1, 5, 20, 100)))
	if g.chance(30) {
		add("limit_start", fmt.Sprint(g.r.IntN(10)))
	}
	if g.chance(15) {
		add("as_dict", "False")
	}
	if g.chance(15) {
		add("expand", []string{"kind"})
	}
	return params
}
