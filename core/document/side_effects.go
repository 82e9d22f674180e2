package document

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"time"
)

// SideEffects is what one run of a function given to a Store does besides its Tx: the
// lines it logs, what it keeps in memory, what is counted of it. A Store may run
// the function again; of the runs before the last nothing may be seen. It belongs
// to the goroutine of its Tx.
type SideEffects struct {
	trial *Trial
	last  []func()
	kept  map[any]any

	rehearsal bool
}

// Begin is called by the Store before each run.
func (a *SideEffects) Begin(t *Trial) {
	*a = SideEffects{trial: t}
	t.begin()
}

// Rehearse says that nothing of this run is kept, whatever comes of it.
func (a *SideEffects) Rehearse() { a.rehearsal = true }

// Rehearses reports whether nothing of this run is kept.
func (a *SideEffects) Rehearses() bool { return a.rehearsal }

// Last has fn called once it is certain that the function is not run again,
// whether what it wrote is stored or not. The functions are called in the order
// in which they were given.
func (a *SideEffects) Last(fn func()) { a.last = append(a.last, fn) }

// Value returns what this run keeps under a key; the first time, what make returns.
func (a *SideEffects) Value(key any, build func() any) any {
	v, ok := a.kept[key]
	if !ok {
		if a.kept == nil {
			a.kept = map[any]any{}
		}
		v = build()
		a.kept[key] = v
	}
	return v
}

// Kept is what Value has made, or nil.
func (a *SideEffects) Kept(key any) any { return a.kept[key] }

// End is called by the Store when this run was the last.
func (a *SideEffects) End() {
	last := a.last
	a.last = nil
	for _, fn := range last {
		fn()
	}
}

// Trial is what the runs have in common.
func (a *SideEffects) Trial() *Trial { return a.trial }

// Continue makes this run another one of a trial that began with another function
// of the Store: a method that turns out to write is run again with a writer.
func (a *SideEffects) Continue(t *Trial) {
	if t != nil && a.trial != t {
		*a.trial = *t
		a.trial.begin()
	}
}

// Trial is what all runs of one function given to a Store have in common: the time
// at which they start and the random bytes they draw, so that a run again is the
// same run. The zero value is ready.
type Trial struct {
	first time.Time     // when the first run began
	late  time.Duration // by which this one began later
	spent bool

	key    []byte        // of the random bytes; nil: none were drawn
	random cipher.Stream // of this run; nil: none were drawn yet
}

func (t *Trial) begin() {
	t.random = nil
	now := time.Now()
	if t.first.IsZero() {
		t.first = now
	}
	t.late = now.Sub(t.first)
}

// Late is how much later than the first run this one began: what a clock is put
// back by that is to show each run the same time.
func (t *Trial) Late() time.Duration { return t.late }

// Spend says that the function has had an effect outside of the database which
// nothing undoes: it is not run again, and fails if it loses a race.
func (t *Trial) Spend() { t.spent = true }

// Spent reports whether the function may not be run again.
func (t *Trial) Spent() bool { return t.spent }

// Random fills b with random bytes fit for secrets, which are the same in each
// run: the stream of AES-256 in counter mode under a key that is drawn once.
func (t *Trial) Random(b []byte) {
	if t.key == nil {
		t.key = make([]byte, 32)
		_, _ = rand.Read(t.key) // never fails: it ends the process when the system has no entropy
	}
	if t.random == nil {
		block, err := aes.NewCipher(t.key)
		if err != nil {
			panic(err) // the key's length is right
		}
		t.random = cipher.NewCTR(block, make([]byte, aes.BlockSize))
	}
	clear(b)
	t.random.XORKeyStream(b, b)
}
