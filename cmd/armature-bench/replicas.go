package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// replicaRow is one kind of read, by how many replicas it may go to.
type replicaRow struct {
	name   string
	writes int // connections that write meanwhile
	read   request
	of     []replicaResult
}

// replicaResult is a result, and how long the primary's processors were at it for each
// request, which no other process on the machine changes; 0: it is elsewhere.
type replicaResult struct {
	result
	primary time.Duration
}

// measureReplicas has a server read from none of the replicas, from one, and so on. They
// follow the server whose URL is given, and share its machine here unless they are
// elsewhere.
func measureReplicas(ctx context.Context, o options, out io.Writer) (err error) {
	replicas := strings.Fields(o.replicas)
	if len(replicas) == 0 {
		return nil
	}
	g, err := newGround(ctx, o, o.postgres)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.remove()) }()
	var t target
	if _, err := g.fill(ctx, &t); err != nil {
		return err
	}
	if err := g.analyze(ctx); err != nil {
		return err
	}
	cases := benches(t)
	rows := []*replicaRow{
		{name: cases[0].name, read: cases[0].armature},
		{name: cases[1].name, read: cases[1].armature},
		{name: cases[1].name + ", beside 4 writers", read: cases[1].armature, writes: 4},
	}
	for n := range len(replicas) + 1 {
		if err := g.readFrom(ctx, replicas[:n], &t, rows); err != nil {
			return fmt.Errorf("%d replicas: %w", n, err)
		}
	}
	printReplicas(out, o, rows)
	return nil
}

// readFrom runs the rows on a server that reads from replicas.
func (g *ground) readFrom(ctx context.Context, replicas []string, t *target, rows []*replicaRow) (err error) {
	args := []string{"serve", "--listen", "127.0.0.1:0"}
	for _, replica := range replicas {
		same, err := onReplica(g.database, replica)
		if err != nil {
			return err
		}
		args = append(args, "--database-replica", same)
	}
	p, err := start(ctx, g.env, g.o.server, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	create := benches(*t)[3].armature
	for _, row := range rows {
		var rounds []result
		before, err := g.primaryTime(ctx)
		if err != nil {
			return err
		}
		for range g.o.rounds {
			beside, stop := context.WithCancel(ctx)
			wrote := make(chan error, 1)
			go func() {
				var err error
				if row.writes > 0 {
					_, err = load(beside, p.address, row.writes, 10*g.o.duration, create)
				}
				wrote <- err
			}()
			r, err := load(ctx, p.address, g.o.conns, g.o.duration, row.read)
			stop()
			if err = errors.Join(err, <-wrote); err != nil {
				return fmt.Errorf("%s: %w", row.name, err)
			}
			rounds = append(rounds, r)
		}
		after, err := g.primaryTime(ctx)
		if err != nil {
			return err
		}
		answered := 0.0
		for _, r := range rounds {
			answered += r.PerSecond * g.o.duration.Seconds()
		}
		row.of = append(row.of, replicaResult{median(rounds), time.Duration(float64(after-before) / answered)})
	}
	return nil
}

// primaryTime is how long the processors were at the connections that the primary has.
func (g *ground) primaryTime(ctx context.Context) (sum time.Duration, err error) {
	db, err := sql.Open("pgx", g.database)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	rows, err := db.QueryContext(ctx, "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var pid int
		if err := rows.Scan(&pid); err != nil {
			return 0, err
		}
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue // it has ended, or runs elsewhere
		}
		// proc(5): the fields 14 and 15, in hundredths of a second, after the name in brackets.
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		for _, f := range fields[11:13] {
			ticks, _ := strconv.Atoi(f)
			sum += time.Duration(ticks) * 10 * time.Millisecond
		}
	}
	return sum, rows.Err()
}

// onReplica is the URL of a database on another server.
func onReplica(database, replica string) (string, error) {
	from, err := url.Parse(database)
	if err != nil {
		return "", err
	}
	to, err := url.Parse(replica)
	if err != nil {
		return "", err
	}
	to.Path = from.Path
	return to.String(), nil
}

func printReplicas(out io.Writer, o options, rows []*replicaRow) {
	fmt.Fprintf(out, "Reads from replicas, %d connections, requests a second (99th percentile; the primary's processor time for each)\n", o.conns)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "\tprimary alone")
	for n := range len(rows[0].of) - 1 {
		fmt.Fprintf(w, "\t%d of replicas", n+1)
	}
	fmt.Fprintln(w)
	for _, row := range rows {
		fmt.Fprint(w, row.name)
		for _, r := range row.of {
			fmt.Fprintf(w, "\t%.0f (%s; %s)", r.PerSecond, r.P99.Round(100*time.Microsecond), r.primary.Round(time.Microsecond))
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush()
	fmt.Fprintln(out)
}
