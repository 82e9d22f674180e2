package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"armature/cmd/armature/armaturetest"
	"armature/core/serve/loopback"
	"armature/core/store/judge"
)

// judgedPlugin reads lists and appends to them, as an author does who never heard of
// locks; every other one locks what it is about to change.
const judgedPlugin = `export const manifest = {
  methods: { run: { verbs: ["POST"] }, look: { verbs: ["GET"] } },
  doctypes: [{ name: "Judged List", autoname: "Prompt", fields: [{ fieldname: "list", fieldtype: "Long Text" }],
    permissions: [{ role: "System Manager", read: 1, write: 1, create: 1, delete: 1 }] }],
};
function find(key, lock = false) {
  try { return doc.get("Judged List", key, { lock }); } catch (e) { if (e instanceof NotFoundError) return null; throw e; }
}
export function run({ ops }) {
  return ops.map(({ key, append }) => {
    const d = find(key, append % 2 === 1);
    if (!append) return d ? d.list : "";
    if (d) doc.update("Judged List", key, { list: d.list + " " + append });
    else doc.insert("Judged List", { name: key, list: String(append) });
    return "";
  });
}
export function look({ keys }) { return JSON.parse(keys).map((key) => find(key)?.list ?? ""); }
`

// TestJudge: what guests and REST clients of several servers saw and were told,
// while servers and PostgreSQL's backends are killed, could have happened one after
// the other. ARMATURE_JUDGE says how long, as in ARMATURE_JUDGE=10m.
func TestJudge(t *testing.T) {
	length := 6 * time.Second
	if text := os.Getenv("ARMATURE_JUDGE"); text != "" {
		var err error
		if length, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("SQLite", func(t *testing.T) {
		in := armaturetest.New(t)
		in.Drop("judge.lists.js", judgedPlugin)
		m := &member{in: in, args: []string{"--listen", loopback.Free(t), "--log-level", "warn"}}
		m.Server = in.Serve(m.args...)
		c := &cluster{t: t, members: []*member{m}}
		c.judge(length)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		c := newCluster(t, 2)
		for _, m := range c.members {
			m.in.Drop("judge.lists.js", judgedPlugin)
		}
		c.start()
		c.judge(length)
	})
}

func (c *cluster) judge(length time.Duration) {
	t := c.t
	t.Helper()
	w := &witness{t: t, auth: c.members[0].in.Keys("Administrator")}
	for _, m := range c.members {
		w.urls = append(w.urls, m.URL)
		armaturetest.Eventually(t, "the plugin serves", func() bool {
			status, _, err := w.send(m.URL, "GET", "/api/method/judge.lists.look?keys=[]", nil)
			return err == nil && status == http.StatusOK
		})
	}
	stop := make(chan struct{})
	var work sync.WaitGroup
	for client := range 6 {
		work.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
					w.transact(fmt.Sprintf("%d/%d", client, n), w.urls[client%len(w.urls)])
				}
			}
		})
	}
	until := time.Now().Add(length)
	for round := 0; time.Now().Before(until); round++ {
		time.Sleep(min(length/4, 10*time.Second)) // what is killed has to have something to do
		if c.pg != nil && round%2 == 1 {
			c.pg.Crash(t)
			continue
		}
		m := c.members[round/2%len(c.members)]
		m.Kill()
		m.Server = m.in.Serve(m.args...)
	}
	close(stop)
	work.Wait()
	w.last()
	var count [3]int
	for _, txn := range w.history {
		count[txn.Outcome]++
	}
	t.Logf("%d transactions done, %d failed, %d unknown", count[judge.Done], count[judge.Failed], count[judge.Unknown])
	if count[judge.Done] < 20 {
		t.Error("too few transactions to say anything")
	}
	for i, f := range judge.Check(w.history) {
		if i < 10 {
			t.Error(f)
		}
	}
}

// witness makes requests and writes down what it saw and was told.
type witness struct {
	t    *testing.T
	auth string
	urls []string
	next atomic.Int64 // value
	keys atomic.Int64 // lists that grew long are left for new ones

	mu      sync.Mutex
	history []judge.Txn
}

func (w *witness) key() string { return fmt.Sprint("list ", w.keys.Load()*4+rand.Int64N(4)) }

// send makes a request. An error that wraps ECONNREFUSED says that nobody got it.
func (w *witness) send(server, verb, path string, body any) (int, json.RawMessage, error) {
	var text []byte
	if body != nil {
		text, _ = json.Marshal(body) // maps and texts
	}
	r, err := http.NewRequestWithContext(w.t.Context(), verb, server+path, bytes.NewReader(text))
	if err != nil {
		return 0, nil, err
	}
	r.GetBody = nil // no transport sends it twice
	r.Header.Set("Authorization", w.auth)
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	return res.StatusCode, answer, err
}

func (w *witness) note(by string, ops []judge.Op, status int, answer json.RawMessage, err error) {
	txn := judge.Txn{By: by, Ops: ops, Outcome: judge.Failed}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
	case err != nil, strings.Contains(string(answer), "is not known"):
		txn.Outcome = judge.Unknown
	case status == http.StatusOK:
		txn.Outcome = judge.Done
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.history = append(w.history, txn)
}

func (w *witness) transact(by, server string) {
	ops := make([]judge.Op, 1+rand.IntN(3))
	for i := range ops {
		ops[i].Key = w.key()
	}
	switch rand.IntN(4) {
	case 0:
		w.look(by, server, ops)
	case 1:
		w.put(by, server, ops[0].Key)
	default:
		for i := range ops {
			if rand.IntN(2) == 0 {
				ops[i].Append = w.next.Add(1)
			}
		}
		w.run(by, server, ops)
	}
}

// run has a guest read and append.
func (w *witness) run(by, server string, ops []judge.Op) {
	var steps []map[string]any
	for _, op := range ops {
		step := map[string]any{"key": op.Key}
		if op.Append != 0 {
			step["append"] = op.Append
		}
		steps = append(steps, step)
	}
	status, answer, err := w.send(server, "POST", "/api/method/judge.lists.run", map[string]any{"ops": steps})
	w.saw(by, ops, status, answer, err)
}

// look has a guest read several lists in a GET.
func (w *witness) look(by, server string, ops []judge.Op) {
	var keys []string
	for _, op := range ops {
		keys = append(keys, op.Key)
	}
	text, _ := json.Marshal(keys) // texts
	status, answer, err := w.send(server, "GET", "/api/method/judge.lists.look?keys="+url.QueryEscape(string(text)), nil)
	w.saw(by, ops, status, answer, err)
}

// saw fills in what a guest has read.
func (w *witness) saw(by string, ops []judge.Op, status int, answer json.RawMessage, err error) {
	if err == nil && status == http.StatusOK {
		var lists struct{ Message []string }
		if err := json.Unmarshal(answer, &lists); err != nil || len(lists.Message) != len(ops) {
			w.t.Errorf("%v in %s", err, answer)
			return
		}
		for i := range ops {
			if ops[i].Append == 0 {
				ops[i].Read = w.list(lists.Message[i])
			}
		}
	}
	w.note(by, ops, status, answer, err)
}

func (w *witness) list(text string) (list []int64) {
	for _, word := range strings.Fields(text) {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			w.t.Errorf("a list is %q", text)
		}
		list = append(list, n)
	}
	if len(list) > 40 {
		w.keys.Add(1)
	}
	return list
}

// put reads a document over REST and changes it where it is still the same.
func (w *witness) put(by, server, key string) {
	path := "/api/resource/Judged%20List/" + url.PathEscape(key)
	status, answer, err := w.send(server, "GET", path, nil)
	if err != nil || status != http.StatusOK {
		return
	}
	var doc struct {
		Data struct{ List, Modified string }
	}
	if err := json.Unmarshal(answer, &doc); err != nil {
		w.t.Errorf("%v in %s", err, answer)
		return
	}
	value := w.next.Add(1)
	ops := []judge.Op{{Key: key, Read: w.list(doc.Data.List)}, {Key: key, Append: value}}
	status, answer, err = w.send(server, "PUT", path, map[string]any{"list": doc.Data.List + " " + strconv.FormatInt(value, 10), "modified": doc.Data.Modified})
	w.note(by, ops, status, answer, err)
}

// last reads all lists, so that what was lost is missed.
func (w *witness) last() {
	var ops []judge.Op
	for i := range (w.keys.Load() + 1) * 4 {
		ops = append(ops, judge.Op{Key: fmt.Sprint("list ", i)})
	}
	for len(ops) > 0 {
		some := ops[:min(50, len(ops))]
		ops = ops[len(some):]
		armaturetest.Eventually(w.t, "the lists are read", func() bool {
			before := len(w.history)
			w.look("last", w.urls[0], some)
			return len(w.history) > before && w.history[len(w.history)-1].Outcome == judge.Done
		})
	}
}
