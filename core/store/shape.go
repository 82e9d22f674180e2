package store

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"armature/core/doctype"
)

// statement is the text of one shape with what is known about its rows and
// its time.
type statement struct {
	text    string
	dt      *doctype.DocType // for messages; nil for the store's own tables
	cells   []cell           // output columns
	list    bool             // a list, whose best plan depends on its values
	planned bool             // a list for which it does not: see onePlan

	seeks    seeks
	fleeting bool // run once: not worth preparing
	passing  bool // the text is one run's, what it is of is not: described each time

	worst atomic.Int64 // how long the longest of the last thousands of runs took, in ns; 0: none ran
}

// worthCancelling is how long a list takes at worst before it is run under its
// context. Watching one costs a fifth of a small list, so shapes that are known
// to be quick are left to end by themselves.
const worthCancelling = 5 * time.Millisecond

// cancellable reports whether a run may take long: nothing is known of the
// shape, one of the last runs did, or how long a row takes is the client's choice.
func (st *statement) cancellable() bool {
	worst := st.worst.Load()
	return st.list && (worst == 0 || time.Duration(worst) > worthCancelling || strings.Contains(st.text, "LIKE "))
}

// note counts a run. A slow one is forgotten in thousands of quick ones, so that
// nobody hides slow values behind quick ones; that two at once may lose one is
// no harm.
func (st *statement) note(d time.Duration) {
	worst := st.worst.Load()
	st.worst.Store(max(int64(d), worst-worst/1024))
}

// cell is one output column.
type cell struct {
	field *doctype.Field // nil: a number
	key   []byte         // `"key":`
}

// Bounds of the caches. A site has tens of DocTypes and a client program a
// handful of shapes for each; whoever invents new ones only evicts.
const (
	maxTypes  = 1024
	maxShapes = 256
)

// shapes caches the statements of one DocType. It dies with the DocType's last
// use: a new schema version has new DocTypes.
type shapes struct {
	id    uint64 // names the DocType inside keys of others
	texts generations[string, *statement]
}

// types finds the shapes of a DocType.
type types struct {
	last atomic.Uint64
	all  generations[*doctype.DocType, *shapes]
}

func newTypes() *types {
	return &types{all: generations[*doctype.DocType, *shapes]{limit: maxTypes}}
}

func (t *types) shapes(dt *doctype.DocType) *shapes {
	if s, ok := t.all.get(dt); ok {
		return s
	}
	return t.all.put(dt, &shapes{
		id:    t.last.Add(1),
		texts: generations[string, *statement]{limit: maxShapes},
	})
}

// generations is a bounded map. When the young half is full it becomes the old
// one and what is still used moves back: near to least recently used, without a
// list to maintain on every read.
type generations[K comparable, V any] struct {
	limit int

	mu    sync.RWMutex
	young map[K]V
	old   map[K]V
}

func (g *generations[K, V]) get(key K) (V, bool) {
	g.mu.RLock()
	v, ok := g.young[key]
	if !ok {
		if v, ok = g.old[key]; ok {
			g.mu.RUnlock()
			return g.put(key, v), true
		}
	}
	g.mu.RUnlock()
	return v, ok
}

// put stores a value and returns the one that counts: the first stored.
func (g *generations[K, V]) put(key K, v V) V {
	g.mu.Lock()
	defer g.mu.Unlock()
	if first, ok := g.young[key]; ok {
		return first
	}
	if first, ok := g.old[key]; ok {
		v = first
	}
	if g.young == nil || len(g.young) >= g.limit/2 {
		g.old, g.young = g.young, make(map[K]V)
	}
	g.young[key] = v
	return v
}

// lookup is get for a key still in a buffer: it allocates nothing on a hit.
func (s *shapes) lookup(key []byte) (*statement, bool) {
	g := &s.texts
	g.mu.RLock()
	st, ok := g.young[string(key)]
	g.mu.RUnlock()
	if ok {
		return st, true
	}
	return g.get(string(key))
}
