package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// measure runs every case on one database.
func measure(ctx context.Context, o options, name, database string) (r *report, err error) {
	g, err := newGround(ctx, o, database)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.remove()) }()
	r = &report{Database: name, Connections: o.conns, Documents: o.documents, Large: o.large}
	t := target{}
	if r.FirstStart, err = g.fill(ctx, &t); err != nil {
		return nil, err
	}
	ours, err := g.serve(ctx) // again: what is measured has its data and its cache
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ours.stop()) }()
	r.Start, r.IdleMemory = ours.started, ours.memory("VmRSS")
	if r.Rows, err = g.compareAll(ctx, ours, &t); err != nil {
		return nil, err
	}
	r.PeakMemory = ours.memory("VmHWM")
	if r.Beside, err = besides(ctx, o, ours, t); err != nil {
		return nil, err
	}
	if r.Growth, err = growTable(ctx, o, ours.address, t.auth, g.database, filepath.Join(g.dir, "data")); err != nil {
		return nil, err
	}
	return r, nil
}

// ground is where one database is measured: a folder, and a database for each of the
// two servers.
type ground struct {
	o        options
	dir      string
	env      []string
	database string // ours; empty: a file in dir
	bare     string // the bare server's
	analyze  func(context.Context) error
	drop     func() error
}

func newGround(ctx context.Context, o options, database string) (g *ground, err error) {
	dir, err := os.MkdirTemp("", "armature-bench-")
	if err != nil {
		return nil, err
	}
	g = &ground{
		o: o, dir: dir, bare: filepath.Join(dir, "bare.db"),
		analyze: func(context.Context) error { return nil }, drop: func() error { return nil },
	}
	if database != "" {
		db, err := newDatabases(ctx, database)
		if err != nil {
			return nil, errors.Join(err, g.remove())
		}
		g.database, g.bare, g.analyze, g.drop = db.ours, db.bare, db.analyze, db.drop
	}
	g.env = []string{"ARMATURE_DATA=" + filepath.Join(dir, "data"), "ARMATURE_DATABASE=" + g.database, "ARMATURE_LOG_LEVEL=error"}
	if err := installPlugin(o.plugin, filepath.Join(dir, "data", "plugins", "todo.wasm")); err != nil {
		return nil, errors.Join(err, g.remove())
	}
	return g, nil
}

func (g *ground) remove() error { return errors.Join(g.drop(), os.RemoveAll(g.dir)) }

func (g *ground) serve(ctx context.Context) (*process, error) {
	return start(ctx, g.env, g.o.server, "serve", "--listen", "127.0.0.1:0")
}

// fill starts the server for the first time and stores what is measured; it returns
// how long the start took.
func (g *ground) fill(ctx context.Context, t *target) (started time.Duration, err error) {
	first, err := g.serve(ctx)
	if err != nil {
		return 0, err
	}
	if t.auth, err = keys(g.env, g.o.server, "Administrator"); err == nil {
		err = setPassword(g.env, g.o.server)
	}
	if err == nil {
		t.ours, err = seed(ctx, first.address, t.auth, g.o)
	}
	return first.started, errors.Join(err, first.stop())
}

// compareAll runs the cases against our server and the bare one.
func (g *ground) compareAll(ctx context.Context, ours *process, t *target) (rows []row, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	bare, err := start(ctx, nil, self, "baseline", "-database", g.bare, "-documents", fmt.Sprint(g.o.documents))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, bare.stop()) }()
	if t.bare, err = bareNames(bare.address); err != nil {
		return nil, err
	}
	if err := g.analyze(ctx); err != nil {
		return nil, err
	}
	for _, b := range benches(*t) {
		r, err := compare(ctx, g.o, b, ours.address, bare.address)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b.name, err)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// compare runs both servers in turns and takes the median round of each.
func compare(ctx context.Context, o options, b bench, ours, bare string) (row, error) {
	var us, them []result
	// A short run first fills caches and pools on both sides.
	for round := range o.rounds + 1 {
		d := o.duration
		if round == 0 {
			d = min(d, 500*time.Millisecond)
		}
		a, err := load(ctx, ours, o.conns, d, b.armature)
		if err != nil {
			return row{}, fmt.Errorf("armature: %w", err)
		}
		z, err := load(ctx, bare, o.conns, d, b.bare)
		if err != nil {
			return row{}, fmt.Errorf("bare: %w", err)
		}
		if round > 0 {
			us, them = append(us, a), append(them, z)
		}
	}
	return row{Name: b.name, Armature: median(us), Bare: median(them)}, nil
}

func median(rs []result) result {
	slices.SortFunc(rs, func(a, b result) int { return cmp.Compare(a.PerSecond, b.PerSecond) })
	return rs[len(rs)/2]
}

func installPlugin(plugin, to string) error {
	whole, err := os.ReadFile(plugin)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return os.WriteFile(to, whole, 0o600)
}

// keys gets credentials the way an operator does.
func keys(env []string, server, user string, more ...string) (string, error) {
	cmd := exec.Command(server, append([]string{"user", "keys", user}, more...)...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("user keys: %w", err)
	}
	var keys struct {
		Key    string `json:"api_key"`
		Secret string `json:"api_secret"`
	}
	err = json.Unmarshal(out, &keys)
	return "token " + keys.Key + ":" + keys.Secret, err
}

// seed creates the documents over HTTP, half of them closed, and returns their
// names.
func seed(ctx context.Context, address, auth string, o options) ([]string, error) {
	var made atomic.Int64
	end, stop := context.WithCancel(ctx)
	defer stop()
	_, err := load(end, address, o.conns, 10*time.Minute, func(int, int) []byte {
		n := made.Add(1)
		if n >= int64(o.documents) {
			stop()
		}
		return plain("POST", "/api/resource/ToDo", auth, seedBody(int(n)))
	})
	if err != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("make documents: %w", err)
	}
	return names("http://"+address+`/api/resource/ToDo?limit=0&filters=[["status","=","Closed"]]`, auth)
}

// seedBody is the n-th document; every second one is closed.
func seedBody(n int) []byte {
	status := []string{"Open", "Closed"}[n%2]
	return fmt.Appendf(nil, `{"description": "%s, number %d", "status": "%s"}`, strings.Repeat("something to do ", 4), n, status)
}

func bareNames(address string) ([]string, error) { return names("http://"+address+"/names", "") }

func names(url, auth string) ([]string, error) {
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", auth)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Data []struct {
			Name string `json:"name"`
		} `json:"data"`
	}
	if err := json.Unmarshal(text, &answer); err != nil || len(answer.Data) == 0 {
		return nil, fmt.Errorf("%s: no documents: %s", url, text)
	}
	list := make([]string, len(answer.Data))
	for i, d := range answer.Data {
		list[i] = d.Name
	}
	return list, nil
}
