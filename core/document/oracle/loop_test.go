package oracle_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"armature/core/sites/sitetest"
)

// How much is asked: of each world, in continuous integration. ARMATURE_ORACLE
// is a duration, for which new worlds are drawn on each database, and
// ARMATURE_ORACLE_SEED the seed of the first.
const questions = 120

// sample is how many documents, of the first and of the last, are read one by one.
const sample = 15

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
					database = sitetest.Postgres(t)
				}
				t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) { asked += compareWorld(t, sitetest.New(t, database), seed) })
				if t.Failed() {
					return
				}
			}
			t.Logf("seeds %d to %d, %d questions", first, seed-1, asked)
		})
	}
}

func compareWorld(t *testing.T, s *sitetest.Server, seed uint64) (asked int) {
	w := drawWorld(seed)
	clients := w.serve(t, s)
	d := &drawer{rand.New(rand.NewPCG(seed, 2)), w}
	for n := range 30 {
		d.change(t, clients, n)
	}
	for i, p := range w.callers {
		compareDocuments(t, clients[i], &oracle{w: w, p: p})
	}
	for n := 0; n < questions && !t.Failed(); n++ {
		if differs := d.compare(t, clients); differs != "" {
			t.Errorf("seed %d, %s\n%s", seed, differs, w)
		}
	}
	return questions
}

// compare asks the server and the oracle one question; empty: they agree.
func (d *drawer) compare(t *testing.T, clients []*sitetest.Client) string {
	q, i := d.question(), d.IntN(len(clients))
	p := d.w.callers[i]
	want, got := (&oracle{w: d.w, p: p}).answer(q), ask(t, clients[i], q)
	if a, b := shown(q, want), shown(q, got); a != b {
		return fmt.Sprintf("%s asks %s\n got %s\nwant %s", p.name, q, b, a)
	}
	return ""
}

// compareDocuments reads every document by itself, with what its links lead to,
// and has its rights explained.
func compareDocuments(t *testing.T, c *sitetest.Client, o *oracle) {
	for _, k := range o.w.types {
		for i, r := range o.w.records[k.name] {
			if i >= sample && i < len(o.w.records[k.name])-sample {
				continue
			}
			told := func(what string, reply *sitetest.Reply, want any) {
				t.Helper()
				t.Fatalf("%s %s %s %s: %d %s, want %v\n%s", o.p.name, what, k.name, r.name, reply.Status, reply.Text, want, o.w)
			}
			reply := c.On(t).Get(address(k, r))
			if !o.sees(k, r, "read") {
				if reply.Status != 403 {
					told("reads", reply, 403)
				}
				continue
			}
			if reply.Status != 200 {
				told("reads", reply, 200)
			}
			if got, want := text(drawn(reply.Data(t))), text(o.whole(k, r)); got != want {
				told("reads", reply, want)
			}
			reply = c.On(t).Get(address(k, r), "expand_links", true)
			if want := map[bool]int{true: 200, false: 403}[o.readsLinks(k, r, o.levels(k))]; reply.Status != want {
				told("reads with links", reply, want)
			}
			for _, right := range []string{"write", "delete"}[i%2:] {
				reply := c.On(t).Get("/api/method/framework.client.explain_permission", "doctype", k.name, "name", r.name, "ptype", right)
				if got, _ := reply.Message(t).(map[string]any)["allowed"].(bool); got != o.sees(k, r, right) {
					told("may "+right, reply, !got)
				}
			}
		}
	}
}

// whole is what the caller sees of a document: nothing that is null.
func (o *oracle) whole(k *kind, r *record) map[string]any {
	all := o.part(k, r, o.levels(k))
	all["name"] = r.name
	return all
}

func (o *oracle) part(k *kind, r *record, levels []int) map[string]any {
	all := map[string]any{"name": r.name}
	for _, f := range k.fields {
		switch v := r.value(f.name); {
		case !slices.Contains(levels, f.level):
		case f.typ == "Table":
			rows := []any{}
			for _, row := range r.rows[f.name] {
				rows = append(rows, o.part(o.w.kind(f.to), row, levels))
			}
			all[f.name] = rows
		case v != nil:
			all[f.name] = v
		}
	}
	return all
}

// readsLinks reports whether the caller reads what every link leads to that is
// shown.
func (o *oracle) readsLinks(k *kind, r *record, levels []int) bool {
	for _, f := range k.fields {
		if !slices.Contains(levels, f.level) {
			continue
		}
		for _, row := range r.rows[f.name] {
			if !o.readsLinks(o.w.kind(f.to), row, levels) {
				return false
			}
		}
		if name, _ := r.value(f.name).(string); f.typ == "Link" && name != "" && !o.sees(o.w.kind(f.to), o.w.record(f.to, name), "read") {
			return false
		}
	}
	return true
}

// ask asks the server, by REST or by the methods that do the same.
func ask(t *testing.T, c *sitetest.Client, q *question) answer {
	t.Helper()
	args, path := q.args(), "/api/resource/"+q.kind.name
	switch {
	case q.counted:
		path = "/api/method/framework.client.get_count"
		delete(args, "fields")
		delete(args, "limit")
	case q.method:
		path = "/api/method/framework.client.get_list"
	}
	var params []any
	for name, v := range args {
		params = append(params, name, v)
	}
	if q.counted || q.method {
		params = append(params, "doctype", q.kind.name)
	}
	reply := c.On(t).Get(path, params...)
	if reply.Status == 403 {
		return answer{denied: true}
	}
	if reply.Status != 200 {
		t.Fatalf("%s: %d %s", q, reply.Status, reply.Text)
	}
	rows := []map[string]any{}
	if q.counted {
		return answer{rows: append(rows, map[string]any{"c": reply.Message(t)})}
	}
	list := reply.Body["data"]
	if q.method {
		list = reply.Message(t)
	}
	for _, one := range list.([]any) {
		row := one.(map[string]any)
		for _, link := range q.expand {
			if full, ok := row[link].(map[string]any); ok {
				row[link] = drawn(full)
			}
		}
		rows = append(rows, row)
	}
	return answer{rows: rows}
}

// drawn is a document without the fields that no world draws.
func drawn(full map[string]any) map[string]any {
	for _, name := range []string{"owner", "creation", "modified", "modified_by", "docstatus", "idx", "doctype", "is_group", "parent", "parenttype", "parentfield"} {
		delete(full, name)
	}
	for _, v := range full {
		rows, _ := v.([]any)
		for _, row := range rows {
			drawn(row.(map[string]any))
		}
	}
	return full
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
	if !q.ordered() {
		slices.Sort(lines)
	}
	return text(lines)
}

// text is a value as JSON, with no more digits than two ways of adding up have
// in common.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case map[string]any:
		if f, ok := v["s"].(float64); ok {
			v["s"] = math.Round(f*1e6) / 1e6
		}
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
