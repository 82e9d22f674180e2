package backup_test

import (
	"testing"
	"time"

	"armature/core/backup"
	"armature/core/document"
)

// One server at a time makes the next archive; one that stops in the middle is
// followed by another once its lease has run out.
func TestLease(t *testing.T) {
	site := emptySite(t)
	if err := site.Store.Write(t.Context(), document.OwnTx, func(tx document.Tx) error { return tx.Migrate(t.Context(), backup.Table()) }); err != nil {
		t.Fatal(err)
	}
	now := made
	runs := backup.Runs{Store: site.Store, Now: func() time.Time { return now }}
	if run, err := runs.Read(t.Context()); err != nil || run != (backup.Run{}) {
		t.Fatalf("before the first: %+v, %v", run, err)
	}
	take := func() *backup.Lease {
		t.Helper()
		l, _, err := runs.Take(t.Context(), time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	first := take()
	if first == nil || take() != nil {
		t.Fatal("two servers make one archive")
	}
	now = now.Add(4 * time.Minute)
	if err := first.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	now = now.Add(4 * time.Minute)
	if take() != nil {
		t.Error("taken while it is renewed")
	}
	now = now.Add(10 * time.Minute) // it was broken off, so the next is due soon
	second := take()
	if second == nil {
		t.Fatal("nobody takes over")
	}
	if err := first.Renew(t.Context()); err == nil {
		t.Error("renewed what another has")
	}
	done := backup.Run{Done: now, File: "default/x.armature", Size: 7, Records: 3}
	if err := second.End(t.Context(), done); err != nil {
		t.Fatal(err)
	}
	run, err := runs.Read(t.Context())
	if err != nil || run.File != done.File || run.Size != 7 || run.Records != 3 || !run.Done.Equal(now) || run.Every != time.Hour {
		t.Errorf("%+v, %v", run, err)
	}
	if now = now.Add(59 * time.Minute); take() != nil {
		t.Error("taken before it is due")
	}
	now = now.Add(time.Minute)
	third := take()
	if third == nil {
		t.Fatal("not taken when it is due")
	}
	if err := third.End(t.Context(), backup.Run{Problem: "the bucket is away"}); err != nil {
		t.Fatal(err)
	}
	if run, err := runs.Read(t.Context()); err != nil || run.Problem != "the bucket is away" || run.File != done.File {
		t.Errorf("after a failure: %+v, %v", run, err)
	}
	if now = now.Add(15 * time.Minute); take() == nil {
		t.Error("a failure is not tried again after a quarter of an hour")
	}
}
