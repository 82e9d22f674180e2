package main

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"armature/core/site"
	"armature/core/sites"
	"armature/core/sites/datafolder"
)

// sleepers is what many sites cost that nobody uses, and how long the first
// request to one takes.
type sleepers struct {
	Database   string        `json:"database"`
	Sites      int           `json:"sites"`
	Alone      int64         `json:"alone_bytes"`  // memory of the server with one site
	Asleep     int64         `json:"asleep_bytes"` // and with all of them, asleep
	Woken      int           `json:"woken"`        // sites that got a request
	P50        time.Duration `json:"p50_ns"`       // of the first requests
	P99        time.Duration `json:"p99_ns"`
	Warm       time.Duration `json:"warm_ns"` // of the second ones, the median
	Goroutines [3]int        `json:"goroutines"`
	Files      [3]int        `json:"files"` // open in the folder of sites: before, with the woken sites open, when they sleep again
}

// sleepIdle is how long a site stays open in this measurement.
const sleepIdle = 3 * time.Second

// measureSites measures o.sites sites in SQLite files, or in a PostgreSQL database:
// one is made, the others are copies of it with hosts of their own.
func measureSites(ctx context.Context, o options, name, server string) (s *sleepers, err error) {
	dir, err := os.MkdirTemp("", "armature-bench-sites-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	env := []string{"ARMATURE_DATA=" + dir, "ARMATURE_LOG_LEVEL=error", "ARMATURE_SITE_IDLE=" + sleepIdle.String(), "ARMATURE_SECRET_KEY=" + sleepKey}
	s = &sleepers{Database: name, Sites: o.sites, Woken: min(o.sites, 200)}
	fill := func() error { return copySites(dir, o.sites) }
	if server != "" {
		d, failed := newDatabases(ctx, server)
		if failed != nil {
			return nil, failed
		}
		defer func() { err = errors.Join(err, d.drop()) }()
		env = append(env, "ARMATURE_DATABASE="+d.ours)
		fill = func() error { return copySchemas(ctx, dir, d.ours, o.sites, s.Woken) }
	} else {
		env = append(env, "ARMATURE_DATABASE=")
	}
	return s, s.measure(ctx, o, dir, env, fill)
}

// sleepKey is the master key of this measurement.
var sleepKey = strings.Repeat("5a", 32)

func (s *sleepers) measure(ctx context.Context, o options, dir string, env []string, fill func() error) (err error) {
	serve := func() (*process, error) { return start(ctx, env, o.server, "serve", "--listen", "127.0.0.1:0") }
	auth, err := keys(env, o.server, "Administrator") // makes the default site
	if err != nil {
		return err
	}
	alone, err := serve()
	if err != nil {
		return err
	}
	if s.Alone, err = settledMemory(ctx, alone, dir); err != nil {
		return errors.Join(err, alone.stop())
	}
	if err := alone.stop(); err != nil {
		return err
	}
	if err := fill(); err != nil {
		return err
	}
	many, err := serve()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, many.stop()) }()
	if s.Asleep, err = settledMemory(ctx, many, dir); err != nil {
		return err
	}
	s.look(many, dir, 0)
	if err := s.wake(ctx, many.address, auth); err != nil {
		return err
	}
	s.look(many, dir, 1)
	if _, err := settledMemory(ctx, many, dir); err != nil {
		return err
	}
	s.look(many, dir, 2)
	return nil
}

func copySites(dir string, count int) error {
	for n := range count {
		if err := copySite(filepath.Join(dir, "sites"), siteName(n)); err != nil {
			return err
		}
	}
	return nil
}

// copySchemas lists sites in the database's registry and gives the first of them
// copies of the default site's schema: those that nobody wakes need none.
func copySchemas(ctx context.Context, dir, database string, count, woken int) (err error) {
	master, err := site.ParseMaster(sleepKey)
	if err != nil {
		return err
	}
	registry := sites.NewRegistry(sites.RegistryConfig{Layout: datafolder.Layout{Data: dir}, Database: database, Master: master})
	defer func() { err = errors.Join(err, registry.Close()) }()
	for n := range count {
		if err := registry.Create(ctx, siteName(n)); err != nil {
			return err
		}
		_, err := registry.Configure(ctx, siteName(n), func(c *site.Config) (*site.Config, error) {
			return c.With("hosts", json.RawMessage(`["`+siteName(n)+`.example"]`))
		})
		if err != nil {
			return err
		}
	}
	list, err := registry.Look(ctx)
	if err != nil {
		return err
	}
	db, err := sql.Open("pgx", database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for n, r := range list {
		// Housekeeping is done: it would wake each of them in turn.
		if _, err := registry.ClaimMaintenance(ctx, r); err != nil {
			return err
		}
		if r.Name == site.Default || n > woken {
			continue
		}
		if _, err := db.ExecContext(ctx, fmt.Sprintf(copySchema, r.Schema)); err != nil {
			return fmt.Errorf("copy to %s: %w", r.Schema, err)
		}
	}
	_, err = db.ExecContext(ctx, "ANALYZE")
	return err
}

// copySchema copies the schema of the default site to another one.
const copySchema = `DO $$
DECLARE
	target text := '%s';
	one text;
BEGIN
	EXECUTE format('CREATE SCHEMA %%I', target);
	FOR one IN SELECT tablename FROM pg_tables WHERE schemaname = 'site_default' LOOP
		EXECUTE format('CREATE TABLE %%I.%%I (LIKE site_default.%%I INCLUDING ALL)', target, one, one);
		EXECUTE format('INSERT INTO %%I.%%I SELECT * FROM site_default.%%I', target, one, one);
	END LOOP;
END $$`

func siteName(n int) string { return fmt.Sprintf("site%04d", n) }

// copySite makes a site of the default one's folder. No server runs.
func copySite(folder, name string) error {
	to := filepath.Join(folder, name)
	if err := os.MkdirAll(filepath.Join(to, "plugins"), 0o700); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(folder, "default", "site.db"))
	if err != nil {
		return err
	}
	// Housekeeping is done: it would wake each of them in turn.
	return errors.Join(
		os.WriteFile(filepath.Join(to, "site.db"), text, 0o600),
		os.WriteFile(filepath.Join(to, ".tended"), nil, 0o600),
		os.WriteFile(filepath.Join(to, "site_config.json"), []byte(`{"hosts": ["`+name+`.example"]}`), 0o600),
	)
}

// settledMemory waits until every site sleeps and returns the memory in use.
func settledMemory(ctx context.Context, p *process, dir string) (int64, error) {
	for end := time.Now().Add(time.Minute); ; {
		if time.Now().After(end) {
			return 0, errors.New("the sites do not go to sleep")
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(500 * time.Millisecond):
		}
		if p.openFiles(filepath.Join(dir, "sites")) == 0 {
			return p.memory("VmRSS"), nil
		}
	}
}

// openFiles counts the open files below a folder.
func (p *process) openFiles(dir string) (n int) {
	all, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", p.cmd.Process.Pid))
	for _, fd := range all {
		if name, err := os.Readlink(fd); err == nil && strings.HasPrefix(name, dir+"/") {
			n++
		}
	}
	return n
}

func (s *sleepers) look(p *process, dir string, when int) {
	s.Files[when] = p.openFiles(filepath.Join(dir, "sites"))
	s.Goroutines[when] = goroutines(p.address)
}

// goroutines reads the number from /metrics.
func goroutines(address string) int {
	res, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), "go_goroutines "); ok {
			n, _ := strconv.Atoi(text)
			return n
		}
	}
	return 0
}

// wake asks sleeping sites for a list, one after the other, and each once more.
func (s *sleepers) wake(ctx context.Context, address, auth string) error {
	var first, second []time.Duration
	for n := range s.Woken {
		for round := range 2 {
			took, err := ask(ctx, address, siteName(n)+".example", auth)
			if err != nil {
				return fmt.Errorf("%s: %w", siteName(n), err)
			}
			if round == 0 {
				first = append(first, took)
			} else {
				second = append(second, took)
			}
		}
	}
	slices.Sort(first)
	slices.Sort(second)
	s.P50, s.P99, s.Warm = first[len(first)/2], first[len(first)*99/100], second[len(second)/2]
	return nil
}

func ask(ctx context.Context, address, host, auth string) (time.Duration, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/api/resource/ToDo", nil)
	if err != nil {
		return 0, err
	}
	r.Host = host
	r.Header.Set("Authorization", auth)
	begun := time.Now()
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %s", res.StatusCode, text)
	}
	return time.Since(begun), err
}

func (s *sleepers) print(w io.Writer) {
	fmt.Fprintf(w, "\n%d sleeping %s sites: memory %s, with one site %s: they add %s\n",
		s.Sites, s.Database, mib(s.Asleep), mib(s.Alone), mib(s.Asleep-s.Alone))
	fmt.Fprintf(w, "first request to a sleeping site: p50 %s, p99 %s; the second: %s\n", ms(s.P50), ms(s.P99), ms(s.Warm))
	fmt.Fprintf(w, "asleep, with %d open, asleep again: goroutines %d, %d, %d; open files of sites %d, %d, %d\n", s.Woken,
		s.Goroutines[0], s.Goroutines[1], s.Goroutines[2], s.Files[0], s.Files[1], s.Files[2])
}
