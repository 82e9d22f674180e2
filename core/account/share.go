package account

import "sync/atomic"

// share is what one of those who hold memory may hold of it.
type share struct {
	most int64 // bytes
	held atomic.Int64
}

// add takes n bytes if the share has them.
func (s *share) add(n int64) bool {
	if s.held.Add(n) <= s.most {
		return true
	}
	s.held.Add(-n)
	return false
}

// shares are all those that the same bytes count for.
type shares [5]*share

// add takes n bytes of each, or of none; then it returns the share that has not got
// them.
func (list *shares) add(n int64) (short *share) {
	for i, s := range list {
		if s != nil && !s.add(n) {
			for _, before := range list[:i] {
				if before != nil {
					before.held.Add(-n)
				}
			}
			return s
		}
	}
	return nil
}

// give gives n bytes of each back.
func (list *shares) give(n int64) {
	for _, s := range list {
		if s != nil {
			s.held.Add(-n)
		}
	}
}
