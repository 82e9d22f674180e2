package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// result is what a load of requests came to.
type result struct {
	PerSecond float64       `json:"per_second"`
	P50       time.Duration `json:"p50_ns"`
	P99       time.Duration `json:"p99_ns"`
}

// request makes the text of the n-th request of a connection.
type request func(conn, n int) []byte

// load sends requests over conns connections for d, each waiting for its answer
// before it sends the next. It speaks HTTP by hand: net/http's client would use
// more of the machine than the servers do. Any answer but a 2xx is an error.
func load(ctx context.Context, address string, conns int, d time.Duration, next request) (result, error) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	delays := make([][]time.Duration, conns)
	errs := make([]error, conns)
	start := time.Now()
	var wg sync.WaitGroup
	for i := range conns {
		wg.Go(func() { delays[i], errs[i] = connection(ctx, address, i, next) })
	}
	wg.Wait()
	took := time.Since(start)
	for _, err := range errs {
		if err != nil {
			return result{}, err
		}
	}
	all := slices.Concat(delays...)
	if len(all) == 0 {
		return result{}, fmt.Errorf("no request was answered within %s", d)
	}
	slices.Sort(all)
	return result{
		PerSecond: float64(len(all)) / took.Seconds(),
		P50:       all[len(all)/2],
		P99:       all[len(all)*99/100],
	}, nil
}

// connection sends requests until ctx ends and returns how long each took.
func connection(ctx context.Context, address string, id int, next request) ([]time.Duration, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	in := bufio.NewReaderSize(conn, 16<<10)
	var delays []time.Duration
	for n := 0; ctx.Err() == nil; n++ {
		text := next(id, n)
		start := time.Now()
		if _, err := conn.Write(text); err != nil {
			return nil, err
		}
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			return nil, err
		}
		if resp.StatusCode/100 != 2 {
			body, _ := io.ReadAll(resp.Body)
			return nil, fmt.Errorf("%s: %s\n%s", firstLine(text), resp.Status, body)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			return nil, err
		}
		delays = append(delays, time.Since(start))
	}
	return delays, nil
}

func firstLine(text []byte) []byte {
	for i, c := range text {
		if c == '\r' {
			return text[:i]
		}
	}
	return text
}

// plain makes the text of a request.
func plain(verb, path, auth string, body []byte) []byte {
	text := fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: bench\r\nAccept: application/json\r\n", verb, path)
	if auth != "" {
		text = fmt.Appendf(text, "Authorization: %s\r\n", auth)
	}
	if body != nil {
		text = fmt.Appendf(text, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	return append(append(text, '\r', '\n'), body...)
}
