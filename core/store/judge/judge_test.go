package judge_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"armature/core/store/judge"
)

func read(key string, list ...int64) judge.Op { return judge.Op{Key: key, Read: list} }
func add(key string, v int64) judge.Op        { return judge.Op{Key: key, Append: v} }

func done(ops ...judge.Op) judge.Txn { return judge.Txn{By: "t", Ops: ops, Outcome: judge.Done} }

// TestFindings: each anomaly is found, by its name.
func TestFindings(t *testing.T) {
	failed := judge.Txn{By: "f", Ops: []judge.Op{add("x", 9)}, Outcome: judge.Failed}
	unknown := judge.Txn{By: "u", Ops: []judge.Op{add("x", 9)}}
	for _, tt := range []struct {
		name    string
		history []judge.Txn
		want    []judge.Kind
	}{
		{"one after the other", []judge.Txn{done(add("x", 1)), done(read("x", 1), add("x", 2)), done(read("x", 1, 2))}, nil},
		{"unknown and done", []judge.Txn{unknown, done(read("x", 9))}, nil},
		{"unknown and not done", []judge.Txn{unknown, done(read("x"))}, nil},
		{"failed", []judge.Txn{failed, done(read("x"))}, nil},
		{"of one that failed", []judge.Txn{failed, done(read("x", 9))}, []judge.Kind{judge.Aborted}},
		{"twice", []judge.Txn{done(add("x", 1)), done(read("x", 1, 1))}, []judge.Kind{judge.Duplicate}},
		{"lost", []judge.Txn{done(add("x", 1)), done(add("x", 2)), done(read("x", 2))}, []judge.Kind{judge.Lost}},
		{"nobody's", []judge.Txn{done(read("x", 5))}, []judge.Kind{judge.Foreign}},
		{"amid", []judge.Txn{done(add("x", 1), add("x", 2)), done(read("x", 1)), done(read("x", 1, 2))}, []judge.Kind{judge.Intermediate, judge.ReadSkew}},
		{"not its own", []judge.Txn{done(add("x", 1), read("x")), done(read("x", 1))}, []judge.Kind{judge.Internal}},
		{"not the same again", []judge.Txn{done(add("x", 1)), done(read("x"), read("x", 1))}, []judge.Kind{judge.Internal, judge.ReadSkew}},
		{"forked", []judge.Txn{done(add("x", 1)), done(add("x", 2)), done(read("x", 1)), done(read("x", 2))},
			[]judge.Kind{judge.Forked, judge.Lost}},
		{"written in a circle", []judge.Txn{done(add("x", 1), add("y", 2)), done(add("x", 3), add("y", 4)), done(read("x", 1, 3), read("y", 4, 2))},
			[]judge.Kind{judge.Dirty}},
		{"seen in a circle", []judge.Txn{done(add("x", 1), read("y", 2)), done(add("y", 2), read("x", 1))}, []judge.Kind{judge.Circular}},
		{"read skew", []judge.Txn{done(add("x", 1), add("y", 2)), done(read("x", 1), read("y")), done(read("y", 2))}, []judge.Kind{judge.ReadSkew}},
		{"write skew", []judge.Txn{done(read("x"), add("y", 2)), done(read("y"), add("x", 1)), done(read("x", 1), read("y", 2))}, []judge.Kind{judge.WriteSkew}},
	} {
		var got []judge.Kind
		for _, f := range judge.Check(tt.history) {
			if !slices.Contains(got, f.Kind) {
				got = append(got, f.Kind)
			}
		}
		slices.Sort(got)
		slices.Sort(tt.want)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, judge.Check(tt.history), tt.want)
		}
	}
}

// TestSerialHistories: what was run one after the other is never accused.
func TestSerialHistories(t *testing.T) {
	for range 200 {
		lists := map[string][]int64{}
		var history []judge.Txn
		next := int64(0)
		for range 50 {
			txn := judge.Txn{By: fmt.Sprint(len(history)), Outcome: judge.Outcome(rand.IntN(3))}
			was := map[string][]int64{}
			for k, l := range lists {
				was[k] = slices.Clone(l)
			}
			for range 1 + rand.IntN(4) {
				key := string(rune('a' + rand.IntN(4)))
				if rand.IntN(2) == 0 {
					txn.Ops = append(txn.Ops, read(key, slices.Clone(lists[key])...))
					continue
				}
				next++
				lists[key] = append(lists[key], next)
				txn.Ops = append(txn.Ops, add(key, next))
			}
			if txn.Outcome == judge.Failed || txn.Outcome == judge.Unknown && rand.IntN(2) == 0 {
				lists = was
			}
			history = append(history, txn)
		}
		last := judge.Txn{By: "last", Outcome: judge.Done}
		for k, l := range lists {
			last.Ops = append(last.Ops, read(k, l...))
		}
		if found := judge.Check(append(history, last)); found != nil {
			t.Fatalf("%v", found)
		}
	}
}
