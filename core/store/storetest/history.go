package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/store/judge"
)

// Historian has workers read and append to lists, through several stores of one
// database, and writes down what they saw.
type Historian struct {
	Stores  []document.Store
	Workers int
	For     time.Duration
	// Again has workers repeat a transaction whose outcome is unknown, which they
	// must not: it is for seeing that the judge notices.
	Again bool
	// Begun is set while workers work: before and after nothing should break.
	Begun atomic.Bool

	t     testing.TB
	dt    *doctype.DocType
	sc    *doctype.Schema
	next  atomic.Int64         // value
	habit document.ViewHistory // of transactions that only read
	epoch atomic.Int64         // of the keys: lists that grew long are left

	mu      sync.Mutex
	history []judge.Txn
}

const listsAtOnce, longList = 5, 40

var errOnPurpose = errors.New("rolled back on purpose")

// Run makes a history of what the workers did, which ends with a read of all.
func (h *Historian) Run(t testing.TB) []judge.Txn {
	t.Helper()
	h.t = t
	h.dt = doctype.NewDocType(doctype.DocType{Name: "Kept List", Table: "tabKept List"}, []*doctype.Field{field("list", "Long Text")})
	h.sc = doctype.NewSchema(1, []*doctype.DocType{h.dt})
	err := h.Stores[0].Write(t.Context(), document.OwnTx, func(tx document.Tx) error { return tx.Migrate(t.Context(), h.dt) })
	if err != nil {
		t.Fatal(err)
	}
	h.Begun.Store(true)
	until := time.Now().Add(h.For)
	var workers sync.WaitGroup
	for w := range h.Workers {
		workers.Go(func() {
			for n := 0; time.Now().Before(until) && !t.Failed(); n++ {
				h.transact(fmt.Sprintf("%d/%d", w, n), h.Stores[w%len(h.Stores)])
			}
		})
	}
	workers.Wait()
	h.Begun.Store(false)
	h.readAll(t)
	return h.history
}

func (h *Historian) key() string {
	return fmt.Sprintf("list %d", h.epoch.Load()*listsAtOnce+rand.Int64N(listsAtOnce))
}

func (h *Historian) note(txn judge.Txn, err error) {
	switch {
	case err == nil:
		txn.Outcome = judge.Done
	case unknown(err):
		txn.Outcome = judge.Unknown
	default:
		txn.Outcome = judge.Failed
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.history = append(h.history, txn)
}

func unknown(err error) bool {
	return fault.KindOf(err) == fault.Unavailable && strings.Contains(err.Error(), "not known")
}

// transact does one thing or another.
func (h *Historian) transact(by string, s document.Store) {
	ctx := h.t.Context()
	plan := make([]judge.Op, 1+rand.IntN(4))
	for i := range plan {
		plan[i].Key = h.key()
		if rand.IntN(2) == 0 {
			plan[i].Append = h.next.Add(1)
		}
	}
	var ops []judge.Op
	run := func(tx document.Tx) error {
		ops = nil
		for _, op := range plan {
			done, err := h.step(ctx, tx, op)
			if err != nil {
				return err
			}
			ops = append(ops, done)
		}
		return nil
	}
	var err error
	switch rand.IntN(8) {
	case 0: // reads of one moment
		for i := range plan {
			plan[i].Append = 0
		}
		err = s.View(ctx, &h.habit, run)
	case 1: // one write by one statement
		plan = plan[:1]
		plan[0].Append = h.next.Add(1)
		err = s.Write(ctx, document.OneWrite, func(tx document.Tx) (err error) { ops, err = h.single(ctx, tx, plan[0]); return err })
	case 2:
		err = s.Write(ctx, document.OwnTx, func(tx document.Tx) error { return errors.Join(run(tx), errOnPurpose) })
	case 3:
		err = s.Write(ctx, document.GroupedTx, run)
	default:
		err = s.Write(ctx, document.OwnTx, run)
		if h.Again && unknown(err) {
			err = s.Write(ctx, document.OwnTx, run)
		}
	}
	if err != nil {
		ops = plan // what it would have appended; what it read counts for nothing
	}
	h.note(judge.Txn{By: by, Ops: ops}, err)
}

// step reads a list or appends to it, as an author does who never heard of locks.
func (h *Historian) step(ctx context.Context, tx document.Tx, op judge.Op) (judge.Op, error) {
	doc, err := tx.Get(ctx, h.sc, h.dt, op.Key, false)
	if fault.KindOf(err) == fault.NotFound {
		if op.Append == 0 {
			return op, nil
		}
		return op, tx.Insert(ctx, h.fresh(op))
	}
	if err != nil {
		return op, err
	}
	if op.Append == 0 {
		op.Read = numbers(doc.Text("list"))
		return op, nil
	}
	return op, h.append(ctx, tx, doc, op, "")
}

func (h *Historian) fresh(op judge.Op) *doctype.Document {
	return doc(h.dt, op.Key, "list", strconv.FormatInt(op.Append, 10))
}

func (h *Historian) append(ctx context.Context, tx document.Tx, d *doctype.Document, op judge.Op, expect string) error {
	text := d.Text("list")
	if strings.Count(text, " ") > longList {
		h.epoch.Add(1)
	}
	d.Put("list", text+" "+strconv.FormatInt(op.Append, 10))
	d.Values()[doctype.ColModified] = doctype.FormatDatetime(time.Unix(0, 0).Add(time.Duration(op.Append) * time.Second))
	ok, err := tx.Update(ctx, h.sc, d, []*doctype.Field{h.dt.Field("list"), h.dt.Columns[doctype.ColModified]}, nil, expect)
	if err == nil && !ok {
		return document.ErrLost
	}
	return err
}

// single is what a PUT of one document does: it reads it, and writes where it is
// still the same.
func (h *Historian) single(ctx context.Context, tx document.Tx, op judge.Op) ([]judge.Op, error) {
	d, err := tx.Get(ctx, h.sc, h.dt, op.Key, true)
	if fault.KindOf(err) == fault.NotFound {
		return []judge.Op{op}, tx.Insert(ctx, h.fresh(op))
	}
	if err != nil {
		return nil, err
	}
	saw := judge.Op{Key: op.Key, Read: numbers(d.Text("list"))}
	return []judge.Op{saw, op}, h.append(ctx, tx, d, op, d.Modified())
}

func numbers(text string) []int64 {
	var all []int64
	for _, word := range strings.Fields(text) {
		n, _ := strconv.ParseInt(word, 10, 64) // we wrote it
		all = append(all, n)
	}
	return all
}

// readAll ends the history: who was lost is missed.
func (h *Historian) readAll(t testing.TB) {
	t.Helper()
	last := judge.Txn{By: "last", Outcome: judge.Done}
	for attempt := 1; ; attempt++ {
		last.Ops = nil
		err := h.Stores[0].View(t.Context(), nil, func(tx document.Tx) error {
			last.Ops = nil
			for i := range (h.epoch.Load() + 1) * listsAtOnce {
				op, err := h.step(t.Context(), tx, judge.Op{Key: fmt.Sprintf("list %d", i)})
				if err != nil {
					return err
				}
				last.Ops = append(last.Ops, op)
			}
			return nil
		})
		if err == nil {
			break
		}
		if attempt == 5 {
			t.Fatal(err)
		}
	}
	h.history = append(h.history, last)
}
