package store

import (
	"container/list"
	"context"
	"database/sql"
	"sync"
)

// maxPrepared is how many statements a pool keeps ready: about the shapes that
// a busy site uses.
const maxPrepared = 256

// preparer is a pool or a connection.
type preparer interface {
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}

// statements keeps the statements used last ready to run: preparing one costs
// as much as running it.
type statements struct {
	on    preparer
	limit int

	mu    sync.Mutex
	byKey map[string]*prepared
	order list.List // of *prepared, last used first
}

// prepared is one statement. It is closed when it has left the cache and the
// last who runs it is done.
type prepared struct {
	of   *statements
	text string
	stmt *sql.Stmt
	at   *list.Element
	uses int // by callers, and one by the cache
}

func newStatements(on preparer, limit int) *statements {
	return &statements{on: on, limit: limit, byKey: make(map[string]*prepared)}
}

// take returns the statement of a text. The caller releases it.
func (s *statements) take(ctx context.Context, text string) (*prepared, error) {
	if p := s.cached(text); p != nil {
		return p, nil
	}
	stmt, err := s.on.PrepareContext(context.WithoutCancel(ctx), text)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, ok := s.byKey[text]; ok { // another was faster
		p.uses++
		return p, stmt.Close()
	}
	p := &prepared{of: s, text: text, stmt: stmt, uses: 2}
	p.at = s.order.PushFront(p)
	s.byKey[text] = p
	if s.order.Len() > s.limit {
		s.evict(s.order.Back().Value.(*prepared))
	}
	return p, nil
}

func (s *statements) cached(text string) *prepared {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.byKey[text]
	if !ok {
		return nil
	}
	s.order.MoveToFront(p.at)
	p.uses++
	return p
}

// evict forgets a statement. s.mu is held.
func (s *statements) evict(p *prepared) {
	s.order.Remove(p.at)
	delete(s.byKey, p.text)
	p.drop()
}

// query runs the statement of a text, which it prepares where nobody has.
func (s *statements) query(ctx context.Context, st *statement, args []any, fn rowFunc) error {
	p, err := s.take(ctx, st.text)
	if err != nil {
		return err
	}
	defer p.release()
	rows, err := p.stmt.QueryContext(ctx, args...)
	return scan(rows, err, st, fn)
}

func (p *prepared) drop() {
	if p.uses--; p.uses == 0 {
		_ = p.stmt.Close() // nothing to tell anybody
	}
}

func (p *prepared) release() {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	p.drop()
}

func (s *statements) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.order.Len() > 0 {
		s.evict(s.order.Back().Value.(*prepared))
	}
}
