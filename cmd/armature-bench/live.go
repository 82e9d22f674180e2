package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// liveResult is what following changes costs.
type liveResult struct {
	database    string
	subscribers int
	memory      int64         // of the server with them, the most
	before      int64         // and without
	p50, p99    time.Duration // from the answer to a write until it is told
	bare        time.Duration // p99 of a bare handler that tells what it is given
	rate        float64       // events a second while several write
	bareRate    float64       // of the bare handler
}

func (l *liveResult) print(w io.Writer) {
	fmt.Fprintf(w, "\n%s: %d idle subscribers take %s (the server %s, before %s); from the answer to a write to the event p50 %s, p99 %s, a bare handler's p99 %s; while %d write %.0f events/s, a bare handler %.0f/s\n",
		l.database, l.subscribers, mib(l.memory-l.before), mib(l.memory), mib(l.before), ms(l.p50), ms(l.p99), ms(l.bare), liveWriters, l.rate, l.bareRate)
}

// liveWrites is how many writes are told in a measurement.
const liveWrites = 300

// liveWriters write at a time while events are counted, each so many times.
const (
	liveWriters = 8
	liveEach    = 250
)

// eventRate is how many events a second come from what several write at a time: from the
// first write until the last event.
func eventRate(ctx context.Context, url, auth string, told *bufio.Reader) (float64, error) {
	began := time.Now()
	wrote := make(chan error, liveWriters)
	for w := range liveWriters {
		go func() {
			for n := range liveEach {
				if _, err := writeOne(ctx, url, auth, seedBody(w*liveEach+n)); err != nil {
					wrote <- err
					return
				}
			}
			wrote <- nil
		}()
	}
	var err error
	for n := 0; n < liveWriters*liveEach && err == nil; n++ {
		err = until(told, "event: changed")
	}
	took := time.Since(began)
	for range liveWriters {
		err = errors.Join(err, <-wrote)
	}
	return liveWriters * liveEach / took.Seconds(), err
}

// measureLive has many follow a document each of which nothing becomes, and one a list
// that grows.
func measureLive(ctx context.Context, o options, name, database string) (l *liveResult, err error) {
	o.documents = 1
	g, err := newGround(ctx, o, database)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.remove()) }()
	var t target
	if _, err := g.fill(ctx, &t); err != nil {
		return nil, err
	}
	if err := g.configure("live_streams_per_user", fmt.Sprint(o.subscribers+10)); err != nil {
		return nil, err
	}
	p, err := g.serve(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	l = &liveResult{database: name, subscribers: o.subscribers, before: p.memory("VmRSS")}
	var open []net.Conn
	defer func() {
		for _, c := range open {
			c.Close()
		}
	}()
	for n := range o.subscribers {
		c, _, err := subscribe(ctx, p.address, "/api/live?doctype=ToDo&name=none-"+fmt.Sprint(n%100), t.auth, "event: ready")
		if err != nil {
			return nil, fmt.Errorf("subscriber %d: %w", n, err)
		}
		open = append(open, c)
	}
	c, told, err := subscribe(ctx, p.address, "/api/live?doctype=ToDo", t.auth, "event: ready")
	if err != nil {
		return nil, err
	}
	open = append(open, c)
	delays := make([]time.Duration, 0, liveWrites)
	for n := range liveWrites {
		answered, err := writeOne(ctx, "http://"+p.address+"/api/resource/ToDo", t.auth, seedBody(n))
		if err != nil {
			return nil, err
		}
		if err := until(told, "event: changed"); err != nil {
			return nil, err
		}
		delays = append(delays, max(0, time.Since(answered)))
	}
	slices.Sort(delays)
	l.p50, l.p99, l.memory = delays[len(delays)/2], delays[len(delays)*99/100], p.memory("VmHWM")
	if l.rate, err = eventRate(ctx, "http://"+p.address+"/api/resource/ToDo", t.auth, told); err != nil {
		return nil, err
	}
	l.bare, l.bareRate, err = bareEvents(ctx)
	return l, err
}

// configure sets a key of the site's configuration.
func (g *ground) configure(key, value string) error {
	cmd := exec.Command(g.o.server, "site", "config", "default", "set", key, value)
	cmd.Env = append(os.Environ(), g.env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("site config: %w\n%s", err, out)
	}
	return nil
}

// bareEvents is the p99, and the events a second, of a handler that tells what it is given, and nothing else.
func bareEvents(ctx context.Context) (p99 time.Duration, rate float64, err error) {
	events := make(chan struct{}, liveWriters*liveEach)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /live", func(w http.ResponseWriter, r *http.Request) {
		flush := http.NewResponseController(w)
		_, _ = io.WriteString(w, "event: ready\n\n")
		_ = flush.Flush()
		for {
			select {
			case <-events:
				_, _ = io.WriteString(w, "event: changed\n\n")
				_ = flush.Flush()
			case <-r.Context().Done():
				return
			}
		}
	})
	mux.HandleFunc("POST /write", func(http.ResponseWriter, *http.Request) { events <- struct{}{} })
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, 0, err
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	defer server.Close()
	go func() { _ = server.Serve(listener) }() // until it is closed
	address := listener.Addr().String()
	c, told, err := subscribe(ctx, address, "/live", "", "event: ready")
	if err != nil {
		return 0, 0, err
	}
	defer c.Close()
	delays := make([]time.Duration, 0, liveWrites)
	for n := range liveWrites {
		answered, err := writeOne(ctx, "http://"+address+"/write", "", seedBody(n))
		if err != nil {
			return 0, 0, err
		}
		if err := until(told, "event: changed"); err != nil {
			return 0, 0, err
		}
		delays = append(delays, max(0, time.Since(answered)))
	}
	slices.Sort(delays)
	rate, err = eventRate(ctx, "http://"+address+"/write", "", told)
	return delays[len(delays)*99/100], rate, err
}

// subscribe opens a stream and reads it until a line.
func subscribe(ctx context.Context, address, path, auth, line string) (net.Conn, *bufio.Reader, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, nil, err
	}
	r := bufio.NewReaderSize(c, 4096)
	_, err = c.Write(plain(http.MethodGet, path, auth, nil))
	if err == nil {
		err = until(r, line)
	}
	if err != nil {
		return nil, nil, errors.Join(err, c.Close())
	}
	return c, r, nil
}

// until reads until a line that begins so.
func until(r *bufio.Reader, line string) error {
	for {
		text, err := r.ReadString('\n')
		if err != nil {
			return err
		}
		if strings.HasPrefix(text, line) {
			return nil
		}
	}
}

// writeOne writes, and returns when it was answered.
func writeOne(ctx context.Context, url, auth string, body []byte) (time.Time, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(string(body)))
	if err != nil {
		return time.Time{}, err
	}
	req.Header.Set("Authorization", auth)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return time.Time{}, err
	}
	at := time.Now()
	_, _ = io.Copy(io.Discard, res.Body)
	if err := res.Body.Close(); err != nil {
		return at, err
	}
	if res.StatusCode != http.StatusOK {
		return at, fmt.Errorf("%s: %s", url, res.Status)
	}
	return at, nil
}
