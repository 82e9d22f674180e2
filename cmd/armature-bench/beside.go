package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// beside is what one kind of work costs those who read meanwhile.
type beside struct {
	Name   string  `json:"name"`
	Conns  int     `json:"connections"`       // that do the work
	Alone  float64 `json:"reads_alone"`       // a second
	Reads  float64 `json:"reads_beside"`      // a second
	Work   float64 `json:"work_per_second"`   // logins, uploads
	Bytes  int     `json:"bytes_each"`        // of what is sent; 0: not of interest
	Memory int64   `json:"peak_memory_bytes"` // of the server meanwhile
}

// loginConns is how many connections log in without pause.
const loginConns = 4

// uploadSize is the size of an uploaded file in bytes.
const uploadSize = 1 << 20

const loginPassword = "bench, a long password 7"

// besides measures reading one document by itself and beside other work, in
// turns. Reading has the connections of every other case.
func besides(ctx context.Context, o options, server *process, t target) ([]beside, error) {
	credentials, err := json.Marshal(map[string]string{"usr": "Administrator", "pwd": loginPassword})
	if err != nil {
		return nil, err
	}
	login := plain("POST", "/api/method/login", "", credentials)
	works := []struct {
		beside
		next request
	}{
		{beside{Name: "uploads", Conns: o.conns, Bytes: uploadSize}, uploads(t.auth)},
		{beside{Name: "logins", Conns: loginConns}, func(int, int) []byte { return login }},
	}
	var all []beside
	for _, w := range works {
		b, err := w.measure(ctx, o, server, benches(t)[0].armature, w.next)
		if err != nil {
			return nil, fmt.Errorf("beside %s: %w", w.Name, err)
		}
		all = append(all, b)
	}
	return all, nil
}

// measure takes the round whose ratio is the median: both its numbers are of the
// same seconds.
func (b beside) measure(ctx context.Context, o options, server *process, read, work request) (beside, error) {
	var rounds []beside
	for range o.rounds {
		alone, err := load(ctx, server.address, o.conns, o.duration, read)
		if err != nil {
			return b, err
		}
		server.forgetPeak()
		reads, done, err := together(ctx, o, server.address, b.Conns, read, work)
		if err != nil {
			return b, err
		}
		b.Alone, b.Reads, b.Work = alone.PerSecond, reads.PerSecond, done.PerSecond
		b.Memory = max(b.Memory, server.memory("VmHWM"))
		rounds = append(rounds, b)
	}
	slices.SortFunc(rounds, func(x, y beside) int { return cmp.Compare(x.ratio(), y.ratio()) })
	median := rounds[len(rounds)/2]
	median.Memory = b.Memory
	return median, nil
}

func (b beside) ratio() float64 { return b.Reads / b.Alone }

// together reads while the work is done.
func together(ctx context.Context, o options, address string, conns int, read, work request) (reads, done result, err error) {
	var wg sync.WaitGroup
	var failed error
	wg.Go(func() { done, failed = load(ctx, address, conns, o.duration, work) })
	reads, err = load(ctx, address, o.conns, o.duration, read)
	wg.Wait()
	return reads, done, errors.Join(err, failed)
}

// uploads sends files of which no two are the same.
func uploads(auth string) request {
	const boundary = "a-boundary-of-the-benchmark"
	var sent atomic.Uint64
	content := bytes.Repeat([]byte("what a file holds "), uploadSize/18+1)[:uploadSize]
	return func(int, int) []byte {
		n := sent.Add(1)
		var body bytes.Buffer
		body.Grow(uploadSize + 512)
		fmt.Fprintf(&body, "--%s\r\nContent-Disposition: form-data; name=\"file\"; filename=\"bench-%d.bin\"\r\n\r\n", boundary, n)
		at := body.Len()
		body.Write(content)
		binary.BigEndian.PutUint64(body.Bytes()[at:], n)
		fmt.Fprintf(&body, "\r\n--%s--\r\n", boundary)
		text := fmt.Appendf(make([]byte, 0, body.Len()+512), "POST /api/method/upload_file HTTP/1.1\r\nHost: bench\r\nAuthorization: %s\r\n"+
			"Content-Type: multipart/form-data; boundary=%s\r\nContent-Length: %d\r\n\r\n", auth, boundary, body.Len())
		return append(text, body.Bytes()...)
	}
}

// setPassword gives Administrator the password to log in with.
func setPassword(env []string, server string) error {
	cmd := exec.Command(server, "user", "password", "Administrator")
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdin = strings.NewReader(loginPassword + "\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("user password: %w\n%s", err, out)
	}
	return nil
}
