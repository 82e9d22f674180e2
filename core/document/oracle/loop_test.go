package oracle_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"armature/core/host/hosttest"
)

// How much is asked: of each world, in continuous integration. ARMATURE_ORACLE
// is a duration, for which new worlds are drawn on each database, and
// ARMATURE_ORACLE_SEED the seed of the first.
const questions = 120

func seeds(t testing.TB) (first uint64, until time.Time) {
	first = 1
	if text := os.Getenv("ARMATURE_ORACLE_SEED"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		first = n
	}
	if text := os.Getenv("ARMATURE_ORACLE"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		until = time.Now().Add(d)
	}
	return first, until
}

// The answer of any list, count or aggregate is what reading every document one
// by one and working it out would be.
func TestListEqualsLoop(t *testing.T) {
	for _, on := range []string{"SQLite", "PostgreSQL"} {
		t.Run(on, func(t *testing.T) {
			first, until := seeds(t)
			seed, asked := first, 0
			for ; seed == first || seed == first+1 || time.Now().Before(until); seed++ {
				database := ""
				if on == "PostgreSQL" {
					database = hosttest.Postgres(t)
				}
				t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) { asked += compareWorld(t, hosttest.New(t, database), seed) })
				if t.Failed() {
					return
				}
			}
			t.Logf("seeds %d to %d, %d questions", first, seed-1, asked)
		})
	}
}

func compareWorld(t *testing.T, s *hosttest.Server, seed uint64) (asked int) {
	w := drawWorld(seed)
	clients := w.serve(t, s)
	for i, p := range w.callers {
		compareDocuments(t, clients[i], &oracle{w: w, p: p})
	}
	d := &drawer{rand.New(rand.NewPCG(seed, 2)), w}
	for n := 0; n < questions && !t.Failed(); n++ {
		q, i := d.question(), d.IntN(len(clients))
		want, got := (&oracle{w: w, p: w.callers[i]}).answer(q), ask(t, clients[i], q)
		if a, b := shown(q, want), shown(q, got); a != b {
			t.Errorf("seed %d, %s asks %s\n got %s\nwant %s\n%s", seed, w.callers[i].name, q, b, a, w)
		}
	}
	return questions
}

// compareDocuments reads every document by itself.
func compareDocuments(t *testing.T, c *hosttest.Client, o *oracle) {
	for _, k := range o.w.types {
		for _, r := range o.w.records[k.name] {
			reply := c.On(t).Get(address(k, r))
			if want := o.sees(k, r, "read"); (reply.Status == 200) != want || reply.Status != 200 && reply.Status != 403 {
				t.Fatalf("%s reads %s %s: %d, want %v\n%s", o.p.name, k.name, r.name, reply.Status, want, o.w)
			}
		}
	}
}

func ask(t *testing.T, c *hosttest.Client, q *question) answer {
	t.Helper()
	var params []any
	for name, v := range q.args() {
		params = append(params, name, v)
	}
	reply := c.On(t).Get("/api/resource/"+q.kind.name, params...)
	if reply.Status == 403 {
		return answer{denied: true}
	}
	if reply.Status != 200 {
		t.Fatalf("%s: %d %s", q, reply.Status, reply.Text)
	}
	rows := []map[string]any{}
	for _, row := range reply.List(t) {
		rows = append(rows, row.(map[string]any))
	}
	return answer{rows: rows}
}

// shown is an answer as text: rows one a line, in their order where that is
// asked for and total, sorted otherwise.
func shown(q *question, a answer) string {
	if a.denied {
		return "denied"
	}
	lines := []string{}
	for _, row := range a.rows {
		lines = append(lines, text(row))
	}
	if q.order == nil || slices.ContainsFunc(append(q.paths(), q.columns...), q.multiplies) {
		slices.Sort(lines)
	}
	return text(lines)
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
