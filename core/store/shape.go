package store

import (
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

	fleeting bool // run once: not worth preparing

	took atomic.Int64 // moving average of how long a list took, in ns
}

// worthCancelling is how long a list takes on average before it is run under
// its context. Watching one costs as much as a small list, so quick shapes are
// left to end by themselves.
const worthCancelling = 5 * time.Millisecond

func (st *statement) cancellable() bool {
	return st.list && time.Duration(st.took.Load()) > worthCancelling
}

// note counts a run for the average; that two at once may lose one is no harm.
func (st *statement) note(d time.Duration) {
	took := st.took.Load()
	st.took.Store(took + (int64(d)-took)/8)
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
