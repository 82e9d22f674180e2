package storetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/query"
)

func testList(t *testing.T, open func(testing.TB) document.Store) {
	s := newSite(t, open)
	s.insert(t,
		doc(s.priority, "High", "title", "Urgent", "weight", int64(3)),
		doc(s.priority, "Low", "title", "Whenever", "weight", int64(1)),
		doc(s.task, "a", "status", "Open", "title", "Alpha", "count", int64(1), "ratio", 1.5, "priority", "High",
			"due", "2024-01-10 12:00:00.120000", "day", "2024-01-10", "at", "09:00:00.000000", "done", int64(1)),
		doc(s.task, "b", "status", "Closed", "title", "beta 100%", "count", int64(2), "ratio", 2.5, "priority", "Low",
			"due", "2024-01-20 00:00:00.000000", "day", "2024-01-20", "at", "10:30:00.000000"),
		doc(s.task, "c", "status", nil, "title", "Gamma_x", "count", int64(3), "ratio", -1.0, "priority", "Gone"),
		doc(s.task, "d", "status", "", "title", nil, "count", int64(0), "ratio", 0.0,
			"due", "2023-12-31 23:59:59.999999", "day", "2023-12-31"),
		doc(s.task, "é", "status", "open", "title", "ÉPSILON", "count", int64(-5)),
	)
	parent := doc(s.task, "f", "status", "Done", "title", `back\slash`)
	parent.PutRows("steps", s.steps("f", "one", "two"))
	parent.PutRows("more", s.steps("fm", "three"))
	s.insert(t, parent)

	t.Run("filters", func(t *testing.T) { filters(t, s) })
	t.Run("refused filters", func(t *testing.T) { refusedFilters(t, s) })
	t.Run("order", func(t *testing.T) { order(t, s) })
	t.Run("pages", func(t *testing.T) { pages(t, s) })
	t.Run("joins", func(t *testing.T) { joins(t, s) })
	t.Run("aggregates", func(t *testing.T) { aggregates(t, s) })
	t.Run("output", func(t *testing.T) { output(t, s) })
	t.Run("many values", func(t *testing.T) { manyValues(t, s) })
	t.Run("long shape", func(t *testing.T) { longShape(t, s) })
	t.Run("random text", func(t *testing.T) { randomText(t, s) })
}

func (s *site) op(name string) doctype.Operand { return doctype.Operand{Field: s.task.Field(name)} }

func (s *site) cmp(name string, op query.Op, v any) doctype.Compare {
	return doctype.Compare{Operand: s.op(name), Op: op, Value: v}
}

// names lists the names of the tasks a filter keeps, sorted.
func (s *site) names(t testing.TB, w doctype.Where) (string, error) {
	t.Helper()
	sel := &doctype.Select{
		DocType: s.task,
		Columns: []doctype.Column{{Operand: s.op("name"), Key: "name"}},
		Where:   w,
		Order:   []doctype.OrderBy{{Operand: s.op("name")}},
	}
	var names []string
	err := s.Read(t.Context(), func(tx document.Tx) error {
		err := tx.Rows(t.Context(), sel, func(row []any) error {
			names = append(names, row[0].(string))
			return nil
		})
		if err != nil {
			return err
		}
		n, err := tx.Count(t.Context(), sel)
		if err == nil && n != int64(len(names)) {
			t.Errorf("%v: counts %d, lists %d", w, n, len(names))
		}
		return err
	})
	return strings.Join(names, " "), err
}

// filterCase is a condition and the names of the tasks that it keeps.
type filterCase struct {
	name string
	w    doctype.Where
	want string
}

// everyTask is the names of all tasks.
const everyTask = "a b c d f é"

func list(v ...any) []any { return v }

func filters(t *testing.T, s *site) {
	for _, tt := range slices.Concat(comparedFilters(s), patternFilters(s), setFilters(s), typedFilters(s)) {
		t.Run(tt.name, func(t *testing.T) {
			for range 2 { // built, and from the cache
				got, err := s.names(t, tt.w)
				if err != nil || got != tt.want {
					t.Errorf("got %q, want %q, error %v", got, tt.want, err)
				}
			}
		})
	}
}

// comparedFilters compare one value with one of a column.
func comparedFilters(s *site) []filterCase {
	return []filterCase{
		{"none", nil, everyTask},
		{"all of nothing", doctype.AllOf{}, everyTask},
		{"any of nothing", doctype.AnyOf{}, ""},
		{"equal, exact", s.cmp("status", query.Eq, "Open"), "a"},
		{"equal to empty text takes null", s.cmp("status", query.Eq, ""), "c d"},
		{"equal to null", s.cmp("status", query.Eq, nil), "c"},
		{"differs takes null", s.cmp("status", query.Ne, "Closed"), "a c d f é"},
		{"differs from empty text", s.cmp("status", query.Ne, ""), "a b f é"},
		{"differs from null", s.cmp("status", query.Ne, nil), "a b d f é"},
		{"less takes null", s.cmp("status", query.Lt, "Closed"), "c d"},
		{"at most takes null", s.cmp("status", query.Le, "Closed"), "b c d"},
		{"at most empty text takes null", s.cmp("status", query.Le, ""), "c d"},
		{"greater, by code point", s.cmp("status", query.Gt, "Done"), "a é"},
		{"at least empty text takes null", s.cmp("status", query.Ge, ""), everyTask},
	}
}

// patternFilters hold text against a pattern.
func patternFilters(s *site) []filterCase {
	return []filterCase{
		{"like folds ASCII", s.cmp("title", query.Like, "ALPHA"), "a"},
		{"like folds ASCII only", s.cmp("title", query.Like, "épsilon"), ""},
		{"like, any", s.cmp("title", query.Like, "%a%"), "a b c f"},
		{"like, one", s.cmp("title", query.Like, "alph_"), "a"},
		{"like, escaped per cent", s.cmp("title", query.Like, `%100\%`), "b"},
		{"like, escaped underscore", s.cmp("title", query.Like, `gamma\_x`), "c"},
		{"like, backslash", s.cmp("title", query.Like, `back\\slash`), "f"},
		{"like, lone backslash", s.cmp("title", query.Like, `back\`), ""},
		{"like, one character of two bytes", s.cmp("name", query.Like, `_`), everyTask},
		{"not like takes null", s.cmp("title", query.NotLike, "%a%"), "d é"},
		{"not like everything", s.cmp("title", query.NotLike, "%%"), ""},
		{"like on numbers", s.cmp("count", query.Like, "-%"), "é"},
		{"like on a moment", s.cmp("due", query.Like, "2024-01-%.12%"), "a"},
		{"like on a date", s.cmp("day", query.Like, "2024-%"), "a b"},
		{"like on a time", s.cmp("at", query.Like, "09:%.000000"), "a"},
	}
}

// setFilters ask whether a value is one of several, or is there at all.
func setFilters(s *site) []filterCase {
	return []filterCase{
		{"in", s.cmp("status", query.In, list("Open", "Done", `{"`)), "a f"},
		{"in with empty text takes null", s.cmp("status", query.In, list("Open", "")), "a c d"},
		{"in with null", s.cmp("status", query.In, list("Open", nil)), "a c"},
		{"in nothing", s.cmp("status", query.In, list()), ""},
		{"in nothing but null", s.cmp("status", query.In, list(nil)), "c"},
		{"not in takes null", s.cmp("status", query.NotIn, list("Open", "Done")), "b c d é"},
		{"not in with empty text", s.cmp("status", query.NotIn, list("Open", "")), "b f é"},
		{"not in nothing", s.cmp("status", query.NotIn, list()), everyTask},
		{"in, odd text", s.cmp("title", query.In, list(`back\slash`, "ÉPSILON", `"`)), "f é"},
		{"in, numbers", s.cmp("count", query.In, list(int64(1), int64(3))), "a c"},
		{"in, fractions", s.cmp("ratio", query.In, list(1.5, -1.0)), "a c"},
		{"in, moments", s.cmp("due", query.In, list("2024-01-20 00:00:00.000000")), "b"},
		{"set", s.cmp("status", query.Is, true), "a b f é"},
		{"not set", s.cmp("status", query.Is, false), "c d"},
		{"set, date", s.cmp("day", query.Is, true), "a b d"},
		{"not set, date", s.cmp("day", query.Is, false), "c f é"},
		{"set, number", s.cmp("count", query.Is, true), everyTask},
	}
}

// typedFilters compare values of other types, and conditions of conditions.
func typedFilters(s *site) []filterCase {
	return []filterCase{
		{"between numbers", s.cmp("count", query.Between, [2]any{int64(1), int64(2)}), "a b"},
		{"between dates", s.cmp("day", query.Between, [2]any{"2023-12-31", "2024-01-10"}), "a d"},
		{"moment less takes null", s.cmp("due", query.Lt, "2024-01-10 12:00:00.120000"), "c d f é"},
		{"moment greater", s.cmp("due", query.Gt, "2024-01-10 12:00:00.119999"), "a b"},
		{"time at least", s.cmp("at", query.Ge, "10:30:00.000000"), "b"},
		{"number", s.cmp("count", query.Lt, int64(0)), "é"},
		{"check", s.cmp("done", query.Eq, int64(1)), "a"},
		{"nested", doctype.AllOf{
			s.cmp("count", query.Ge, int64(0)),
			doctype.AnyOf{s.cmp("status", query.Eq, "Open"), doctype.AllOf{s.cmp("status", query.Eq, "Closed"), s.cmp("count", query.Eq, int64(2))}},
		}, "a b"},
		{"four hundred conditions", slices.Repeat(doctype.AllOf{s.cmp("title", query.Ne, "Alpha")}, 400), "b c d f é"},
		{"two hundred deep", nested(s.cmp("count", query.Eq, int64(1)), 200), "a"},
		{"text that looks like SQL", s.cmp("status", query.Eq, `' OR 1=1 --`), ""},
		{"question marks and dollars", s.cmp("status", query.Ne, `?$1?1`), everyTask},
	}
}

// nested makes a filter of that depth which keeps what w keeps.
func nested(w doctype.Where, depth int) doctype.Where {
	for range depth {
		w = doctype.AnyOf{doctype.AllOf{w}}
	}
	return w
}

func refusedFilters(t *testing.T, s *site) {
	for name, w := range map[string]doctype.Where{
		"unknown operator": s.cmp("status", query.Descendants, "x"),
		"in without list":  s.cmp("status", query.In, "x"),
		"half a range":     s.cmp("count", query.Between, [2]any{int64(1), nil}),
		"NUL":              s.cmp("status", query.Eq, "a\x00"),
		"NUL in a list":    s.cmp("status", query.In, []any{"a\x00"}),
		"endless filter":   slices.Repeat(doctype.AllOf{s.cmp("count", query.Ge, int64(0))}, 5000),
		"endless pattern":  s.cmp("status", query.Like, strings.Repeat("a", 1e6)),
	} {
		if _, err := s.names(t, w); fault.KindOf(err) != fault.Validation {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// run lists rows as JSON arrays.
func (s *site) run(t testing.TB, sel *doctype.Select) string {
	t.Helper()
	var out []byte
	s.read(t, func(tx document.Tx) (err error) {
		out, _, err = tx.AppendRows(t.Context(), nil, sel, true)
		return err
	})
	return string(out)
}

func order(t *testing.T, s *site) {
	tests := []struct {
		name string
		by   []doctype.OrderBy
		want string
	}{
		{"null first", []doctype.OrderBy{{Operand: s.op("status")}}, "c d b f a é"},
		{"null last", []doctype.OrderBy{{Operand: s.op("status"), Desc: true}}, "é a f b d c"},
		{"numbers", []doctype.OrderBy{{Operand: s.op("count"), Desc: true}}, "c b a f d é"},
		{"moments", []doctype.OrderBy{{Operand: s.op("due")}}, "c f é d a b"},
		{"ties by name", []doctype.OrderBy{{Operand: s.op("modified")}}, "a b c d f é"},
		{"ties by name, descending", []doctype.OrderBy{{Operand: s.op("modified"), Desc: true}}, "é f d c b a"},
		{"two keys", []doctype.OrderBy{{Operand: s.op("done"), Desc: true}, {Operand: s.op("count")}}, "a é d f b c"},
		{"alias", []doctype.OrderBy{{Alias: "status", Desc: true}}, "é a f b d c"},
	}
	for _, tt := range tests {
		sel := &doctype.Select{DocType: s.task, Order: tt.by, Columns: []doctype.Column{
			{Operand: s.op("name"), Key: "name"}, {Operand: s.op("status"), Key: "status"}}}
		var names []string
		s.read(t, func(tx document.Tx) error {
			return tx.Rows(t.Context(), sel, func(row []any) error {
				names = append(names, row[0].(string))
				return nil
			})
		})
		if got := strings.Join(names, " "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func pages(t *testing.T, s *site) {
	sel := doctype.Select{DocType: s.task, Columns: []doctype.Column{{Operand: s.op("name"), Key: "name"}}}
	for _, tt := range []struct {
		start, length int
		want          string
	}{
		{0, 2, `["a"],["b"]`}, {2, 2, `["c"],["d"]`}, {4, 0, `["f"],["é"]`}, {4, 100, `["f"],["é"]`}, {100, 1, ""},
	} {
		sel.Start, sel.Length = tt.start, tt.length
		if got := s.run(t, &sel); got != tt.want {
			t.Errorf("start %d length %d: %s, want %s", tt.start, tt.length, got, tt.want)
		}
	}
}

func joins(t *testing.T, s *site) {
	link := []doctype.Join{{Via: s.task.Field("priority"), Target: s.priority}}
	of := func(name string) doctype.Operand { return doctype.Operand{Join: 1, Field: s.priority.Field(name)} }
	sel := &doctype.Select{
		DocType: s.task, Joins: link,
		Columns: []doctype.Column{{Operand: s.op("name"), Key: "name"}, {Operand: of("title"), Key: "title"}},
		Order:   []doctype.OrderBy{{Operand: of("weight"), Desc: true}},
		Length:  4,
	}
	if got, want := s.run(t, sel), `["a","Urgent"],["b","Whenever"],["é",null],["f",null]`; got != want {
		t.Errorf("link: %s, want %s", got, want)
	}
	sel.Where = doctype.Compare{Operand: of("weight"), Op: query.Lt, Value: int64(2)}
	if got, want := s.run(t, sel), `["b","Whenever"],["é",null],["f",null],["d",null]`; got != want {
		t.Errorf("link with filter: %s, want %s", got, want)
	}
	if n := s.count(t, sel); n != 5 {
		t.Errorf("link with filter counts %d, want 5", n)
	}

	what := doctype.Operand{Join: 1, Field: s.step.Field("what")}
	sel = &doctype.Select{
		DocType: s.task, Joins: []doctype.Join{{Via: s.task.Field("steps"), Target: s.step}},
		Columns: []doctype.Column{{Operand: s.op("name"), Key: "name"}, {Operand: what, Key: "what"}},
		Where:   doctype.Compare{Operand: what, Op: query.Is, Value: true},
		Order:   []doctype.OrderBy{{Operand: s.op("name")}},
	}
	if got, want := s.run(t, sel), `["f","one"],["f","two"]`; got != want {
		t.Errorf("child table: %s, want %s", got, want)
	}
	if n := s.count(t, sel); n != 2 {
		t.Errorf("child table counts %d, want 2", n)
	}
}

func aggregates(t *testing.T, s *site) {
	fn := func(f query.Func, name string) doctype.Column {
		return doctype.Column{Operand: s.op(name), Func: f, Key: strings.ToLower(string(f))}
	}
	star := doctype.Column{Func: query.Count, Key: "n"}
	sel := &doctype.Select{DocType: s.task, Columns: []doctype.Column{
		star, fn(query.Count, "status"), fn(query.Sum, "count"), fn(query.Avg, "count"), fn(query.Sum, "ratio"),
		fn(query.Min, "due"), fn(query.Max, "day"), fn(query.Max, "title"), fn(query.Sum, "done"), fn(query.Max, "creation"),
	}, Order: []doctype.OrderBy{{Operand: s.op("modified"), Desc: true}}}
	want := `[6,5,1,0.16666666666666666,3.0,"2023-12-31 23:59:59.999999","2024-01-20","ÉPSILON",1,"2024-02-29 10:11:12.000000"]`
	if got := s.run(t, sel); got != want {
		t.Errorf("one row: %s, want %s", got, want)
	}
	sel.Where = s.cmp("name", query.Eq, "nobody")
	if got, want := s.run(t, sel), `[0,0,null,null,null,null,null,null,null,null]`; got != want {
		t.Errorf("no row: %s, want %s", got, want)
	}

	done := doctype.Column{Operand: s.op("done"), Key: "done"}
	sel = &doctype.Select{
		DocType: s.task, Group: []doctype.Operand{s.op("done")},
		Columns: []doctype.Column{done, star, {Operand: s.op("name"), Key: "name"}},
		Order:   []doctype.OrderBy{{Alias: "n", Desc: true}},
	}
	if got, want := s.run(t, sel), `[0,5,"b"],[1,1,"a"]`; got != want {
		t.Errorf("group: %s, want %s", got, want)
	}
	if n := s.count(t, sel); n != 2 {
		t.Errorf("group counts %d, want 2", n)
	}
	sel.Order = []doctype.OrderBy{{Operand: s.op("count")}}
	if got, want := s.run(t, sel), `[0,5,"b"],[1,1,"a"]`; got != want {
		t.Errorf("group by one, order by another: %s, want %s", got, want)
	}
	for _, c := range []doctype.Column{fn(query.Sum, "title"), fn(query.Avg, "due"), {Func: query.Sum, Key: "x"}} {
		err := s.Read(t.Context(), func(tx document.Tx) error {
			_, _, err := tx.AppendRows(t.Context(), nil, &doctype.Select{DocType: s.task, Columns: []doctype.Column{c}}, true)
			return err
		})
		if fault.KindOf(err) != fault.Validation {
			t.Errorf("%s of a text: %v", c.Func, err)
		}
	}
}

func output(t *testing.T, s *site) {
	sel := &doctype.Select{DocType: s.task, Where: s.cmp("name", query.In, []any{"a", "c"})}
	for _, name := range []string{"at", "day", "due", "creation", "done", "ratio", "count", "title"} {
		sel.Columns = append(sel.Columns, doctype.Column{Operand: s.op(name), Key: `k "` + name})
	}
	var out []byte
	s.read(t, func(tx document.Tx) (err error) {
		var n int
		if out, n, err = tx.AppendRows(t.Context(), []byte("["), sel, false); n != 2 {
			t.Errorf("%d rows, want 2", n)
		}
		return err
	})
	want := `[{"k \"at":"9:00:00","k \"day":"2024-01-10","k \"due":"2024-01-10 12:00:00.120000","k \"creation":"2024-02-29 10:11:12.000000",` +
		`"k \"done":1,"k \"ratio":1.5,"k \"count":1,"k \"title":"Alpha"},` +
		`{"k \"at":null,"k \"day":null,"k \"due":null,"k \"creation":"2024-02-29 10:11:12.000000",` +
		`"k \"done":0,"k \"ratio":-1.0,"k \"count":3,"k \"title":"Gamma_x"}`
	if string(out) != want {
		t.Errorf("got\n%s, want\n%s", out, want)
	}
	var rows [][]any
	s.read(t, func(tx document.Tx) error {
		return tx.Rows(t.Context(), sel, func(row []any) error {
			rows = append(rows, slices.Clone(row))
			return nil
		})
	})
	wantRow := []any{"09:00:00.000000", "2024-01-10", "2024-01-10 12:00:00.120000", moment, int64(1), 1.5, int64(1), "Alpha"}
	if len(rows) != 2 || !slices.Equal(rows[0], wantRow) {
		t.Errorf("rows %v, want first %v", rows, wantRow)
	}
}

func manyValues(t *testing.T, s *site) {
	values := []any{"a", "f"}
	for i := range 10_000 {
		values = append(values, fmt.Sprintf("none %d %s", i, `"{},\'`))
	}
	if got, err := s.names(t, s.cmp("name", query.In, values)); err != nil || got != "a f" {
		t.Errorf("in 10,000: %q, %v", got, err)
	}
	if got, err := s.names(t, s.cmp("name", query.NotIn, values)); err != nil || got != "b c d é" {
		t.Errorf("not in 10,000: %q, %v", got, err)
	}
}

// longShape: a list whose shape is too long to be kept takes every kind of
// value all the same.
func longShape(t *testing.T, s *site) {
	sel := &doctype.Select{
		DocType: s.task, Length: 5,
		Columns: []doctype.Column{{Operand: s.op("name"), Key: strings.Repeat("long", 2000)}},
		Where: doctype.AllOf{
			s.cmp("title", query.Like, "alpha%"),
			s.cmp("status", query.In, []any{"Open", "Closed"}),
			s.cmp("count", query.Eq, int64(1)),
			s.cmp("count", query.In, []any{int64(1), int64(7)}),
			s.cmp("done", query.Eq, int64(1)),
			s.cmp("ratio", query.Gt, 0.5),
			s.cmp("due", query.Between, [2]any{"2024-01-01 00:00:00.000000", "2024-01-31 00:00:00.000000"}),
			s.cmp("day", query.Ge, "2024-01-10"),
			s.cmp("at", query.Lt, "10:00:00.000000"),
		},
	}
	for range 2 {
		if got, want := s.run(t, sel), `["a"]`; got != want {
			t.Errorf("by itself: %s, want %s", got, want)
		}
	}
	s.write(t, document.OwnTx, func(tx document.Tx) error {
		got, _, err := tx.AppendRows(t.Context(), nil, sel, true)
		if want := `["a"]`; string(got) != want {
			t.Errorf("in a transaction: %s, want %s", got, want)
		}
		return err
	})
}

// randomText: whatever the text, it is found by itself and by nothing else.
func randomText(t *testing.T, s *site) {
	alphabet := []rune("aA%_\\'\"{},?$:;-()[]\n\t é🎉\u2028\u00a0NULL1")
	r := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		runes := make([]rune, 1+r.IntN(6))
		for i := range runes {
			runes[i] = alphabet[r.IntN(len(alphabet))]
		}
		return string(runes)
	}
	byTitle := map[string][]string{}
	for i := range 100 {
		title, name := text(), fmt.Sprintf("random %03d", i)
		byTitle[title] = append(byTitle[title], name)
		s.insert(t, doc(s.task, name, "title", title))
	}
	random := s.cmp("name", query.Like, "random %")
	for title, names := range byTitle {
		want := strings.Join(names, " ")
		escaped := strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(title)
		for name, w := range map[string]doctype.Where{
			"=":       s.cmp("title", query.Eq, title),
			"in":      s.cmp("title", query.In, []any{title, text() + "more"}),
			"between": s.cmp("title", query.Between, [2]any{title, title}),
		} {
			if got, err := s.names(t, doctype.AllOf{random, w}); err != nil || got != want {
				t.Errorf("%s %q: got %q, want %q, error %v", name, title, got, want, err)
			}
		}
		got, err := s.names(t, doctype.AllOf{random, s.cmp("title", query.Like, escaped)})
		if err != nil || !strings.Contains(got, names[0]) {
			t.Errorf("like %q: got %q, want at least %q, error %v", escaped, got, want, err)
		}
	}
}
