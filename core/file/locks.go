package file

import "sync"

// locks is a mutex for each key that somebody holds or waits for.
type locks struct {
	mu   sync.Mutex
	held map[string]*waiting
}

type waiting struct {
	sync.Mutex
	n int // holders and waiters
}

// lock waits for the key and returns what gives it back.
func (l *locks) lock(key string) (unlock func()) {
	l.mu.Lock()
	if l.held == nil {
		l.held = make(map[string]*waiting)
	}
	w := l.held[key]
	if w == nil {
		w = &waiting{}
		l.held[key] = w
	}
	w.n++
	l.mu.Unlock()
	w.Lock()
	return func() {
		w.Unlock()
		l.mu.Lock()
		defer l.mu.Unlock()
		if w.n--; w.n == 0 {
			delete(l.held, key)
		}
	}
}
