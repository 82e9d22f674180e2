package installed

import (
	"context"
	"time"

	"armature/core/document"
	"armature/core/fault"
)

// countAtEnd is how long a site that closes waits for counting.
const countAtEnd = 2 * time.Second

// Count adds the calls of this process to the records of the plugins. Nobody has
// to look because of it, so the epoch stays.
func (s *Site) Count(ctx context.Context) {
	if s.cfg.Observer {
		return
	}
	for plugin, t := range s.cfg.Tallies.All() {
		calls, failed := t.Take()
		if calls == 0 {
			t.Return(0, failed) // its call comes next
			continue
		}
		if err := s.add(ctx, plugin, calls, failed); err != nil {
			t.Return(calls, failed)
			if ctx.Err() == nil {
				s.log.Warn("write down the calls of a plugin", "plugin", plugin, "error", err)
			}
		}
	}
}

// add adds to the counts of a record, if there is one.
func (s *Site) add(ctx context.Context, plugin string, calls, failed int64) error {
	sv := s.cfg.Services()
	if sv.Store == nil {
		return fault.New(fault.Unavailable, "", "The site is not open")
	}
	return sv.Store.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		schema := sv.Documents.Schema()
		dt := schema.DocType(pluginType)
		doc, err := tx.Get(ctx, schema, dt, plugin, true)
		if fault.KindOf(err) == fault.NotFound {
			return nil
		}
		if err != nil {
			return err
		}
		_, err = tx.UpdateIf(ctx, dt, plugin, nil, map[string]any{
			"calls": doc.Int("calls") + calls, "failed_calls": doc.Int("failed_calls") + failed,
		})
		return err
	})
}
