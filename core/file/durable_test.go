package file_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"armature/core/document"
	"armature/core/file"
	"armature/core/identity"
)

// TestRollbackLeavesNothing refuses the change at every point of an upload.
func TestRollbackLeavesNothing(t *testing.T) {
	each(t, func(s *testSite) {
		for _, event := range []string{document.BeforeInsert, document.Validate, document.AfterInsert, document.OnChange} {
			s.failOn(func(_ context.Context, ev *document.Event) error {
				if ev.Doc.Type.Name == file.DocType && ev.Name == event {
					return errTest
				}
				return nil
			})
			s.upload("ann", "a.txt", "a").must(500)
			s.clean(0)
		}
		s.failOn(nil)
		s.storage.broken.Store(true)
		s.upload("ann", "a.txt", "a").fails(503, "ServiceUnavailable")
		s.storage.broken.Store(false)
		s.clean(0)
		f := s.upload("ann", "a.txt", "a").file()
		s.failOn(func(_ context.Context, ev *document.Event) error {
			if ev.Name == document.AfterDelete {
				return errTest
			}
			return nil
		})
		s.do("ann", "DELETE", "/api/resource/File/"+f["name"].(string), "", nil).must(500)
		s.json("ann", "PUT", "/api/resource/File/"+f["name"].(string), map[string]any{"file_name": "b.txt"}).must(200)
		s.failOn(func(_ context.Context, ev *document.Event) error {
			if ev.Name == document.OnUpdate {
				return errTest
			}
			return nil
		})
		s.json("ann", "PUT", "/api/resource/File/"+f["name"].(string), map[string]any{"is_private": 1}).must(500)
		s.failOn(nil)
		s.get("", "/files/a.txt").must(200)
		s.clean(1)
	})
}

// TestSaveInAnotherTransaction is the API for code that has a transaction.
func TestSaveInAnotherTransaction(t *testing.T) {
	each(t, func(s *testSite) {
		ctx := s.t.Context()
		for _, end := range []error{document.ErrRollback, nil} {
			d, err := s.files.Receive(ctx, strings.NewReader("a"), 10)
			if err != nil {
				s.t.Fatal(err)
			}
			if err := s.files.Place(ctx, d); err != nil {
				s.t.Fatal(err)
			}
			err = s.store.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
				if _, err := s.files.Save(ctx, tx, identity.Root(), d, file.Info{Name: "a.txt"}); err != nil {
					return err
				}
				return end
			})
			if err != nil {
				s.t.Fatal(err)
			}
			d.Close()
			s.clean(map[error]int{nil: 1}[end])
		}
		if _, err := s.files.Receive(ctx, strings.NewReader("eleven char"), 10); err == nil {
			s.t.Error("more than the limit was received")
		}
		s.clean(1)
	})
}

// TestNestedInsert: what a hook inserts while it is told of an upload is not
// trusted as the upload is.
func TestNestedInsert(t *testing.T) {
	s := newSite(t, "")
	secret := s.upload("ann", "s.txt", "secret", "is_private", "1").file()
	nested := 0
	s.failOn(func(ctx context.Context, ev *document.Event) error {
		if ev.Doc.Type.Name != file.DocType || ev.Name != document.AfterInsert || nested > 0 {
			return nil
		}
		nested++
		_, err := s.docs.As(callers["bob"], ev.Tx).Insert(ctx, file.DocType, map[string]any{
			"file_url": secret["file_url"], "content_hash": secret["content_hash"],
		})
		return err
	})
	s.upload("bob", "b.txt", "b").fails(403, "PermissionError")
	if nested != 1 {
		t.Error("the hook did not run")
	}
	s.clean(1)
}

// TestMissingBytes: a File whose bytes somebody has removed.
func TestMissingBytes(t *testing.T) {
	s := newSite(t, "")
	s.upload("ann", "a.txt", "a").must(200)
	if err := s.storage.Delete(t.Context(), s.stored("blob/")[0]); err != nil {
		t.Fatal(err)
	}
	s.get("", "/files/a.txt").fails(404, "DoesNotExistError")
	s.get("", "/files/a.txt", "Range", "bytes=0-0").fails(404, "DoesNotExistError")
}

// TestManyAtOnce uploads and deletes the same content, and different contents
// under one name, from many sides at once: no File is ever without its bytes,
// no URL has two contents, and nothing is left in the end.
func TestManyAtOnce(t *testing.T) {
	each(t, func(s *testSite) {
		var wg sync.WaitGroup
		for n := range 8 {
			wg.Go(func() {
				for range 4 {
					f := s.upload("ann", "same.txt", "the same").file()
					if r := s.get("", urlPath(f)); r.status != 200 || r.text != "the same" {
						s.t.Errorf("a File without its bytes: %d %s", r.status, r.text)
					}
					s.do("ann", "DELETE", "/api/resource/File/"+f["name"].(string), "", nil).must(202)
				}
			})
			wg.Go(func() {
				content := fmt.Sprint("content of ", n)
				f := s.upload("ann", "one name.txt", content).file()
				if r := s.get("", urlPath(f)); r.text != content {
					s.t.Errorf("%s has another's content: %q", f["file_url"], r.text)
				}
			})
		}
		wg.Wait()
		s.clean(8)
	})
}

// TestMoveAndShareAtOnce makes a file private and public while others come to
// share it.
func TestMoveAndShareAtOnce(t *testing.T) {
	each(t, func(s *testSite) {
		f := s.upload("ann", "a.txt", "a").file()
		var wg sync.WaitGroup
		wg.Go(func() {
			for i := range 6 {
				s.json("ann", "PUT", "/api/resource/File/"+f["name"].(string), map[string]any{"is_private": (i + 1) % 2}).must(200)
			}
		})
		for range 4 {
			wg.Go(func() {
				for range 3 {
					s.upload("bob", "b.txt", "a").must(200)
				}
			})
		}
		wg.Wait()
		rows := s.get("admin", `/api/resource/File?limit=0&fields=["file_url","is_private"]&filters=[["is_folder","=",0]]`).must(200).body["data"].([]any)
		for _, row := range rows {
			r := row.(map[string]any)
			if strings.HasPrefix(r["file_url"].(string), "/private/") != (r["is_private"] == 1.0) {
				s.t.Errorf("%v", r)
			}
			s.get("bob", urlPath(r))
		}
	})
}
