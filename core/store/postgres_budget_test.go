package store_test

import (
	"context"
	"fmt"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"armature/core/document"
	"armature/core/store"
)

// manySites opens stores on one database within one budget, and counts the
// connections they have open on the server.
func manySites(t *testing.T, sites, budget int) (all []*store.Store, connections func() int) {
	t.Helper()
	at := postgresURL(t)
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("budget-%d", time.Now().UnixNano())
	q := u.Query()
	q.Set("application_name", name)
	u.RawQuery = q.Encode()
	o := store.Options{Budget: store.NewBudget(budget)}
	for range sites {
		s, err := store.OpenPostgres(t.Context(), u.String(), newSchema(t, at), o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		all = append(all, s)
	}
	c, err := pgx.Connect(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return all, func() (n int) {
		if err := c.QueryRow(context.Background(), "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1", name).Scan(&n); err != nil {
			t.Error(err)
		}
		return n
	}
}

// TestBudget: many busy sites stay within the connections they are given
// together, and all of them get their turn.
func TestBudget(t *testing.T) {
	const sites, budget = 30, 6
	all, connections := manySites(t, sites, budget)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var work sync.WaitGroup
	for _, s := range all {
		for range 3 {
			work.Go(func() {
				for range 10 {
					if _, err := s.Versions(ctx); err != nil {
						t.Errorf("read: %v", err)
					}
					err := s.Write(ctx, document.OwnTx, func(tx document.Tx) error {
						_, err := tx.Next(ctx, "n")
						return err
					})
					if err != nil {
						t.Errorf("write: %v", err)
					}
				}
			})
		}
	}
	done := make(chan struct{})
	go func() { work.Wait(); close(done) }()
	most := 0
	for busy := true; busy; {
		most = max(most, connections())
		select {
		case <-done:
			busy = false
		default:
		}
	}
	// The server takes its time to end one that was closed. Without a budget all
	// sites together would have ten times as many.
	if most > 3*budget || most < 2 {
		t.Errorf("%d connections, the budget is %d", most, budget)
	}
	t.Logf("%d sites, at most %d connections of %d", sites, most, budget)
	for _, s := range all {
		err := s.Write(ctx, document.OwnTx, func(tx document.Tx) error {
			n, err := tx.Next(ctx, "n")
			if n != 31 {
				t.Errorf("%d writes are there, want 31", n)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestBudgetInsideTransactions: transactions that read outside themselves do not
// wait for each other for ever, however few connections there are.
func TestBudgetInsideTransactions(t *testing.T) {
	all, _ := manySites(t, 8, store.MinBudget)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var work sync.WaitGroup
	for _, s := range all {
		for range 3 {
			work.Go(func() {
				for range 5 {
					err := s.Write(ctx, document.OwnTx, func(tx document.Tx) error {
						if _, err := tx.Next(ctx, "n"); err != nil {
							return err
						}
						_, err := s.Versions(ctx)
						return err
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	work.Wait()
}
