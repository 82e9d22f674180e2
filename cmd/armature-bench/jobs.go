package main

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
)

// jobsResult is how fast jobs are done.
type jobsResult struct {
	database string
	jobs     int
	rate     float64       // jobs a second, from before the first is enqueued until the last is done
	river    float64       // the same of river alone, with workers that do nothing
	behind   int           // jobs of another site that waited
	alone    time.Duration // from the answer to enqueueing one until it is done, with nothing before it
	beside   time.Duration // and while those of the other site wait
}

func (j *jobsResult) print(w io.Writer) {
	fmt.Fprintf(w, "\n%s: %d jobs from enqueue to done: %.0f/s, river alone %.0f/s (%.2f); a site's one job is done %s after it was enqueued, %s while %d of another site wait\n",
		j.database, j.jobs, j.rate, j.river, j.rate/j.river, ms(j.alone), ms(j.beside), j.behind)
}

// batch is how many jobs one call enqueues: what its host calls and its time allow.
const batch = 500

// jobPlugin enqueues jobs that do next to nothing, and one whose end can be seen.
const jobPlugin = `export const manifest = { version: "1", grants: ["enqueue", "kv"], limits: { cpu_ms: 10000, tx_ms: 60000 },
	methods: { fill: { verbs: ["POST"] }, one: { verbs: ["POST"] }, work: {}, mark: { verbs: ["POST"] }, marked: {} } };
export function fill({ n }) { for (let i = 0; i < n; i++) enqueue("bench.work"); }
export function work() {}
export function one({ key }) { return enqueue("bench.mark", { key }); }
export function mark({ key }) { kv.set(key, true); }
export function marked({ key }) { return kv.get(key) === true; }
`

// measureJobs has jobs enqueued and done on one site, then one of the other site while
// very many of the first wait.
func measureJobs(ctx context.Context, o options, name, database string) (j *jobsResult, err error) {
	o.documents = 1
	g, err := newGround(ctx, o, database)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.remove()) }()
	if err := os.WriteFile(filepath.Join(g.dir, "data", "plugins", "bench.js"), []byte(jobPlugin), 0o600); err != nil {
		return nil, err
	}
	var t target
	if _, err := g.fill(ctx, &t); err != nil {
		return nil, err
	}
	quiet, err := g.hostileSite()
	if err != nil {
		return nil, err
	}
	p, err := g.serve(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	busy, other := &jobSite{"http://" + p.address, "", t.auth}, &jobSite{"http://" + p.address, hostileHost, quiet}
	for _, s := range []*jobSite{busy, other} {
		if err := s.approve(ctx); err != nil {
			return nil, err
		}
	}
	j = &jobsResult{database: name, jobs: o.jobs, behind: o.behind}
	if err := busy.enqueue(ctx, batch); err != nil { // so that everything is warm
		return nil, err
	}
	if err := doneJobs(ctx, p.address, batch); err != nil {
		return nil, err
	}
	began := time.Now()
	if err := busy.enqueue(ctx, o.jobs); err != nil {
		return nil, err
	}
	if err := doneJobs(ctx, p.address, batch+o.jobs); err != nil {
		return nil, err
	}
	j.rate = float64(o.jobs) / time.Since(began).Seconds()
	if j.river, err = riverAlone(ctx, g.bare, o.jobs); err != nil {
		return nil, err
	}
	if j.alone, err = other.one(ctx, "alone"); err != nil {
		return nil, err
	}
	if err := busy.enqueue(ctx, o.behind); err != nil {
		return nil, err
	}
	j.beside, err = other.one(ctx, "beside")
	return j, err
}

// jobSite is a site that jobs are enqueued on.
type jobSite struct{ address, host, auth string }

// call calls a method of the plugin, or of the platform.
func (s *jobSite) call(ctx context.Context, method string, args map[string]any) (answer json.RawMessage, err error) {
	body, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.address+"/api/method/"+method, strings.NewReader(string(body)))
	if err != nil {
		return nil, err
	}
	r.Host = s.host
	r.Header.Set("Authorization", s.auth)
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s %s", method, res.Status, text)
	}
	var said struct{ Message json.RawMessage }
	err = json.Unmarshal(text, &said)
	return said.Message, err
}

// approve waits until the plugin is there and approves it.
func (s *jobSite) approve(ctx context.Context) (err error) {
	for range 600 {
		if _, err = s.call(ctx, "framework.plugins.approve", map[string]any{"plugin": "bench", "grants": "enqueue"}); err == nil {
			if _, err = s.call(ctx, "bench.marked", map[string]any{"key": "none"}); err == nil {
				return nil
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}

// enqueue enqueues jobs, a batch at a time.
func (s *jobSite) enqueue(ctx context.Context, n int) error {
	for ; n > 0; n -= batch {
		if _, err := s.call(ctx, "bench.fill", map[string]any{"n": min(n, batch)}); err != nil {
			return err
		}
	}
	return nil
}

// one enqueues a job, and returns how long after the answer it is done.
func (s *jobSite) one(ctx context.Context, key string) (time.Duration, error) {
	if _, err := s.call(ctx, "bench.one", map[string]any{"key": key}); err != nil {
		return 0, err
	}
	began := time.Now()
	for {
		done, err := s.call(ctx, "bench.marked", map[string]any{"key": key})
		if err != nil {
			return 0, err
		}
		if string(done) == "true" {
			return time.Since(began), nil
		}
		time.Sleep(time.Millisecond)
	}
}

// doneJobs waits until so many jobs are done since the start.
func doneJobs(ctx context.Context, address string, n int) error {
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/metrics", nil)
		if err != nil {
			return err
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		done := 0.0
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			if value, ok := strings.CutPrefix(lines.Text(), `armature_jobs_turns_total{result="done"} `); ok {
				done, err = strconv.ParseFloat(value, 64)
			}
		}
		if err = errors.Join(err, res.Body.Close()); err != nil || int(done) >= n {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// nothing is the job of river alone.
type nothing struct {
	N int `json:"n"`
}

func (nothing) Kind() string { return "nothing" }

// riverAlone is how many jobs a second river does, that are put in a batch at a time as
// the server's are, with as many workers and on the same kind of database.
func riverAlone(ctx context.Context, database string, jobs int) (rate float64, err error) {
	if strings.Contains(database, "://") {
		pool, err := pgxpool.New(ctx, database)
		if err != nil {
			return 0, err
		}
		defer pool.Close()
		return riverOn[pgx.Tx](ctx, riverpgxv5.New(pool), jobs)
	}
	db, err := sql.Open("sqlite", "file:"+database+"-river?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		return 0, err
	}
	db.SetMaxOpenConns(1)
	defer func() { err = errors.Join(err, db.Close()) }()
	return riverOn[*sql.Tx](ctx, riversqlite.New(db), jobs)
}

func riverOn[Tx any](ctx context.Context, driver riverdriver.Driver[Tx], jobs int) (rate float64, err error) {
	log := slog.New(slog.DiscardHandler)
	migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: log})
	if err != nil {
		return 0, err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return 0, err
	}
	var left atomic.Int64
	left.Store(int64(jobs))
	done := make(chan struct{})
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(func(context.Context, *river.Job[nothing]) error {
		if left.Add(-1) == 0 {
			close(done)
		}
		return nil
	}))
	c, err := river.NewClient(driver, &river.Config{
		Logger: log, PollOnly: true, FetchCooldown: 5 * time.Millisecond, FetchPollInterval: 50 * time.Millisecond, Workers: workers,
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 16}},
	})
	if err != nil {
		return 0, err
	}
	if err := c.Start(ctx); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, c.Stop(context.WithoutCancel(ctx))) }()
	began := time.Now()
	for n := jobs; n > 0; n -= batch {
		list := make([]river.InsertManyParams, min(n, batch))
		for i := range list {
			list[i].Args = nothing{n - i}
		}
		if _, err := c.InsertMany(ctx, list); err != nil {
			return 0, err
		}
	}
	select {
	case <-done:
		return float64(jobs) / time.Since(began).Seconds(), nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}
