package auth

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
)

const (
	// epochAge is how long a request may rely on an epoch read before.
	epochAge = 500 * time.Millisecond
	// maxKnown bounds the memory of a generation. Only keys whose secret was right
	// are kept, so nobody can fill it by guessing.
	maxKnown = 10_000
)

// known is what was looked up under the current epoch.
type known struct {
	store   document.Store
	clock   func() time.Time
	start   time.Time
	reading chan struct{} // holds a token while nobody reads the epoch
	current atomic.Pointer[generation]

	mu        sync.Mutex
	forgotten int // how often forget was called; guarded by mu, as is storing current
}

// generation is what was read after its epoch had been read and before another
// one was: it holds nothing older than its epoch.
type generation struct {
	epoch int64
	until atomic.Int64 // when the epoch has to be read again, since known.start

	mu    sync.RWMutex
	users map[string]*identity.Caller
	keys  map[string]*keyEntry

	sessions map[string]*knownSession // by hashed id
	others   map[string]any           // what Remember keeps
}

// keyEntry is an API key whose secret has been right.
type keyEntry struct {
	hash    string // as stored beside the key
	caller  *identity.Caller
	expires int64        // seconds; 0: never
	used    atomic.Int64 // when that was last noted
}

func newKnown(store document.Store, clock func() time.Time) *known {
	k := &known{store: store, clock: clock, start: clock(), reading: make(chan struct{}, 1)}
	k.reading <- struct{}{}
	return k
}

// generation returns the current one, after reading the epoch if the last
// reading is too old; Unavailable when that fails. Who looks something up takes
// the generation first and puts the result there, so that a look-up which a
// change overtakes is forgotten with its generation.
func (k *known) generation(ctx context.Context) (*generation, error) {
	if g := k.current.Load(); g != nil && k.age() < g.until.Load() {
		return g, nil
	}
	select {
	case <-k.reading:
	case <-ctx.Done():
		return nil, fault.From(ctx.Err())
	}
	defer func() { k.reading <- struct{}{} }()

	k.mu.Lock()
	old, forgotten := k.current.Load(), k.forgotten
	k.mu.Unlock()
	now := k.age()
	if old != nil && now < old.until.Load() {
		return old, nil // somebody else has just read it
	}
	versions, err := k.store.Versions(ctx)
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, "", err, "Credentials cannot be checked at the moment")
	}
	if old != nil && old.epoch == versions.Epoch {
		old.until.Store(now + int64(epochAge))
		return old, nil
	}
	g := &generation{epoch: versions.Epoch, users: map[string]*identity.Caller{}, keys: map[string]*keyEntry{}, sessions: map[string]*knownSession{}}
	g.until.Store(now + int64(epochAge))
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.forgotten == forgotten {
		k.current.Store(g)
	}
	return g, nil
}

// age is the time since the start, in nanoseconds: monotonic, so that setting
// the machine's clock back does not keep a revoked key alive.
func (k *known) age() int64 { return int64(k.clock().Sub(k.start)) }

// forget makes the next request read everything again: a process does not see
// its own past for half a second.
func (k *known) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.forgotten++
	k.current.Store(nil)
}

func (g *generation) user(name string) *identity.Caller {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.users[name]
}

func (g *generation) putUser(c *identity.Caller) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.users) >= maxKnown {
		clear(g.users)
	}
	g.users[c.User] = c
}

func (g *generation) key(key string) *keyEntry {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.keys[key]
}

func (g *generation) putKey(key string, e *keyEntry) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.keys) >= maxKnown {
		clear(g.keys)
	}
	g.keys[key] = e
}

func (g *generation) session(name string) *knownSession {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.sessions[name]
}

// putSession is for sessions that exist, so that guessing fills no memory.
func (g *generation) putSession(name string, e *knownSession) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.sessions) >= maxKnown {
		clear(g.sessions)
	}
	g.sessions[name] = e
}
