package store

import (
	"context"
)

// numbers are those that one call of Write has taken from counters outside of
// its transaction: inside, each who takes one would wait for, and then lose
// against, all who took one before. An attempt that is run again is given what
// the lost one had, and what no attempt has used goes back, unless another number
// was taken since: only then is a gap left.
type numbers struct {
	taken map[string][]int64
	used  map[string]int // by the attempt that runs
}

// again is before each attempt.
func (n *numbers) again() { clear(n.used) }

// next returns the next number of a counter.
func (n *numbers) next(counter string, take func() (int64, error)) (int64, error) {
	if n.taken == nil {
		n.taken, n.used = map[string][]int64{}, map[string]int{}
	}
	at := n.used[counter]
	if at == len(n.taken[counter]) {
		value, err := take()
		if err != nil {
			return 0, err
		}
		n.taken[counter] = append(n.taken[counter], value)
	}
	n.used[counter]++
	return n.taken[counter][at], nil
}

// giveBack returns what is left; kept says that the last attempt has committed.
func (n *numbers) giveBack(ctx context.Context, s *Store, kept bool) {
	for counter, values := range n.taken {
		least := 0
		if kept {
			least = n.used[counter]
		}
		for i := len(values) - 1; i >= least; i-- {
			// A number that is not given back is a gap and no error of the call.
			if n, err := s.exec(ctx, s.backend.reader(), s.own.giveBack, []any{counter, values[i]}); err != nil || n == 0 {
				break
			}
		}
	}
}
