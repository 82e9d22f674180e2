package file_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/file"
	"armature/core/query"
)

// onEach runs a test on every storage and database.
func onEach(t *testing.T, test func(s *testSite)) {
	t.Helper()
	each(t, test)
	t.Run("S3", func(t *testing.T) {
		bucket, _ := openBucket(t)
		test(newSiteOn(t, "", func(string) file.Storage { return bucket }))
	})
}

// leave stores bytes that no File refers to.
func (s *testSite) leave(key string) {
	s.t.Helper()
	name := filepath.Join(s.dir, "left")
	if err := os.WriteFile(name, []byte("left "+key), 0o600); err != nil {
		s.t.Fatal(err)
	}
	if err := s.storage.Put(s.t.Context(), key, name); err != nil {
		s.t.Fatal(err)
	}
}

func (s *testSite) sweep() {
	s.t.Helper()
	if err := s.files.Sweep(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

// has demands how many keys there are under a prefix.
func (s *testSite) has(prefix string, n int) {
	s.t.Helper()
	if got := s.stored(prefix); len(got) != n {
		s.t.Errorf("%d keys under %s, want %d: %v", len(got), prefix, n, got)
	}
}

// TestSweep finds what a crash has left: between the bytes and the document, in
// the spool, and of an upload in chunks.
func TestSweep(t *testing.T) {
	onEach(t, func(s *testSite) {
		f := s.upload("ann", "a.txt", "kept").file()
		for i := range 80 { // more than one batch
			s.leave(fmt.Sprintf("blob/00/0000%03d-1", i))
		}
		s.leave("part/u-i.000000.0000000000000000")
		if err := os.WriteFile(filepath.Join(s.dir, "files", "tmp", "draft-1"), []byte("x"), 0o600); err != nil {
			s.t.Fatal(err)
		}
		s.sweep() // all of it could belong to an upload that is running
		s.has("blob/", 81)
		s.later(2 * time.Hour)
		s.sweep() // seen for the first time
		s.clean(81)
		s.has("part/", 1)
		s.later(23 * time.Hour)
		s.sweep()
		s.has("blob/", 81)
		s.later(time.Hour)
		s.sweep() // a day later
		s.clean(1)
		s.has("trash/", 80)
		s.has("part/", 0)
		s.later(7*24*time.Hour - time.Hour)
		s.sweep()
		s.has("trash/", 80)
		s.later(time.Hour)
		s.sweep()
		s.has("trash/", 0)
		s.clean(1)
		s.get("", urlPath(f)).must(200)
	})
}

// A File that is there again finds its bytes again, as long as they are in the
// trash.
func TestSweepBringsBack(t *testing.T) {
	onEach(t, func(s *testSite) {
		f := s.upload("ann", "a.txt", "the bytes").file()
		key := s.stored("blob/")[0]
		s.rename(key, "gone") // as if the database were one from before the upload
		s.later(2 * time.Hour)
		for range 3 {
			s.sweep()
			s.later(24 * time.Hour)
		}
		s.has("blob/", 0)
		s.rename("gone", key)
		s.sweep()
		if r := s.get("", urlPath(f)).must(200); r.text != "the bytes" {
			s.t.Errorf("the bytes are %q", r.text)
		}
		s.has("trash/", 0)
	})
}

// rename has the File that refers to one key refer to another.
func (s *testSite) rename(from, to string) {
	s.t.Helper()
	schema := s.docs.Schema()
	dt := schema.DocType(file.DocType)
	key := dt.Field("storage_key")
	err := s.store.Write(s.t.Context(), document.GroupedTx, func(tx document.Tx) error {
		var name string
		err := tx.Rows(s.t.Context(), &doctype.Select{
			DocType: dt, Columns: []doctype.Column{{Operand: doctype.Operand{Field: dt.Columns[doctype.ColName]}, Key: "name"}},
			Where: doctype.Compare{Operand: doctype.Operand{Field: key}, Op: query.Eq, Value: from},
		}, func(v []any) error { name, _ = v[0].(string); return nil })
		if err != nil {
			return err
		}
		_, err = tx.UpdateIf(s.t.Context(), dt, name, nil, map[string]any{"storage_key": to})
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// A server that was pointed at the wrong database does not take every file for
// left behind.
func TestSweepOfAnotherDatabase(t *testing.T) {
	s := newSite(t, "")
	for i := range 150 {
		s.leave(fmt.Sprintf("blob/00/%06d-1", i))
	}
	for range 4 {
		s.later(25 * time.Hour)
		if err := s.files.Sweep(t.Context()); err == nil {
			t.Error("the sweep is content")
		}
	}
	s.clean(150)
}

// Where two databases have their files in one place, neither sweep touches what is
// the other's. When one is away for two days the other goes on.
func TestSweepOfTwoDatabases(t *testing.T) {
	onEach(t, func(s *testSite) {
		s.leave("blob/00/0001-1")
		s.later(2 * time.Hour)
		s.sweep()
		other := s.another("TWO")
		for range 3 {
			s.later(24 * time.Hour)
			for _, files := range []*file.Service{other, s.files} {
				if err := files.Sweep(s.t.Context()); err == nil {
					s.t.Error("the sweep is content")
				}
			}
		}
		s.has("blob/", 1)
		for range 2 {
			s.later(48 * time.Hour)
			if err := other.Sweep(s.t.Context()); err != nil {
				s.t.Error(err)
			}
		}
		s.has("trash/", 1)
	})
}

// What was noted may be damaged like everything else: then it all takes a day
// longer.
func TestSweepWithDamagedNotes(t *testing.T) {
	onEach(t, func(s *testSite) {
		s.leave("blob/00/0001-1")
		s.later(2 * time.Hour)
		s.sweep()
		for _, key := range s.stored("sweep/") {
			s.leave(key)
		}
		s.later(24 * time.Hour)
		s.sweep()
		s.has("blob/", 1)
		s.later(24 * time.Hour)
		s.sweep()
		s.has("trash/", 1)
	})
}

// TestSweepAgainstOracle lets files become nobody's and somebody's again in any
// order, with sweeps whenever: bytes are in the trash exactly when they were
// nobody's at all sweeps of at least a day and the database was known for one, and
// never deleted before they were there for a week.
func TestSweepAgainstOracle(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			s := newSite(t, "")
			rnd := rand.New(rand.NewPCG(seed, 0))
			start := time.Now()
			var now time.Time
			s.mu.Lock()
			s.now = func() time.Time { return now }
			s.mu.Unlock()
			now = start
			o := &oracle{keys: map[string]*oracleKey{}}
			for i := range 6 {
				s.upload("ann", fmt.Sprintf("f%d.txt", i), fmt.Sprint("content ", i)).must(200)
			}
			for _, key := range s.stored("blob/") {
				o.keys[key] = &oracleKey{named: true}
			}
			now = now.Add(2 * time.Hour)
			for range 60 {
				keys := slices.Sorted(maps.Keys(o.keys))
				key := keys[rnd.IntN(len(keys))]
				switch k := o.keys[key]; rnd.IntN(3) {
				case 0:
					if k.named {
						s.rename(key, "away "+key)
					} else {
						s.rename("away "+key, key)
					}
					k.named = !k.named
				case 1:
					now = now.Add(time.Duration(rnd.IntN(40)) * time.Hour)
				case 2:
					s.sweep()
					o.sweep(now)
					s.sameAs(o)
				}
			}
		})
	}
}

// oracle is the rule of the sweep, said the other way round.
type oracle struct {
	first time.Time
	keys  map[string]*oracleKey
}

type oracleKey struct {
	named   bool
	orphan  time.Time // since which sweep; zero: it was somebody's at the last
	trashed time.Time // zero: it is where it belongs
	gone    bool
}

func (o *oracle) sweep(now time.Time) {
	if o.first.IsZero() {
		o.first = now
	}
	for _, k := range o.keys {
		switch {
		case k.gone:
		case k.named:
			k.orphan, k.trashed = time.Time{}, time.Time{}
		case !k.trashed.IsZero():
			k.gone = now.Sub(k.trashed) >= 7*24*time.Hour
		case k.orphan.IsZero():
			k.orphan = now
		case now.Sub(k.orphan) >= 24*time.Hour && now.Sub(o.first) >= 24*time.Hour:
			k.trashed = now.Truncate(time.Second)
		}
	}
}

func (s *testSite) sameAs(o *oracle) {
	s.t.Helper()
	var blobs, trash []string
	for _, key := range slices.Sorted(maps.Keys(o.keys)) {
		switch k := o.keys[key]; {
		case k.gone:
		case k.trashed.IsZero():
			blobs = append(blobs, key)
		default:
			trash = append(trash, key[len("blob/ab/"):])
		}
	}
	if got := s.stored("blob/"); !slices.Equal(slices.Sorted(slices.Values(got)), blobs) {
		s.t.Fatalf("stored are %v, want %v", got, blobs)
	}
	var got []string
	for _, key := range s.stored("trash/") {
		got = append(got, key[strings.LastIndexByte(key, '.')+1:])
	}
	slices.Sort(got)
	slices.Sort(trash)
	if !slices.Equal(got, trash) {
		s.t.Fatalf("in the trash are %v, want %v", got, trash)
	}
}
