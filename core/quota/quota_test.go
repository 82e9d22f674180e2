package quota_test

import (
	"bytes"
	"context"
	"fmt"
	"mime/multipart"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/method"
	"armature/core/sites"
	"armature/core/sites/sitetest"
)

type obj = map[string]any

const (
	todo  = "/api/resource/ToDo"
	usage = "/api/method/framework.site.usage"
)

// later is the sites' clock, which the test turns: amounts are measured again once a
// second has passed.
type later struct{ by atomic.Int64 }

func (l *later) option(c *sites.Config) {
	c.Clock = func() time.Time { return time.Now().Add(time.Duration(l.by.Load())) }
}

func (l *later) pass(d time.Duration) { l.by.Add(int64(d)) }

// used is how much of a quota the site says it uses.
func used(t *testing.T, s *sitetest.Server, name string) int {
	t.Helper()
	all := s.Admin.On(t).Get(usage).Message(t).(obj)
	return int(all[name].(obj)["used"].(float64))
}

func note(s *sitetest.Server, t *testing.T, text string) *sitetest.Reply {
	return s.Admin.On(t).Post(todo, obj{"description": text})
}

func remove(t *testing.T, s *sitetest.Server, path string) {
	t.Helper()
	if r := s.Admin.Delete(path); r.Status != http.StatusAccepted {
		t.Fatalf("delete: %d %s", r.Status, r.Text)
	}
}

func TestDocuments(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		s.Configure(t, "quotas", fmt.Sprintf(`{"documents": %d}`, used(t, s, "documents")+3))
		var names []any
		for i := range 3 {
			names = append(names, note(s, t, fmt.Sprint(i)).Data(t)["name"])
		}
		refused := note(s, t, "one more").Fails(t, http.StatusInsufficientStorage, "QuotaExceededError")
		if !strings.Contains(refused.Told(t), "documents") {
			t.Errorf("the refusal says %q", refused.Told(t))
		}
		path := fmt.Sprint(todo, "/", names[0])
		s.Admin.Put(path, obj{"description": "changed"}).OK(t)
		s.Admin.Post("/api/resource/User", obj{"email": "new@example.com", "first_name": "N"}).OK(t) // the platform's own

		remove(t, s, path)
		two := []obj{{"doctype": "ToDo", "description": "a"}, {"doctype": "ToDo", "description": "b"}}
		many := s.Admin.Post("/api/method/framework.client.insert_many", obj{"docs": two})
		many.Fails(t, http.StatusInsufficientStorage, "QuotaExceededError")
		note(s, t, "what the refused ones have left room for").OK(t)
		note(s, t, "again too many").Fails(t, http.StatusInsufficientStorage, "QuotaExceededError")

		s.Configure(t, "quotas", "null")
		note(s, t, "as many as one likes").OK(t)
	})
}

// TestDocumentsOfAnotherServer: what another server writes counts once it is
// measured again.
func TestDocumentsOfAnotherServer(t *testing.T) {
	clock := &later{}
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		s.Configure(t, "quotas", fmt.Sprintf(`{"documents": %d}`, used(t, s, "documents")+4))
		note(s, t, "measures").OK(t)
		twin := s.Twin(t)
		for range 3 {
			twin.Admin.Post(todo, obj{"description": "elsewhere"}).OK(t)
		}
		clock.pass(time.Minute)
		used(t, s, "documents")
		note(s, t, "too many").Fails(t, http.StatusInsufficientStorage, "QuotaExceededError")
	}, clock.option)
}

func TestDatabaseBytes(t *testing.T) {
	clock := &later{}
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		const size, room = 50_000, 500_000
		s.Configure(t, "quotas", fmt.Sprintf(`{"database_bytes": %d}`, used(t, s, "database_bytes")+room))
		var names []any
		for i := range 40 {
			r := note(s, t, fmt.Sprint(i, strings.Repeat(" long text", size/10)))
			if r.Status != http.StatusOK {
				r.Fails(t, http.StatusInsufficientStorage, "QuotaExceededError")
				break
			}
			names = append(names, r.Data(t)["name"])
		}
		if n := len(names); n < 5 || n > 12 {
			t.Errorf("%d documents of %d bytes fit into %d", n, size, room)
		}
		s.Admin.Put(fmt.Sprint(todo, "/", names[0]), obj{"description": "short"}).OK(t)
		s.Admin.Put(fmt.Sprint(todo, "/", names[0]), obj{"description": strings.Repeat("long again", size)}).
			Fails(t, http.StatusInsufficientStorage, "QuotaExceededError")
		for _, name := range names {
			remove(t, s, fmt.Sprint(todo, "/", name))
		}
		if strings.HasSuffix(t.Name(), "PostgreSQL") {
			return // makes room when it vacuums
		}
		clock.pass(time.Minute)
		note(s, t, strings.Repeat("long again", size/10)).OK(t)
	}, clock.option)
}

// upload sends a file of a content.
func upload(t *testing.T, s *sitetest.Server, name, content string) *sitetest.Reply {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", name)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = part.Write([]byte(content))
	_ = form.Close()
	return s.Admin.On(t).Do(http.MethodPost, "/api/method/upload_file", form.FormDataContentType(), body.Bytes())
}

func TestFileBytes(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		s.Configure(t, "quotas", fmt.Sprintf(`{"file_bytes": %d}`, used(t, s, "file_bytes")+2500))
		first := upload(t, s, "a.txt", strings.Repeat("a", 1000)).Message(t).(obj)["name"]
		upload(t, s, "b.txt", strings.Repeat("b", 1000)).OK(t)
		upload(t, s, "same.txt", strings.Repeat("b", 1000)).OK(t) // stored already
		upload(t, s, "c.txt", strings.Repeat("c", 1000)).Fails(t, http.StatusInsufficientStorage, "QuotaExceededError")
		upload(t, s, "small.txt", strings.Repeat("d", 400)).OK(t)
		if n := used(t, s, "file_bytes"); n != 2400 {
			t.Errorf("%d bytes of files are used", n)
		}
		remove(t, s, fmt.Sprint("/api/resource/File/", first))
	})
}

// TestPluginBytes: the bundles that are stored count, whatever serves.
func TestPluginBytes(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		s.Configure(t, "quotas", `{"plugin_bytes": 1000}`)
		grow := func(bytes int64) error {
			return s.Tenant.Store.Write(t.Context(), document.OwnTx, func(tx document.Tx) error {
				if err := s.Tenant.Quota().GrowPlugins(t.Context(), tx, bytes); err != nil {
					return err
				}
				_, err := s.Tenant.Documents.As(identity.Root(), tx).Insert(t.Context(), "Plugin Version", obj{
					"name": fmt.Sprint("acme.a-", bytes), "plugin": "acme.a", "version": "1", "hash": fmt.Sprint(bytes), "size": bytes,
				})
				return err
			})
		}
		if err := grow(600); err != nil {
			t.Fatal(err)
		}
		if err := grow(500); fault.From(err).ExcType() != fault.QuotaExceeded {
			t.Errorf("500 more of 1000: %v", err)
		}
		if err := grow(300); err != nil {
			t.Error(err)
		}
		if n := used(t, s, "plugin_bytes"); n != 900 {
			t.Errorf("%d bytes are used", n)
		}
	})
}

// TestRequests: while a site works on as many requests as it may, another is told to
// come back, and is served when one of them has ended.
func TestRequests(t *testing.T) {
	inside, end := make(chan struct{}), make(chan struct{})
	wait := &method.Method{Path: "test.wait", Func: func(ctx context.Context, _ *method.Call) (any, error) {
		inside <- struct{}{}
		<-end
		return "done", nil
	}}
	s := sitetest.New(t, "", sitetest.WithMethods(wait))
	s.Configure(t, "quotas", `{"requests": 2}`)
	var work sync.WaitGroup
	for range 2 {
		work.Go(func() { s.Admin.Get("/api/method/test.wait").OK(t) })
		<-inside
	}
	refused := s.Admin.Get(todo).Fails(t, http.StatusTooManyRequests, "QuotaExceededError")
	if refused.Header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After is %q", refused.Header.Get("Retry-After"))
	}
	close(end)
	work.Wait()
	s.Admin.Get(todo).OK(t)
	if n := used(t, s, "requests"); n != 1 { // the one that asks
		t.Errorf("%d requests are counted", n)
	}
}

// TestUsageIsForManagers: the site's System Managers see what it has, nobody else.
func TestUsageIsForManagers(t *testing.T) {
	s := sitetest.New(t, "")
	s.Configure(t, "quotas", `{"documents": 1000}`)
	s.Guest.Get(usage).Fails(t, http.StatusForbidden, "PermissionError")
	s.User(t, "clerk@example.com").Get(usage).Fails(t, http.StatusForbidden, "PermissionError")
	all := s.User(t, "boss@example.com", "System Manager").Get(usage).Message(t).(obj)
	if q := all["documents"].(obj)["quota"]; q != 1000.0 {
		t.Errorf("the quota of documents is %v", q)
	}
	if q := all["kv_bytes"].(obj)["quota"]; q != nil {
		t.Errorf("the quota of kv is %v", q)
	}
	if n := all["database_bytes"].(obj)["used"].(float64); n < 100_000 {
		t.Errorf("the database has %v bytes", n)
	}
}
