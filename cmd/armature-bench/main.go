// Command armature-bench measures the whole server: requests per second and the
// delay of the median and of the slowest hundredth, with 16 connections, beside
// a bare server that sends the same statements with net/http and database/sql.
// Both run in the same minute, in turns, on the same machine, so their ratio
// means something where absolute numbers do not. What logging in and uploading
// cost those who read meanwhile is the ratio to reading alone, and so
// is what a site that takes all it can get costs another one.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// options are the settings of a run.
type options struct {
	server    string // the armature binary
	plugin    string // the todo example
	postgres  string // URL; empty: left out
	replicas  string // URLs of servers that follow it
	duration  time.Duration
	rounds    int
	conns     int
	documents int
	large     int // rows of the large table; no more than documents: left out
	sites     int // that sleep; 0: left out

	jobs   int // from enqueue to done; 0: left out
	behind int // of another site, behind which one waits

	subscribers int // who follow what does not change; 0: left out

	rights int // rows of the table that rights decide on; 0: left out
	json   string

	neighbours time.Duration // how long each row of theirs runs; 0: left out
	hostility  string        // part of the name of the rows that run; empty: all
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	if len(os.Args) > 1 && os.Args[1] == "baseline" {
		err = runBaseline(ctx, os.Args[2:])
	} else {
		err = runAll(ctx, os.Args[1:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "armature-bench:", err)
		os.Exit(1)
	}
}

// define makes the flags that set the options.
func (o *options) define(flags *flag.FlagSet) {
	flags.StringVar(&o.server, "server", "bin/armature", "the armature binary")
	flags.StringVar(&o.plugin, "plugin", "bin/examples/todo.wasm", "the todo example, built")
	flags.StringVar(&o.postgres, "postgres", os.Getenv("ARMATURE_TEST_POSTGRES"), "URL of a PostgreSQL database")
	flags.StringVar(&o.replicas, "replicas", os.Getenv("ARMATURE_TEST_REPLICAS"), "URLs of servers that follow it, with spaces between; empty leaves out what they add")
	flags.DurationVar(&o.duration, "duration", 2*time.Second, "how long each case runs in each round")
	flags.IntVar(&o.rounds, "rounds", 3, "rounds; the median counts")
	flags.IntVar(&o.conns, "conns", 16, "connections")
	flags.IntVar(&o.documents, "documents", 10_000, "documents in the table; 0 leaves the comparison with a bare server out")
	flags.IntVar(&o.large, "large", 1_000_000, "rows of the large table, for lists that must stay flat; 0 leaves it out")
	flags.IntVar(&o.sites, "sites", 1000, "sites that sleep, for what they cost; 0 leaves it out")
	flags.IntVar(&o.rights, "rights", 100_000, "rows of a table of which users see what their rights allow; 0 leaves it out")
	flags.IntVar(&o.subscribers, "subscribers", 5000, "subscribers to live changes who are told nothing, for what they cost; 0 leaves it out")
	flags.IntVar(&o.jobs, "jobs", 5000, "jobs that are enqueued and done, beside river alone; 0 leaves them out")
	flags.IntVar(&o.behind, "behind", 100_000, "jobs of another site that wait while a site's one job is timed")
	flags.DurationVar(&o.neighbours, "neighbours", 2*time.Second, "how long each kind of hostility of another site runs; 0 leaves them out")
	flags.StringVar(&o.hostility, "hostility", "", "of them, those alone with this in their name")
	flags.StringVar(&o.json, "json", "", "file to write the numbers to")
}

func runAll(ctx context.Context, args []string) error {
	var o options
	flags := flag.NewFlagSet("armature-bench", flag.ContinueOnError)
	o.define(flags)
	if err := flags.Parse(args); err != nil {
		return err
	}
	databases := []struct{ name, url string }{{"SQLite", ""}, {"PostgreSQL", o.postgres}}
	if o.postgres == "" {
		fmt.Println("PostgreSQL: skipped, ARMATURE_TEST_POSTGRES is not set")
		databases = databases[:1]
	}
	for _, database := range databases {
		if o.sites == 0 {
			break
		}
		s, err := measureSites(ctx, o, database.name, database.url)
		if err != nil {
			return fmt.Errorf("sites: %w", err)
		}
		s.print(os.Stdout)
	}
	for _, database := range databases {
		if o.subscribers == 0 {
			break
		}
		l, err := measureLive(ctx, o, database.name, database.url)
		if err != nil {
			return fmt.Errorf("live changes: %w", err)
		}
		l.print(os.Stdout)
	}
	for _, database := range databases {
		if o.jobs == 0 {
			break
		}
		j, err := measureJobs(ctx, o, database.name, database.url)
		if err != nil {
			return fmt.Errorf("jobs: %w", err)
		}
		j.print(os.Stdout)
	}
	if err := measureReplicas(ctx, o, os.Stdout); err != nil {
		return fmt.Errorf("replicas: %w", err)
	}
	var reports []*report
	beside := map[string]*neighbours{}
	for _, database := range databases {
		if o.neighbours == 0 {
			break
		}
		n, err := measureNeighbours(ctx, o, database.name, database.url)
		if err != nil {
			return fmt.Errorf("neighbours: %w", err)
		}
		n.print(os.Stdout)
		beside[database.name] = n
	}
	for _, database := range databases {
		var seen *rights
		if o.rights > 0 {
			var err error
			if seen, err = measureRights(ctx, o, database.name, database.url); err != nil {
				return fmt.Errorf("rights: %w", err)
			}
			seen.print(os.Stdout)
		}
		if o.documents == 0 {
			continue
		}
		r, err := measure(ctx, o, database.name, database.url)
		if err != nil {
			return fmt.Errorf("%s: %w", database.name, err)
		}
		r.Rights, r.Neighbours = seen, beside[database.name]
		r.print(os.Stdout)
		reports = append(reports, r)
	}
	return writeJSON(o.json, reports)
}
