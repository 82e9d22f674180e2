package records

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"armature/core/document"
	"armature/core/site"
	"armature/core/sites/registry"
)

// stagedRow is a site that is made in a schema and a folder of its own.
type stagedRow struct {
	table *table
	row   row
}

// stage makes room for a site.
func (t *table) stage(ctx context.Context, name string) (registry.Stage, error) {
	one := row{site: name, state: staged}
	var err error
	if one.schema, err = t.reserve(ctx, one); err != nil {
		return nil, err
	}
	s := &stagedRow{t, one}
	if err := os.MkdirAll(s.Dir(), 0o700); err != nil {
		return nil, errors.Join(err, s.Discard())
	}
	return s, nil
}

func (s *stagedRow) Place() registry.Place { return s.table.place(s.row.schema) }
func (s *stagedRow) Dir() string           { return s.table.c.Layout.Site(folderOf(s.row.schema)) }

// Publish implements Stage, in one transaction.
func (s *stagedRow) Publish(ctx context.Context, config *site.Config, replace bool) (registry.Kept, error) {
	text, err := s.table.seal(s.row.schema, config)
	if err != nil {
		return registry.Kept{}, err
	}
	old, err := s.table.lives(ctx, s.row.site)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return registry.Kept{}, err
	case !replace:
		return registry.Kept{}, registry.Taken(s.row.site)
	}
	err = s.table.db.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		if old.schema != "" {
			if err := move(ctx, tx, old, live, dropped); err != nil {
				return err
			}
		}
		if _, err := tx.UpdateIf(ctx, siteTable(), s.row.schema, nil, map[string]any{"config": text}); err != nil {
			return err
		}
		return move(ctx, tx, s.row, staged, live)
	})
	return registry.Kept{Schema: old.schema}, err
}

// Discard implements Stage. What was published after all, in a transaction whose
// answer was lost, is left alone.
func (s *stagedRow) Discard() error {
	ctx := context.Background()
	err := s.table.moveAlone(ctx, s.row, staged, erasing)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = s.table.wipe(ctx, s.row)
	}
	return err
}
