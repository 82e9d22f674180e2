// Package judge decides whether a history of transactions on lists could have come
// about by running them one after the other.
//
// Transactions read lists and append to them; every value is appended once. A list
// tells in which order its values came, so the order of the transactions follows
// from what they saw: that is the idea of Elle (Kingsbury and Alvaro, "Elle:
// Inferring Isolation Anomalies from Experimental Observations", VLDB 2020), from
// which the names of the findings come, too. Here is so much of it as lists need.
package judge

import (
	"fmt"
	"slices"
)

// Outcome is what its client knows of a transaction.
type Outcome uint8

const (
	Unknown Outcome = iota // it may have been committed, or may yet be
	Done
	Failed // it was not committed
)

// Op is one step of a transaction.
type Op struct {
	Key    string
	Append int64   // the value appended; 0: the list was read
	Read   []int64 // what was read
}

// Txn is one transaction.
type Txn struct {
	By      string // whose it is, for the report
	Ops     []Op
	Outcome Outcome
}

// Kind is what is wrong with a history.
type Kind string

const (
	Duplicate    Kind = "duplicate"     // a value is in a list twice
	Lost         Kind = "lost update"   // a value that was acknowledged is in no list
	Aborted      Kind = "G1a"           // a value of a transaction that failed was read
	Intermediate Kind = "G1b"           // a list was read as it was amid a transaction
	Internal     Kind = "internal"      // a transaction did not see its own
	Forked       Kind = "incompatible"  // two reads of a list agree on no order
	Dirty        Kind = "G0"            // a cycle of writes
	Circular     Kind = "G1c"           // a cycle of writes and reads of them
	ReadSkew     Kind = "G-single"      // a cycle with one read of what was overwritten
	WriteSkew    Kind = "G2"            // a cycle with several
	Foreign      Kind = "unknown value" // a value that nobody appended was read
)

// Finding is one thing that is wrong.
type Finding struct {
	Kind Kind
	Text string
}

func (f Finding) String() string { return string(f.Kind) + ": " + f.Text }

// history is what Check knows.
type history struct {
	txns    []Txn
	writer  map[int64]int      // of each value, by index
	order   map[string][]int64 // of each key: the longest list that was read
	found   []Finding
	flagged map[string]bool
}

// Check lists what is wrong with a history: nothing, if its transactions may have
// run one after the other. It should end with a read of every key, so that what
// was lost is missed.
func Check(txns []Txn) []Finding {
	h := &history{txns: txns, writer: map[int64]int{}, order: map[string][]int64{}, flagged: map[string]bool{}}
	for i, t := range txns {
		for _, op := range t.Ops {
			if op.Append != 0 {
				h.writer[op.Append] = i
			}
		}
	}
	for i := range txns {
		if txns[i].Outcome == Done {
			h.own(i)
			h.reads(i)
		}
	}
	h.acknowledged()
	h.cycles()
	return h.found
}

func (h *history) find(kind Kind, format string, args ...any) {
	f := Finding{kind, fmt.Sprintf(format, args...)}
	if !h.flagged[f.String()] {
		h.flagged[f.String()] = true
		h.found = append(h.found, f)
	}
}

// own checks that a transaction sees what it did itself.
func (h *history) own(i int) {
	last := map[string][]int64{}
	seen := map[string]bool{}
	for _, op := range h.txns[i].Ops {
		known := last[op.Key]
		switch {
		case op.Append != 0:
			last[op.Key] = append(slices.Clip(known), op.Append)
			continue
		case seen[op.Key] && !slices.Equal(op.Read, known):
			h.find(Internal, "%s reads %s as %v after %v", h.txns[i].By, op.Key, op.Read, known)
		case !seen[op.Key] && !endsWith(op.Read, known):
			h.find(Internal, "%s reads %s as %v after appending %v", h.txns[i].By, op.Key, op.Read, known)
		}
		last[op.Key], seen[op.Key] = op.Read, true
	}
}

func endsWith(list, end []int64) bool {
	return len(list) >= len(end) && slices.Equal(list[len(list)-len(end):], end)
}

// reads checks each list that a transaction read, and keeps the longest.
func (h *history) reads(i int) {
	for _, op := range h.txns[i].Ops {
		if op.Append != 0 {
			continue
		}
		if v, twice := repeated(op.Read); twice {
			h.find(Duplicate, "%d is in %s twice", v, op.Key)
		}
		for _, v := range op.Read {
			w, known := h.writer[v]
			switch {
			case !known:
				h.find(Foreign, "%d is in %s", v, op.Key)
			case h.txns[w].Outcome == Failed:
				h.find(Aborted, "%d is in %s, of %s, which failed", v, op.Key, h.txns[w].By)
			}
		}
		if len(op.Read) > 0 {
			h.whole(i, op)
		}
		long, short := h.order[op.Key], op.Read
		if len(short) > len(long) {
			long, short = short, long
		}
		if !slices.Equal(long[:len(short)], short) {
			h.find(Forked, "%s was read as %v and as %v", op.Key, long, short)
		}
		h.order[op.Key] = long
	}
}

// whole checks that a read does not end amid what another transaction appended.
func (h *history) whole(i int, op Op) {
	end := op.Read[len(op.Read)-1]
	w, known := h.writer[end]
	if !known || w == i {
		return
	}
	var last int64
	for _, other := range h.txns[w].Ops {
		if other.Append != 0 && other.Key == op.Key {
			last = other.Append
		}
	}
	if last != end {
		h.find(Intermediate, "%s was read up to %d, amid %s", op.Key, end, h.txns[w].By)
	}
}

func repeated(list []int64) (int64, bool) {
	seen := make(map[int64]bool, len(list))
	for _, v := range list {
		if seen[v] {
			return v, true
		}
		seen[v] = true
	}
	return 0, false
}

// acknowledged looks for every value that was acknowledged.
func (h *history) acknowledged() {
	there := map[int64]bool{}
	for _, list := range h.order {
		for _, v := range list {
			there[v] = true
		}
	}
	for _, t := range h.txns {
		for _, op := range t.Ops {
			if t.Outcome == Done && op.Append != 0 && !there[op.Append] {
				h.find(Lost, "%d was appended to %s by %s and is not there", op.Append, op.Key, t.By)
			}
		}
	}
}
