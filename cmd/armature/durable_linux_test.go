package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"armature/cmd/armature/armaturetest"
)

// attempt sends a request that may find nobody there; ok tells whether the
// answer says that it was done.
func attempt(client *http.Client, url, auth, verb, path string, body any) (status int, answer map[string]any, ok bool) {
	var text []byte
	var err error
	if body != nil {
		if text, err = json.Marshal(body); err != nil {
			panic(err)
		}
	}
	r, err := http.NewRequest(verb, url+path, bytes.NewReader(text))
	if err != nil {
		panic(err)
	}
	r.Header.Set("Authorization", auth)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	res, err := client.Do(r)
	if err != nil {
		time.Sleep(5 * time.Millisecond) // nobody is there: not again at once
		return 0, nil, false
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if res.StatusCode >= 500 {
		time.Sleep(5 * time.Millisecond)
	}
	if err != nil || json.Unmarshal(raw, &answer) != nil {
		return res.StatusCode, nil, false
	}
	return res.StatusCode, answer, res.StatusCode == http.StatusOK
}

// ledger is what a group of writers was told: documents whose creation was
// acknowledged, and for each writer the last change that was, and the last that
// was tried.
type ledger struct {
	mu        sync.Mutex
	made      map[string]int // by name: how many rows
	tried     int
	changed   map[string]int // by name: the last acknowledged value
	attempted map[string]int
	acks      atomic.Int64
}

func newLedger() *ledger {
	return &ledger{made: map[string]int{}, changed: map[string]int{}, attempted: map[string]int{}}
}

// write makes an order and changes the writer's own one, over and over until
// stop is closed. The rows of an order are as many as its count says: half a
// write would show.
func (l *ledger) write(stop <-chan struct{}, urls func() string, auth, own string, round int) {
	client := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 2}}
	defer client.CloseIdleConnections()
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		default:
		}
		name := fmt.Sprintf("%s-%d-%d", own, round, n)
		count := n % 6
		l.mu.Lock()
		l.tried++
		l.attempted[own]++
		value := l.attempted[own]
		l.mu.Unlock()
		if _, _, ok := attempt(client, urls(), auth, "POST", "/api/resource/Order", order(name, count)); ok {
			l.mu.Lock()
			l.made[name] = count
			l.mu.Unlock()
			l.acks.Add(1)
		}
		if _, _, ok := attempt(client, urls(), auth, "PUT", "/api/resource/Order/"+own, map[string]any{"count": value, "rows": rows(value % 7)}); ok {
			l.mu.Lock()
			l.changed[own] = value
			l.mu.Unlock()
			l.acks.Add(1)
		}
	}
}

// check compares what is there with what was acknowledged.
func (l *ledger) check(t *testing.T, s *armaturetest.Server, writers []string) {
	t.Helper()
	there := map[string]bool{}
	own := map[string]bool{}
	for _, w := range writers {
		own[w] = true
	}
	for _, o := range s.Want("GET", `/api/resource/Order?fields=["name"]&limit_page_length=1000000`, nil).([]any) {
		name := o.(map[string]any)["name"].(string)
		if there[name] {
			t.Errorf("%s is there twice", name)
		}
		there[name] = true
	}
	extra := 0
	for name := range there {
		doc := s.Want("GET", "/api/resource/Order/"+name, nil).(map[string]any)
		count, got := int(doc["count"].(float64)), len(doc["rows"].([]any))
		if own[name] {
			if count < l.changed[name] || count > l.attempted[name] || got != count%7 {
				t.Errorf("%s is %d with %d rows; %d was acknowledged, %d the last tried", name, count, got, l.changed[name], l.attempted[name])
			}
			continue
		}
		if want, acked := l.made[name]; acked && want != count || got != count {
			t.Errorf("%s has %d rows and says %d: half of it is there", name, got, count)
		} else if !acked {
			extra++
		}
	}
	lost := 0
	for name := range l.made {
		if !there[name] {
			lost++
			t.Errorf("%s was acknowledged and is gone", name)
		}
	}
	t.Logf("%d writes acknowledged; %d of %d orders tried were acknowledged, %d lost, %d more are there whole without an answer",
		l.acks.Load(), len(l.made), l.tried, lost, extra)
}

// prepareOrders makes the DocTypes and an order for each writer.
func prepareOrders(s *armaturetest.Server, writers int) (own []string) {
	field := func(name, typ string) map[string]any { return map[string]any{"fieldname": name, "fieldtype": typ} }
	table := field("rows", "Table")
	table["options"] = "Order Row"
	s.Want("POST", "/api/resource/DocType", map[string]any{"name": "Order Row", "module": "Shop", "custom": 1, "istable": 1,
		"fields": []any{field("item", "Data"), field("price", "Float"), field("n", "Int")}})
	s.Want("POST", "/api/resource/DocType", map[string]any{"name": "Order", "module": "Shop", "custom": 1, "autoname": "prompt",
		"fields": []any{field("count", "Int"), field("day", "Date"), field("at", "Datetime"), field("hour", "Time"), field("note", "Text"),
			field("rate", "Float"), field("secret", "Password"), field("extra", "JSON"), table},
		"permissions": []any{map[string]any{"role": "System Manager", "read": 1, "write": 1, "create": 1, "delete": 1}}})
	for w := range writers {
		own = append(own, fmt.Sprintf("own%d", w))
		s.Want("POST", "/api/resource/Order", order(own[w], 0))
	}
	return own
}

// TestKilledUnderLoad: a server is killed over and over while it writes. What it
// has acknowledged is there afterwards, and nothing is there by halves.
func TestKilledUnderLoad(t *testing.T) {
	const rounds, writers, acksEach = 6, 8, 150
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		s := in.Serve()
		s.Auth = in.Keys("Administrator")
		own := prepareOrders(s, writers)
		l := newLedger()
		auth := s.Auth
		for round := range rounds {
			stop, work := make(chan struct{}), sync.WaitGroup{}
			url := s.URL
			until := l.acks.Load() + acksEach + int64(7*round)
			for _, name := range own {
				work.Go(func() { l.write(stop, func() string { return url }, auth, name, round) })
			}
			armaturetest.Eventually(t, "the writers are at it", func() bool { return l.acks.Load() >= until })
			s.Kill()
			close(stop)
			work.Wait()
			s = in.Serve()
			s.Auth = auth
		}
		l.check(t, s, own)
		s.Stop()
		if in.Database == "" {
			checkIntegrity(t, filepath.Join(in.Data, "sites", "default", "site.db"))
		}
	})
}

// refuseFile sends a file for which there is no room.
func refuseFile(t *testing.T, s *armaturetest.Server) {
	t.Helper()
	status, answer := s.UploadAs("large.bin", s.Auth, "/api/method/upload_file", bytes.Repeat([]byte("large"), 2<<20))
	if status != http.StatusInsufficientStorage || answer["exc_type"] != "InsufficientStorageError" {
		t.Errorf("a file on a full disk: %d %v", status, answer)
	}
}

// TestDiskFull: a full disk is said to be the server's trouble, harms nothing
// that was acknowledged, and is over when there is room again.
func TestDiskFull(t *testing.T) {
	disk := mountSmall(t, "48m")
	in := &armaturetest.Installation{T: t, Data: filepath.Join(disk.dir, "data")}
	s := in.Serve("--log-level", "error")
	s.Auth = in.Keys("Administrator")
	own := prepareOrders(s, 1)
	fillDisk(t, disk.dir)
	client := &http.Client{Timeout: 20 * time.Second}
	made, refused := map[string]bool{}, 0
	for n := 0; refused < 20; n++ {
		if n > 20_000 {
			t.Fatal("the disk does not get full")
		}
		name := fmt.Sprintf("o%d", n)
		body := order(name, n%4)
		body["note"] = strings.Repeat("x", 20_000)
		status, answer, ok := attempt(client, s.URL, s.Auth, "POST", "/api/resource/Order", body)
		switch {
		case ok:
			made[name] = true
		case status != http.StatusInsufficientStorage || answer["exc_type"] != "InsufficientStorageError" ||
			!strings.Contains(fmt.Sprint(answer["_server_messages"]), "disk"):
			t.Fatalf("on a full disk: %d %v", status, answer)
		default:
			refused++
		}
	}
	// What is read needs no room.
	if doc := s.Want("GET", "/api/resource/Order/"+own[0], nil).(map[string]any); doc["name"] != own[0] {
		t.Errorf("read %v", doc)
	}
	if status, _ := s.CallAs("", "GET", "/healthz", nil); status != http.StatusOK {
		t.Errorf("healthz %d", status)
	}
	if status, answer := s.CallAs("", "GET", "/readyz", nil); status != http.StatusServiceUnavailable || !strings.Contains(fmt.Sprint(answer["message"]), "full") {
		t.Errorf("readyz %d %v", status, answer)
	}
	refuseFile(t, s)
	freeDisk(t, disk.dir)
	armaturetest.Eventually(t, "it is ready again", func() bool {
		status, _ := s.CallAs("", "GET", "/readyz", nil)
		return status == http.StatusOK
	})
	armaturetest.Eventually(t, "it writes again", func() bool {
		_, _, ok := attempt(client, s.URL, s.Auth, "POST", "/api/resource/Order", order("after", 3))
		return ok
	})
	s.Kill()
	s2 := in.Serve()
	s2.Auth = s.Auth
	for name := range made {
		doc := s2.Want("GET", "/api/resource/Order/"+name, nil).(map[string]any)
		if float64(len(doc["rows"].([]any))) != doc["count"] {
			t.Errorf("%s is half there", name)
		}
	}
	t.Logf("%d orders acknowledged until the disk was full, all there; %d refused", len(made), refused)
	s2.Stop()
	checkIntegrity(t, filepath.Join(in.Data, "sites", "default", "site.db"))

	// A disk that may not be written to is said at the start.
	disk.readOnly(t, true)
	if _, stderr, err := in.Try("", "serve", "--listen", "127.0.0.1:0"); err == nil || !strings.Contains(stderr, in.Data+"/jobs.db") {
		t.Errorf("on a read-only disk: %v\n%s", err, stderr)
	} else {
		t.Logf("a read-only disk: %s", strings.TrimSpace(stderr))
	}
	disk.readOnly(t, false)
	s3 := in.Serve()
	s3.Auth = s.Auth
	s3.Want("GET", "/api/resource/Order/after", nil)
}
