package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"
)

// neighbours is what a site that takes all it can get costs those who read on
// another one of the same server.
type neighbours struct {
	Database string      `json:"database"`
	Rows     []neighbour `json:"rows"`
}

// neighbour is one kind of hostility.
type neighbour struct {
	Name   string `json:"name"`
	Conns  int    `json:"connections"` // of the hostile site
	Alone  result `json:"alone"`       // of the other site
	Beside result `json:"beside"`
	Work   int    `json:"answers"`           // that the hostile site got
	Memory int64  `json:"peak_memory_bytes"` // of the server meanwhile
	Failed string `json:"failed,omitempty"`  // why the other site was not served
}

// quietConns is how many connections read on the other site.
const quietConns = 4

// hostileHost is where the hostile site answers; the other one answers elsewhere.
const hostileHost = "hostile.example"

// measureNeighbours measures each kind of hostility by itself and all of them at
// once. A row takes half again as long as o.neighbours.
func measureNeighbours(ctx context.Context, o options, name, database string) (n *neighbours, err error) {
	g, err := newGround(ctx, o, database)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.remove()) }()
	if err := os.WriteFile(filepath.Join(g.dir, "data", "plugins", "hostile.js"), []byte(hostileScript), 0o600); err != nil {
		return nil, err
	}
	auth, err := keys(g.env, o.server, "Administrator")
	if err != nil {
		return nil, err
	}
	hostile, err := g.hostileSite()
	if err != nil {
		return nil, err
	}
	server, err := g.serve(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	read, err := lightMethod(ctx, server.address, auth)
	if err != nil {
		return nil, err
	}
	works, err := hostilities(ctx, server.address, hostile)
	if err != nil {
		return nil, err
	}
	n = &neighbours{Database: name}
	for _, w := range works {
		if !strings.Contains(w.name, o.hostility) {
			continue
		}
		n.Rows = append(n.Rows, measureNeighbour(ctx, o, server, w.name, read, w))
		if ctx.Err() != nil {
			return n, ctx.Err()
		}
	}
	if o.hostility == "" {
		n.Rows = append(n.Rows, measureNeighbour(ctx, o, server, "all at once", read, works...))
	}
	return n, nil
}

// hostileSite makes the site and returns the credentials of its Administrator.
func (g *ground) hostileSite() (auth string, err error) {
	for _, args := range [][]string{
		{"site", "new", "hostile"}, {"site", "config", "hostile", "set", "hosts", `["` + hostileHost + `"]`},
		{"user", "password", "Administrator", "--site", "hostile"},
	} {
		cmd := exec.Command(g.o.server, args...)
		cmd.Env = append(os.Environ(), g.env...)
		cmd.Stdin = strings.NewReader(loginPassword + "\n")
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	return keys(g.env, g.o.server, "Administrator", "--site", "hostile")
}

// lightMethod makes a document on the quiet site, and the requests of a plugin's
// method that reads it.
func lightMethod(ctx context.Context, address, auth string) (request, error) {
	made, err := newDocument(ctx, address, "", "/api/resource/ToDo", auth, map[string]any{"description": "a light document"})
	if err != nil {
		return nil, err
	}
	text := plain("GET", "/api/method/acme.todo.show?name="+url.QueryEscape(made), auth, nil)
	return func(int, int) []byte { return text }, nil
}

// newDocument makes a document and returns its name. An empty host is the server's.
func newDocument(ctx context.Context, address, host, path, auth string, values map[string]any) (name string, err error) {
	body, err := json.Marshal(values)
	if err != nil {
		return "", err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+path, strings.NewReader(string(body)))
	if err != nil {
		return "", err
	}
	r.Host = host
	r.Header.Set("Authorization", auth)
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	var answer struct {
		Data struct {
			Name string `json:"name"`
		} `json:"data"`
	}
	if err == nil && (res.StatusCode/100 != 2 || json.Unmarshal(text, &answer) != nil) {
		err = fmt.Errorf("%s: %s: %.300s", path, res.Status, text)
	}
	return answer.Data.Name, err
}

// measureNeighbour reads alone and then beside the works.
func measureNeighbour(ctx context.Context, o options, server *process, name string, read request, works ...hostility) neighbour {
	n := neighbour{Name: name}
	var err error
	if n.Alone, err = load(ctx, server.address, quietConns, o.neighbours/2, read); err != nil {
		n.Failed = err.Error()
		return n
	}
	server.forgetPeak()
	harm, stop := context.WithCancel(ctx)
	done := make(chan int, len(works))
	for _, w := range works {
		n.Conns += w.conns
		go func() { done <- w.run(harm, server.address) }()
	}
	select { // until it is at work
	case <-time.After(o.neighbours / 10):
	case <-ctx.Done():
	}
	if n.Beside, err = load(ctx, server.address, quietConns, o.neighbours, read); err != nil {
		n.Failed = strings.TrimSpace(err.Error())
	}
	stop()
	for range works {
		n.Work += <-done
	}
	n.Memory = server.memory("VmHWM")
	rest(ctx, server.address, read)
	return n
}

// rest waits until the quiet site is served again, so that a row does not pay for the
// one before it; for ten seconds at most.
func rest(ctx context.Context, address string, read request) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for ctx.Err() == nil {
		if r, err := load(ctx, address, 1, 200*time.Millisecond, read); err == nil && r.P99 < 20*time.Millisecond {
			return
		}
	}
}

func (n *neighbours) print(w io.Writer) {
	fmt.Fprintf(w, "\n%s: a light method of one site over %d connections, beside another site that takes what it can\n\n", n.Database, quietConns)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\talone/s\tbeside/s\tratio\tp99 alone\tp99 beside\tratio\tpeak memory\tits answers\t")
	for _, r := range n.Rows {
		if r.Failed != "" {
			fmt.Fprintf(t, "%s, %d connections\t%.0f\tfailed: %.60s\t\t\t\t\t%s\t%d\t\n", r.Name, r.Conns, r.Alone.PerSecond, strings.ReplaceAll(r.Failed, "\n", " "), mib(r.Memory), r.Work)
			continue
		}
		fmt.Fprintf(t, "%s, %d connections\t%.0f\t%.0f\t%.2f\t%s\t%s\t%.1f\t%s\t%d\t\n", r.Name, r.Conns,
			r.Alone.PerSecond, r.Beside.PerSecond, r.Beside.PerSecond/r.Alone.PerSecond,
			ms(r.Alone.P99), ms(r.Beside.P99), float64(r.Beside.P99)/float64(r.Alone.P99), mib(r.Memory), r.Work)
	}
	t.Flush()
}
