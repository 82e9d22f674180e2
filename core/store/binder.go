package store

import (
	"strconv"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"
)

// param is a numbered placeholder. bun writes values into the SQL text by
// default; a param makes it write "$3" instead, and the value travels as an
// argument of the statement.
type param struct {
	start  byte
	n      int
	hidden bool
}

// AppendQuery implements schema.QueryAppender.
func (p param) AppendQuery(_ schema.QueryGen, dst []byte) ([]byte, error) {
	if p.hidden {
		dst = append(dst, "(SELECT "...)
	}
	dst = strconv.AppendInt(append(dst, p.start), int64(p.n), 10)
	if p.hidden {
		dst = append(dst, ')')
	}
	return dst, nil
}

// params numbers the placeholders of one statement in the order of its
// arguments, from 1.
type params struct {
	start byte
	n     int

	// hidden keeps the values from the planner, which plans a statement anew for
	// each of them where it sees them.
	hidden bool
}

func (e *engine) params() *params { return &params{start: e.placeholder} }

// next is the placeholder of the next argument.
func (p *params) next() param {
	p.n++
	return param{p.start, p.n, p.hidden}
}

// expr is a piece of SQL with its identifiers and placeholders still apart.
// bun joins them.
func expr(format string, args ...any) schema.QueryWithArgs {
	return bun.SafeQuery(format, args...)
}

// joined is pieces with a separator between them.
type joined struct {
	sep   string
	parts []schema.QueryAppender
}

func (l *joined) add(format string, args ...any) {
	l.parts = append(l.parts, expr(format, args...))
}

// AppendQuery implements schema.QueryAppender.
func (l *joined) AppendQuery(gen schema.QueryGen, dst []byte) (_ []byte, err error) {
	for i, part := range l.parts {
		if i > 0 {
			dst = append(dst, l.sep...)
		}
		if dst, err = part.AppendQuery(gen, dst); err != nil {
			return nil, err
		}
	}
	return dst, nil
}
