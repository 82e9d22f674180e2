package sites_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"armature/core/fault"
	"armature/core/site"
	"armature/core/sites/sitetest"
)

// TestRefusedConfiguration: what a configuration may not say is refused with the
// reason, wherever it is kept, and changes nothing.
func TestRefusedConfiguration(t *testing.T) {
	eachInstallation(t, func(t *testing.T, p *processes) {
		s, _ := p.start()
		name := unique("s")
		sitetest.Create(t, s, name)
		sitetest.Configure(t, s, name, "time_zone", `"Asia/Tokyo"`)
		for key, value := range map[string]string{
			"time_zone": `"Nowhere"`, "hosts": `"a"`, "rate_limit": `{"limit": -1}`, "allowed_private_hosts": `["a b"]`, "max_file_size": `many`, "file_storage": `{}`,
		} {
			_, err := s.Registry().Configure(t.Context(), name, func(c *site.Config) (*site.Config, error) {
				return c.With(key, json.RawMessage(value))
			})
			if err == nil || !strings.Contains(err.Error()+fault.From(err).Message, key) {
				t.Errorf("%s = %s: %v", key, value, err)
			}
		}
		s.Refresh(t.Context())
		if got := s.Tenant(name).Site.Location().String(); got != "Asia/Tokyo" {
			t.Errorf("time zone %s", got)
		}

		// One that another version has stored is mended by its own key alone.
		p.store(name, `{"time_zone": "Nowhere", "max_file_size": 10}`)
		set := func(key, value string) error {
			return second(s.Registry().Configure(t.Context(), name, func(c *site.Config) (*site.Config, error) {
				return c.With(key, json.RawMessage(value))
			}))
		}
		s.Refresh(t.Context())
		if list, err := s.Sites(t.Context()); err != nil || list[0].Broken == nil {
			t.Errorf("nobody is told that it is broken: %v", err)
		}
		if err := set("max_file_size", "20"); err == nil || !strings.Contains(err.Error(), "time_zone") {
			t.Errorf("another key: %v", err)
		}
		if err := set("time_zone", "null"); err != nil {
			t.Error(err)
		}
		s.Refresh(t.Context())
		if got := s.Tenant(name).Site.Config().MaxFileSize(); got != 10 {
			t.Errorf("max_file_size %d", got)
		}
	})
}

// store stores a configuration past all checks.
func (p *processes) store(name, text string) {
	p.t.Helper()
	if p.shared {
		if err := os.WriteFile(p.config.Layout.Config(name), []byte(text), 0o600); err != nil {
			p.t.Fatal(err)
		}
		return
	}
	db, err := sql.Open("pgx", p.config.Database)
	if err != nil {
		p.t.Fatal(err)
	}
	defer db.Close()
	sealed := p.config.Master.SealConfig("site_"+name, []byte(text))
	_, err = db.ExecContext(p.t.Context(), `UPDATE `+p.config.Registry+`.armature_site SET config = $1 WHERE live = $2`, sealed, name)
	if err == nil {
		_, err = db.ExecContext(p.t.Context(), `UPDATE `+p.config.Registry+`.armature_schema SET epoch = epoch + 1`)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// TestAnotherMasterKeyOnTheDatabase: whoever has another master key is told so
// before anything is read or written, and what is configured, which may be a
// password, cannot be read in the database.
func TestAnotherMasterKeyOnTheDatabase(t *testing.T) {
	p := newProcesses(t, false)
	s, _ := p.start()
	name := unique("s")
	sitetest.Create(t, s, name)
	sitetest.Configure(t, s, name, "app_name", `"not to be read"`)
	right := p.config.Master
	var err error
	if p.config.Master, err = site.ParseMaster(strings.Repeat("a5", 32)); err != nil {
		t.Fatal(err)
	}
	wrong, _ := p.start()
	for what, err := range map[string]error{
		"list":      second(wrong.Sites(t.Context())),
		"create":    wrong.Registry().Create(t.Context(), unique("t")),
		"drop":      second(wrong.Registry().Drop(t.Context(), name)),
		"configure": second(wrong.Registry().Configure(t.Context(), name, func(c *site.Config) (*site.Config, error) { return c, nil })),
	} {
		if !errors.Is(err, site.ErrWrongMaster) {
			t.Errorf("%s: %v", what, err)
		}
	}
	p.config.Master = right
	again, _ := p.start()
	if got := names(t, again); !slices.Equal(got, []string{name}) {
		t.Errorf("sites %q", got)
	}
	db, err := sql.Open("pgx", p.config.Database)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var stored string
	if err := db.QueryRow(`SELECT string_agg(config, ' ') FROM ` + p.config.Registry + `.armature_site`).Scan(&stored); err != nil {
		t.Fatal(err)
	}
	if stored == "" || strings.Contains(stored, "read") || strings.Contains(stored, "app_name") {
		t.Errorf("stored is %s", stored)
	}
}

// TestAnotherStorage: where the configuration of an open site names another place,
// the files that come then go there, in every process, and no request is held up.
func TestAnotherStorage(t *testing.T) {
	eachInstallation(t, func(t *testing.T, p *processes) {
		backend := s3mem.New()
		if err := backend.CreateBucket("files"); err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(gofakes3.New(backend).Server())
		t.Cleanup(server.Close)
		settings, err := json.Marshal(map[string]string{"endpoint": server.URL, "bucket": "files", "access_key": "key", "secret_key": "secret"})
		if err != nil {
			t.Fatal(err)
		}
		a, _ := p.start()
		b, _ := p.start()
		name := unique("s")
		sitetest.Create(t, a, name)
		there := sitetest.Open(t, b, name)
		sitetest.KeepFile(t, there, "before.txt", "on disk")
		_, release, err := b.Acquire(t.Context(), "x", httptest.NewRequest("GET", "/", nil)) // which takes long
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		sitetest.Configure(t, a, name, "file_storage", string(settings))
		b.Refresh(t.Context())
		if sitetest.Open(t, b, name) != there {
			t.Error("the site was opened anew")
		}
		after := sitetest.KeepFile(t, there, "after.txt", "in the bucket")
		list, err := backend.ListBucket("files", nil, gofakes3.ListBucketPage{})
		if err != nil || len(list.Contents) != 1 || !strings.HasPrefix(list.Contents[0].Key, name+"/") {
			t.Errorf("in the bucket: %+v, %v", list.Contents, err)
		}
		a.Refresh(t.Context())
		if status, text := sitetest.ReadFile(sitetest.Open(t, a, name), after); status != 200 || text != "in the bucket" {
			t.Errorf("another process reads %d %q", status, text)
		}
	})
}

// TestConfiguredAtOnce: processes that set different keys at the same time all
// have their way.
func TestConfiguredAtOnce(t *testing.T) {
	eachInstallation(t, func(t *testing.T, p *processes) {
		first, _ := p.start()
		name := unique("s")
		sitetest.Create(t, first, name)
		var work sync.WaitGroup
		const last = 5
		keys := []string{
			"activity_log_retention_days", "allow_consecutive_login_attempts", "allow_login_after_fail", "max_file_size",
			"password_reset_limit", "reset_password_link_expiry_duration", "throttle_user_limit",
		}
		for _, key := range keys {
			s, _ := p.start()
			work.Go(func() {
				for n := range last {
					sitetest.Configure(t, s, name, key, fmt.Sprint(n+1))
				}
			})
		}
		work.Wait()
		first.Refresh(t.Context())
		config := first.Tenant(name).Site.Config()
		for _, key := range keys {
			if v, _ := config.Get(key); string(v) != fmt.Sprint(last) {
				t.Errorf("%s is %q", key, v)
			}
		}
	})
}

// TestLastConfigurationStays: while a site is opened and closed, what was set
// last is what it goes by after the next look, every time.
func TestLastConfigurationStays(t *testing.T) {
	eachInstallation(t, func(t *testing.T, p *processes) {
		s, _ := p.start()
		name := unique("s")
		sitetest.Create(t, s, name)
		stop := make(chan struct{})
		var work sync.WaitGroup
		work.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					s.Close(name)
					sitetest.Acquired(t, s, "x")
				}
			}
		})
		for n := range 12 {
			sitetest.Configure(t, s, name, "app_name", strconv.Quote(fmt.Sprint(n)))
			s.Refresh(t.Context())
			eventually(t, "the site is open", func() bool { return s.Tenant(name) != nil })
			if on := s.Tenant(name); on != nil {
				if got, _ := on.Site.Config().Get("app_name"); string(got) != strconv.Quote(fmt.Sprint(n)) {
					t.Errorf("set to %d, goes by %s", n, got)
				}
			}
		}
		close(stop)
		work.Wait()
	})
}
