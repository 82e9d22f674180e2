package store

import (
	"context"
	"encoding/binary"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"armature/core/doctype"
	"armature/core/document"
)

// insertNeeding inserts a row if every needed document exists.
func (s *Store) insertNeeding(ctx context.Context, c conn, dt *doctype.DocType, values []any, needs []document.Need) error {
	st, err := s.statement(dt, string(s.appendNeedKeys([]byte("insert"), needs)), func() (schema.QueryAppender, []cell) {
		p := s.engine.params()
		row := places(p, len(dt.Columns))
		return expr("INSERT INTO ? (?) SELECT ? WHERE ?", bun.Name(dt.Table), columnList(dt.Columns), row, exist(p, needs)), nil
	})
	if err != nil {
		return err
	}
	args := make([]any, 0, len(values)+len(needs))
	n, err := s.exec(ctx, c, st, appendNeeds(append(args, values...), needs))
	if err == nil && n == 0 {
		return document.ErrUnmet
	}
	return err
}

// exist is the condition that every needed document exists.
func exist(p *params, needs []document.Need) schema.QueryAppender {
	all := &joined{sep: " AND "}
	for _, need := range needs {
		all.add("EXISTS (SELECT 1 FROM ? WHERE ? = ?)", bun.Name(need.DocType.Table), bun.Name("name"), p.next())
	}
	return all
}

func appendNeeds(args []any, needs []document.Need) []any {
	for _, need := range needs {
		args = append(args, need.Name)
	}
	return args
}

// appendNeedKeys tells statements apart that need documents of other DocTypes.
func (s *Store) appendNeedKeys(key []byte, needs []document.Need) []byte {
	for _, need := range needs {
		key = binary.AppendUvarint(append(key, '?'), s.types.shapes(need.DocType).id)
	}
	return key
}

// places are the placeholders of n arguments.
func places(p *params, n int) schema.QueryAppender {
	all := &joined{sep: ", "}
	for range n {
		all.add("?", p.next())
	}
	return all
}
