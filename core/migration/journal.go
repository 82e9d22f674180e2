package migration

import (
	"context"
	"fmt"

	"armature/core/document"
)

// entry is the line of the journal of one step.
type entry struct {
	number int64
	step   string
	cursor string
	done   bool
	exists bool
}

func (e *entry) name() string { return fmt.Sprintf("%d %s", e.number, e.step) }

// readEntry reads how far a step came.
func readEntry(ctx context.Context, tx document.Tx, m Migration, step Step) (*entry, error) {
	e := &entry{number: m.Number, step: step.Name}
	doc, err := tx.Get(ctx, schema(), tables().journal, e.name(), false)
	if e.exists, err = found(err); err != nil || !e.exists {
		return e, err
	}
	e.cursor, e.done = doc.Text("cursor"), doc.Bool("done")
	return e, nil
}

// write notes where the step goes on; "": it is done.
func (e *entry) write(ctx context.Context, tx document.Tx, cursor string) error {
	done := int64(0)
	if cursor == "" {
		done = 1
	}
	if e.exists {
		_, err := tx.UpdateIf(ctx, tables().journal, e.name(), nil, map[string]any{"cursor": cursor, "done": done})
		return err
	}
	return tx.Insert(ctx, stamped(tables().journal, map[string]any{
		"name": e.name(), "number": e.number, "step": e.step, "cursor": cursor, "done": done,
	}))
}
