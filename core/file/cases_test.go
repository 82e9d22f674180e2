package file_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/file"
	"armature/core/file/s3"
	"armature/core/query"
)

// TestUpload is the reference's case 59 and section 6.1.
func TestUpload(t *testing.T) {
	each(t, func(s *testSite) {
		f := s.upload("ann", "hello.txt", "hello world").file()
		want := map[string]any{
			"doctype": "File", "file_name": "hello.txt", "file_url": "/files/hello.txt", "is_private": 0.0, "is_folder": 0.0,
			"is_home_folder": 0.0, "is_attachments_folder": 0.0, "file_size": 11.0, "file_type": "TXT", "folder": "Home",
			"content_hash": "5eb63bbbe01eeed093cb22bb8f5acdc3", "owner": "ann@example.com", "docstatus": 0.0, "idx": 0.0,
		}
		for key, v := range want {
			if f[key] != v {
				s.t.Errorf("%s is %v, want %v", key, f[key], v)
			}
		}
		for _, key := range []string{"attached_to_doctype", "attached_to_name", "attached_to_field", "storage_key"} {
			if v, there := f[key]; there {
				s.t.Errorf("%s is shown: %v", key, v)
			}
		}
		if name, _ := f["name"].(string); len(name) != 10 {
			s.t.Errorf("name %q", name)
		}
		r := s.get("", "/files/hello.txt").must(200)
		if r.text != "hello world" || r.header.Get("Content-Type") != "text/plain; charset=utf-8" {
			s.t.Errorf("got %q as %s", r.text, r.header.Get("Content-Type"))
		}
		s.clean(1)
	})
}

// TestPrivate is case 60.
func TestPrivate(t *testing.T) {
	each(t, func(s *testSite) {
		f := s.upload("ann", "a b.txt", "secret", "is_private", "1").file()
		if !regexp.MustCompile(`^/private/files/a b-[a-z2-7]{10}\.txt$`).MatchString(f["file_url"].(string)) {
			s.t.Errorf("URL %v", f["file_url"])
		}
		s.get("", urlPath(f)).fails(403, "PermissionError")
		s.get("bob", urlPath(f)).fails(403, "PermissionError")
		s.get("manager", urlPath(f)).fails(403, "PermissionError")
		for _, user := range []string{"ann", "admin"} {
			if r := s.get(user, urlPath(f)).must(200); r.text != "secret" || !strings.Contains(r.header.Get("Cache-Control"), "private") {
				s.t.Errorf("%s got %q, %v", user, r.text, r.header)
			}
		}
		s.get("", "/files/a%20b.txt").fails(404, "DoesNotExistError")
		s.get("bob", "/private/files/nothing").fails(403, "PermissionError")
		s.get("admin", "/private/files/nothing").fails(404, "DoesNotExistError")
	})
}

// TestSameContent is case 61 and the rules of section 6.2 about content.
func TestSameContent(t *testing.T) {
	each(t, func(s *testSite) {
		one, two := s.upload("ann", "one.txt", "same").file(), s.upload("bob", "two.txt", "same").file()
		if one["file_url"] != "/files/one.txt" || two["file_url"] != "/files/two.txt" || one["content_hash"] != two["content_hash"] {
			s.t.Errorf("%v and %v", one, two)
		}
		private := s.upload("ann", "one.txt", "same", "is_private", "1").file()
		s.get("ann", urlPath(private)).must(200)
		s.clean(1)
		if n := s.storage.puts.Load(); n != 1 {
			s.t.Errorf("stored %d times", n)
		}
		other := s.upload("ann", "one.txt", "different").file()
		hash := other["content_hash"].(string)
		if want := "/files/one" + hash[len(hash)-6:] + ".txt"; other["file_url"] != want || other["file_name"] != "one.txt" {
			s.t.Errorf("another content is %v, want %s", other["file_url"], want)
		}
		s.clean(2)
		// The bytes stay until the last File goes.
		s.do("ann", "DELETE", "/api/resource/File/"+one["name"].(string), "", nil).must(202)
		s.get("", "/files/one.txt").fails(404, "DoesNotExistError")
		s.do("ann", "DELETE", "/api/resource/File/"+private["name"].(string), "", nil).must(202)
		s.get("", "/files/two.txt").must(200)
		s.clean(2)
		s.do("bob", "DELETE", "/api/resource/File/"+two["name"].(string), "", nil).must(202)
		s.clean(1)
		// The same content comes back under a key of its own.
		if again := s.upload("ann", "one.txt", "same").file(); again["file_url"] != "/files/one.txt" {
			s.t.Errorf("again as %v", again["file_url"])
		}
		s.get("", "/files/one.txt").must(200)
	})
}

func TestAttach(t *testing.T) {
	each(t, func(s *testSite) {
		name := s.create("ann", "Case", map[string]any{"title": "x"})["name"].(string)
		f := s.upload("ann", "a.txt", "a", "is_private", "1", "doctype", "Case", "docname", name, "fieldname", "paper").file()
		if f["attached_to_doctype"] != "Case" || f["attached_to_name"] != name || f["attached_to_field"] != "paper" || f["folder"] != "Home/Attachments" {
			s.t.Errorf("%v", f)
		}
		s.upload("bob", "b.txt", "b", "doctype", "Case", "docname", name).fails(403, "PermissionError")
		s.upload("bob", "b.txt", "b", "doctype", "Case", "docname", "not yet").must(200)
		s.upload("bob", "b.txt", "b", "doctype", "User", "docname", "not yet").fails(403, "PermissionError")
		s.upload("bob", "b.txt", "b", "doctype", "Nothing", "docname", "x").fails(404, "DoesNotExistError")
		s.upload("bob", "b.txt", "b", "folder", "Nowhere").fails(417, "LinkValidationError")
		s.upload("bob", "b.txt", "b", "folder", f["name"].(string)).fails(417, "LinkValidationError")
		// Reading goes with the document.
		s.json("admin", "POST", "/api/resource/DocType", map[string]any{
			"name": "Board", "custom": 1, "fields": []any{map[string]any{"fieldname": "title", "fieldtype": "Data"}},
			"permissions": []any{map[string]any{"role": "Desk User", "read": 1}, map[string]any{"role": "System Manager", "read": 1, "write": 1, "create": 1}},
		}).must(200)
		board := s.create("manager", "Board", map[string]any{"title": "x"})["name"].(string)
		minutes := s.upload("manager", "m.txt", "minutes", "is_private", "1", "doctype", "Board", "docname", board).file()
		s.get("bob", urlPath(minutes)).must(200)
		s.get("web", urlPath(minutes)).fails(403, "PermissionError")
		// The limit of the DocType.
		s.upload("ann", "b.txt", "b", "doctype", "Case", "docname", name).must(200)
		s.upload("ann", "c.txt", "c", "doctype", "Case", "docname", name).must(200)
		s.upload("ann", "d.txt", "d", "doctype", "Case", "docname", name).fails(417, "AttachmentLimitReached")
		s.clean(4)
	})
}

func TestAttachField(t *testing.T) {
	each(t, func(s *testSite) {
		f := s.upload("ann", "a.txt", "a", "is_private", "1").file()
		doc := s.create("ann", "Case", map[string]any{"paper": f["file_url"]})
		got := s.get("ann", "/api/resource/File/"+f["name"].(string)).object("data")
		if got["attached_to_name"] != doc["name"] || got["attached_to_field"] != "paper" || got["attached_to_doctype"] != "Case" {
			s.t.Errorf("not attached: %v", got)
		}
		// A second document gets a File of its own.
		second := s.create("ann", "Case", map[string]any{"title": "second"})
		put := s.json("ann", "PUT", "/api/resource/Case/"+second["name"].(string), map[string]any{"photo": f["file_url"]}).must(200).object("data")
		if put["photo"] == f["file_url"] {
			s.t.Errorf("two Files at %v", put["photo"])
		}
		s.clean(1)
		rows := s.get("admin", `/api/resource/File?filters=[["file_name","=","a.txt"]]&fields=["attached_to_name","owner"]`).body["data"].([]any)
		if len(rows) != 2 {
			s.t.Errorf("%d Files: %v", len(rows), rows)
		}
		// A URL written into one's own document opens nothing.
		s.json("bob", "POST", "/api/resource/Case", map[string]any{"paper": f["file_url"]}).fails(403, "PermissionError")
		s.create("bob", "Case", map[string]any{"paper": "/files/nobody's.txt", "photo": "https://example.com/x.png"})
		// What is attached goes with the document.
		s.do("ann", "DELETE", "/api/resource/Case/"+second["name"].(string), "", nil).must(202)
		s.get("ann", urlPath(f)).must(200)
		s.do("ann", "DELETE", "/api/resource/Case/"+doc["name"].(string), "", nil).must(202)
		s.clean(0)
	})
}

func TestChangePrivacy(t *testing.T) {
	each(t, func(s *testSite) {
		one, two := s.upload("ann", "a.txt", "a", "is_private", "1").file(), s.upload("bob", "b.txt", "a", "is_private", "1").file()
		s.upload("bob", "a.txt", "in the way").must(200)
		doc := s.create("ann", "Case", map[string]any{"paper": one["file_url"]})
		moved := s.json("ann", "PUT", "/api/resource/File/"+one["name"].(string), map[string]any{"is_private": 0}).must(200).object("data")
		hash := one["content_hash"].(string)
		want := "/files/a" + hash[len(hash)-6:] + ".txt"
		if moved["file_url"] != want {
			s.t.Errorf("moved to %v, want %s", moved["file_url"], want)
		}
		other := s.get("bob", "/api/resource/File/"+two["name"].(string)).must(200).object("data")
		if other["file_url"] != two["file_url"] || other["is_private"] != 1.0 {
			s.t.Errorf("the other one: %v", other)
		}
		if got := s.get("ann", "/api/resource/Case/"+doc["name"].(string)).object("data"); got["paper"] != want {
			s.t.Errorf("the field holds %v", got["paper"])
		}
		s.get("", want).must(200)
		s.get("ann", urlPath(one)).fails(403, "PermissionError")
		s.json("ann", "PUT", "/api/resource/File/"+one["name"].(string), map[string]any{"is_private": 1}).must(200)
		s.get("", want).fails(404, "DoesNotExistError")
		s.get("ann", urlPath(s.get("ann", "/api/resource/File/"+one["name"].(string)).object("data"))).must(200)
		s.clean(2)
		// What follows from the content is not changed by writing it.
		got := s.json("ann", "PUT", "/api/resource/File/"+one["name"].(string), map[string]any{
			"file_url": "/private/files/else", "file_size": 1, "content_hash": "x", "storage_key": "y", "is_folder": 1, "file_name": "../n\x00w.txt",
		})
		if got.status == 200 {
			s.t.Error("a NUL was taken")
		}
		for field, v := range map[string]any{
			"file_url": "/private/files/else", "file_size": 77, "content_hash": "x", "storage_key": "y", "is_folder": 1,
		} {
			s.json("ann", "PUT", "/api/resource/File/"+one["name"].(string), map[string]any{field: v}).fails(417, "CannotChangeConstantError")
		}
		now := s.get("ann", "/api/resource/File/"+one["name"].(string)).object("data")
		now["file_name"] = "../new.txt" // all of it comes back, as clients send it
		if got := s.json("ann", "PUT", "/api/resource/File/"+one["name"].(string), now).must(200).object("data"); got["file_name"] != ".._new.txt" || got["content_hash"] != hash {
			s.t.Errorf("became %v", got)
		}
	})
}

func TestRegister(t *testing.T) {
	each(t, func(s *testSite) {
		f := s.upload("", "", "", "file_url", "https://example.com/a.png")
		f.fails(403, "PermissionError")
		web := s.upload("ann", "", "", "file_url", "https://example.com/x/a.png?b=c", "is_private", "1").file()
		if web["file_url"] != "https://example.com/x/a.png?b=c" || web["file_name"] != "a.png" || web["is_private"] != 1.0 {
			s.t.Errorf("%v", web)
		}
		secret := s.upload("ann", "s.txt", "s", "is_private", "1").file()
		for _, bad := range []string{
			"/files/../../etc/passwd", "/private/files/../x", "/etc/passwd", "files/x", "file:///etc/passwd", "ftp://x/y",
			"javascript:alert(1)", "//evil.example/x", "https://", "http:///x", "/files/" + strings.Repeat("x", 700),
		} {
			s.upload("ann", "", "", "file_url", bad).fails(417, "ValidationError")
		}
		s.upload("ann", "", "", "file_url", "/files/nothing").fails(404, "DoesNotExistError")
		at := secret["file_url"].(string)
		s.upload("bob", "", "", "file_url", at).fails(403, "PermissionError")
		s.upload("bob", "", "", "library_file_name", secret["name"].(string)).fails(403, "PermissionError")
		s.upload("bob", "", "", "library_file_name", "nothing").fails(403, "PermissionError")
		s.upload("ann", "", "", "file_name", "x").fails(417, "MandatoryError")
		name := s.create("ann", "Case", map[string]any{})["name"].(string)
		for _, field := range [][]string{{"file_url", at}, {"library_file_name", secret["name"].(string)}} {
			copied := s.upload("ann", "", "", append(field, "doctype", "Case", "docname", name)...).file()
			if copied["file_url"] == secret["file_url"] || copied["file_name"] != "s.txt" || copied["is_private"] != 1.0 || copied["content_hash"] != secret["content_hash"] || copied["attached_to_name"] != name {
				s.t.Errorf("%v", copied)
			}
		}
		// The same by REST and by JSON.
		made := s.create("ann", "File", map[string]any{"file_url": at, "is_private": 0})
		if made["is_private"] != 1.0 || made["file_name"] != "s.txt" {
			s.t.Errorf("%v", made)
		}
		for field, v := range map[string]any{"storage_key": "blob/00/x-1", "file_size": 99, "content_hash": "x"} {
			s.json("ann", "POST", "/api/resource/File", map[string]any{"file_url": at, field: v}).fails(417, "CannotChangeConstantError")
		}
		s.json("bob", "POST", "/api/resource/File", map[string]any{"file_url": at}).fails(403, "PermissionError")
		s.json("ann", "POST", "/api/resource/File", map[string]any{"file_name": "x"}).fails(417, "MandatoryError")
		s.json("ann", "POST", "/api/method/upload_file", map[string]any{"file_url": at, "is_private": true}).must(200)
		s.clean(1)
	})
}

func TestFolders(t *testing.T) {
	each(t, func(s *testSite) {
		folder := s.create("ann", "File", map[string]any{"file_name": "Plans", "is_folder": 1, "file_url": "/files/x"})
		if folder["is_folder"] != 1.0 || folder["folder"] != "Home" || folder["file_url"] != nil {
			s.t.Errorf("%v", folder)
		}
		name := folder["name"].(string)
		f := s.upload("ann", "a.txt", "a", "folder", name).file()
		if f["folder"] != name {
			s.t.Errorf("in %v", f["folder"])
		}
		del := func(as, name string) *reply {
			return s.do(as, "DELETE", "/api/resource/File/"+name, "", nil)
		}
		del("ann", name).fails(417, "ValidationError")
		del("ann", f["name"].(string)).must(202)
		del("ann", name).must(202)
		del("admin", "Home").fails(417, "ValidationError")
		del("admin", "Home/Attachments").fails(417, "ValidationError")
	})
}

func TestListsShowOnesOwn(t *testing.T) {
	each(t, func(s *testSite) {
		s.upload("ann", "a.txt", "a", "is_private", "1").must(200)
		s.upload("bob", "b.txt", "b", "is_private", "1").must(200)
		for user, want := range map[string]int{"ann": 1, "manager": 0, "admin": 2} {
			rows := s.get(user, `/api/resource/File?filters=[["is_folder","=",0]]`).must(200).body["data"].([]any)
			if len(rows) != want {
				s.t.Errorf("%s sees %d Files, want %d", user, len(rows), want)
			}
		}
		s.get("", "/api/resource/File").fails(403, "PermissionError")
	})
}

// TestSeen: the condition on lists shows no File that could not be read.
func TestSeen(t *testing.T) {
	each(t, func(s *testSite) {
		s.json("admin", "POST", "/api/resource/DocType", map[string]any{
			"name": "Board", "custom": 1, "fields": []any{map[string]any{"fieldname": "title", "fieldtype": "Data"}},
			"permissions": []any{map[string]any{"role": "Desk User", "read": 1, "write": 1, "create": 1}},
		}).must(200)
		board := s.create("bob", "Board", map[string]any{})["name"].(string)
		mine := s.create("ann", "Case", map[string]any{})["name"].(string)
		s.upload("ann", "public.txt", "1").must(200)
		s.upload("ann", "private.txt", "2", "is_private", "1").must(200)
		s.upload("ann", "board.txt", "3", "is_private", "1", "doctype", "Board", "docname", board).must(200)
		s.upload("ann", "case.txt", "4", "is_private", "1", "doctype", "Case", "docname", mine).must(200)
		dt := s.docs.Schema().DocType(file.DocType)
		for user, want := range map[string]string{"bob": "board.txt public.txt", "manager": "board.txt public.txt", "web": ""} {
			var names []string
			err := s.store.Read(s.t.Context(), func(tx document.Tx) error {
				_, more, err := s.files.Seen(s.t.Context(), tx, callers[user])
				if err != nil {
					return err
				}
				column := doctype.Operand{Field: dt.Field("file_name")}
				return tx.Rows(s.t.Context(), &doctype.Select{
					DocType: dt, Columns: []doctype.Column{{Operand: column, Key: "file_name"}}, Order: []doctype.OrderBy{{Operand: column}},
					Where: doctype.AllOf{more, doctype.Compare{Operand: doctype.Operand{Field: dt.Field("is_folder")}, Op: query.Eq, Value: int64(0)}},
				}, func(v []any) error {
					names = append(names, v[0].(string))
					return nil
				})
			})
			if got := strings.Join(names, " "); err != nil || got != want {
				s.t.Errorf("%s sees %s beyond their own, want %s: %v", user, got, want, err)
			}
		}
	})
}

// TestNarrowTokens: a token reaches what its scopes name, whoever holds it.
func TestNarrowTokens(t *testing.T) {
	s := newSite(t, "")
	f := s.upload("ann", "a.txt", "a", "is_private", "1").file()
	s.get("reader", urlPath(f)).must(200)
	r := s.get("narrow", urlPath(f)).fails(403, "PermissionError")
	if got := r.header.Get("Www-Authenticate"); !strings.Contains(got, `scope="resource:File:read"`) {
		t.Errorf("the client is told %q", got)
	}
	s.upload("reader", "b.txt", "b").fails(403, "PermissionError")
	s.upload("narrow", "b.txt", "b").fails(403, "PermissionError")
	s.json("narrow", "POST", "/api/resource/Case", map[string]any{"paper": f["file_url"], "title": "x"}).must(200)
	// What follows from a change that the token reaches needs no scope of its own.
	public := s.upload("bob", "p.txt", "p").file()
	doc := s.create("narrow", "Case", map[string]any{"paper": public["file_url"]})
	s.do("narrow", "DELETE", "/api/resource/Case/"+doc["name"].(string), "", nil).must(202)
	s.clean(2)
}

func TestMethodHandlesTheFile(t *testing.T) {
	s := newSite(t, "")
	got := s.upload("ann", "a.csv", "1,2", "method", "acme.import", "x", "y").file()
	want := map[string]any{"user": "ann@example.com", "path": "acme.import", "name": "a.csv", "type": "text/csv; charset=utf-8", "body": "1,2", "x": "y"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v", got)
	}
	s.upload("ann", "a.csv", strings.Repeat("x", 8<<20+1), "method", "acme.import").fails(417, "MaxFileSizeReachedError")
	s.clean(0)
}

func TestDownloadFile(t *testing.T) {
	s := newSite(t, "")
	at := urlPath(s.upload("ann", "a.txt", "a", "is_private", "1").file())
	r := s.get("ann", "/api/method/download_file?file_url="+at).must(200)
	if r.text != "a" || r.header.Get("Content-Disposition") != "attachment; filename=a.txt" {
		t.Errorf("got %q %v", r.text, r.header)
	}
	s.get("bob", "/api/method/download_file?file_url="+at).fails(403, "PermissionError")
	s.get("ann", "/api/method/download_file?file_url=/etc/passwd").fails(404, "DoesNotExistError")
}

func TestAttachFile(t *testing.T) {
	s := newSite(t, "")
	const path = "/api/method/framework.client.attach_file"
	name := s.create("ann", "Case", map[string]any{})["name"].(string)
	args := map[string]any{
		"filename": "a.txt", "filedata": "aGVsbG8=", "decode_base64": 1, "is_private": true,
		"doctype": "Case", "docname": name, "docfield": "paper",
	}
	f := s.json("ann", "POST", path, args).file()
	if s.get("ann", urlPath(f)).text != "hello" || f["attached_to_field"] != "paper" {
		t.Errorf("%v", f)
	}
	s.json("bob", "POST", path, args).fails(403, "PermissionError")
	s.json("", "POST", path, args).fails(403, "PermissionError")
	args["filedata"] = "not base64!"
	s.json("ann", "POST", path, args).fails(417, "DataError")
	delete(args, "filedata")
	s.json("ann", "POST", path, args).fails(417, "TypeError")
	s.clean(1)
}

// openBucket is a part of a bucket, on a server of its own.
func openBucket(t *testing.T) (file.Storage, *httptest.Server) {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("files"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	b := s3.Open(s3.Options{Endpoint: server.URL, Bucket: "files", Prefix: "site/", AccessKey: "key", SecretKey: "secret"})
	t.Cleanup(func() { _ = b.Close() })
	return b, server
}

// TestObjectStorage is a site whose files are objects of a bucket.
func TestObjectStorage(t *testing.T) {
	bucket, server := openBucket(t)
	s := newSiteOn(t, "", func(string) file.Storage { return bucket })
	f := s.upload("ann", "a.txt", "0123456789", "is_private", "1").file()
	if got := s.get("ann", urlPath(f)); got.text != "0123456789" {
		t.Errorf("%d %q", got.status, got.text)
	}
	if got := s.get("ann", urlPath(f), "Range", "bytes=3-5"); got.status != 206 || got.text != "345" {
		t.Errorf("%d %q", got.status, got.text)
	}
	bobs := s.upload("bob", "b.txt", "0123456789", "is_private", "1").file()
	if n := s.storage.puts.Load(); n != 1 {
		t.Errorf("stored %d times", n)
	}
	c := chunked{s: s, as: "ann", name: "big.bin", pieces: []string{"one ", "two"}}
	c.kept(0)
	if got := s.get("", urlPath(c.send(1).file())); got.text != "one two" {
		t.Errorf("%q", got.text)
	}
	s.clean(2)
	s.do("ann", "DELETE", "/api/resource/File/"+f["name"].(string), "", nil).must(202)
	s.clean(2)
	s.failOn(func(_ context.Context, ev *document.Event) error {
		if ev.Name == document.AfterInsert {
			return errTest
		}
		return nil
	})
	s.upload("ann", "c.txt", "rolled back").must(500)
	s.failOn(nil)
	s.clean(2)
	server.Close()
	s.get("bob", urlPath(bobs)).fails(503, "ServiceUnavailable")
	s.upload("ann", "d.txt", "no storage").fails(503, "ServiceUnavailable")
}
