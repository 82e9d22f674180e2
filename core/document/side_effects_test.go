package document_test

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"armature/core/document"
)

// TestTrial: each run of a trial draws the same random bytes, however it draws them,
// and is told the same time; another trial draws others.
func TestTrial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var trial, other document.Trial
		var aside document.SideEffects
		draw := func(of *document.Trial, sizes ...int) (all []byte) {
			aside.Begin(of)
			for _, n := range sizes {
				b := bytes.Repeat([]byte{7}, n)
				aside.Trial().Random(b)
				all = append(all, b...)
			}
			return all
		}
		begun := time.Now()
		first := draw(&trial, 10, 30, 1)
		time.Sleep(time.Minute)
		if again := draw(&trial, 1, 40); !bytes.Equal(again, first) {
			t.Errorf("%x, then %x", first, again)
		}
		time.Sleep(time.Second)
		if told := time.Now().Add(-trial.Late()); !told.Equal(begun.Add(time.Second)) {
			t.Errorf("a second after the begin it is %v, the trial began at %v", told, begun)
		}
		if bytes.Equal(draw(&other, 41), first) {
			t.Error("two trials draw the same")
		}
	})
}

// TestAside: what is left for the end is done in order, once, and only of the last run.
func TestAside(t *testing.T) {
	var trial document.Trial
	var aside document.SideEffects
	var done []int
	for run := range 2 {
		aside.Begin(&trial)
		for i := range 2 {
			aside.Last(func() { done = append(done, run*10+i) })
		}
		made := aside.Value("key", func() any { return run })
		if made != run || aside.Value("key", func() any { return -1 }) != run {
			t.Errorf("run %d keeps %v", run, made)
		}
	}
	aside.End()
	aside.End()
	if len(done) != 2 || done[0] != 10 || done[1] != 11 {
		t.Errorf("done %v", done)
	}
}
