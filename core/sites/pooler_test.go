package sites_test

import (
	"fmt"
	"sync"
	"testing"

	"armature/core/document"
	"armature/core/identity"
	"armature/core/query"
	"armature/core/sites"
	"armature/core/sites/sitetest"
	"armature/core/store/pgbouncer"
)

// TestSitesShareAPool: behind a pooler that has fewer connections to the server than
// there are sites, each site has what was written in it, and nothing else.
func TestSitesShareAPool(t *testing.T) {
	database := pgbouncer.Start(t, sitetest.Postgres(t), pgbouncer.Options{Conns: 2})
	s, _ := sitetest.NewSet(t, func(c *sites.Config) { sitetest.OnDatabase(t, c, database) })
	const writes = 4
	var work sync.WaitGroup
	for n := range 4 {
		work.Go(func() {
			on, err := s.Create(t.Context(), fmt.Sprintf("pooled-%d", n))
			if err != nil {
				t.Error(err)
				return
			}
			for range writes {
				err := on.Store.Write(t.Context(), document.OwnTx, func(tx document.Tx) error {
					_, err := on.Documents.As(identity.Root(), tx).Insert(t.Context(), "ToDo", map[string]any{"description": "of one site"})
					return err
				})
				if err != nil {
					t.Error(err)
				}
			}
			var found int64
			err = on.Store.Read(t.Context(), func(tx document.Tx) (err error) {
				found, err = on.Documents.As(identity.Root(), tx).Count(t.Context(), "ToDo", &query.Query{})
				return err
			})
			if err != nil || found != writes {
				t.Errorf("site %d has %d documents, %v", n, found, err)
			}
		})
	}
	work.Wait()
}
