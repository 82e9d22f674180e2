package live_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// event is what a client is told.
type event struct {
	Kind string
	ID   string
	Data struct {
		Subscription, DocType, Name, Topic, ExcType string
		Names                                       []string
		Data                                        json.RawMessage
	}
	Text string
}

// reader is a client of a stream.
type reader struct {
	t      testing.TB
	events chan event // closed when the stream has ended
	stop   context.CancelFunc
	last   string // id
	status int
	body   string
}

// follow opens a stream; params are pairs of a name and a value.
func follow(t testing.TB, address, authorization string, params ...string) *reader {
	t.Helper()
	return followFrom(t, address, authorization, "", params...)
}

func followFrom(t testing.TB, address, authorization, last string, params ...string) *reader {
	t.Helper()
	r := connect(t, address, authorization, last, params...)
	if r.status != http.StatusOK {
		t.Fatalf("status %d: %s", r.status, r.body)
	}
	if e := r.next(); e.Kind != "ready" {
		t.Fatalf("a stream begins with %+v", e)
	}
	return r
}

func connect(t testing.TB, address, authorization, last string, params ...string) *reader {
	t.Helper()
	q := url.Values{}
	for i := 0; i+1 < len(params); i += 2 {
		q.Set(params[i], params[i+1])
	}
	ctx, stop := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/api/live?"+q.Encode(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{t: t, events: make(chan event, 10_000), stop: stop, status: res.StatusCode}
	t.Cleanup(stop)
	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(res.Body)
		res.Body.Close()
		r.body = string(text)
		return r
	}
	go r.read(res.Body)
	return r
}

func (r *reader) read(body io.ReadCloser) {
	defer close(r.events)
	defer body.Close()
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 1<<20)
	var e event
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "event":
			e.Kind = value
		case "id":
			e.ID = value
		case "data":
			e.Text = value
			if err := json.Unmarshal([]byte(value), &e.Data); err != nil {
				r.t.Errorf("%s: %v", value, err)
			}
			var more struct {
				ExcType string `json:"exc_type"`
			}
			_ = json.Unmarshal([]byte(value), &more)
			e.Data.ExcType = more.ExcType
		case "":
			if e.Kind != "" || e.ID != "" {
				r.events <- e
			}
			e = event{}
		}
	}
}

// next is the next event; of one that ends a round, its kind is empty.
func (r *reader) next() event {
	r.t.Helper()
	select {
	case e, ok := <-r.events:
		if !ok {
			r.t.Fatal("the stream has ended")
		}
		if e.ID != "" {
			r.last = e.ID
		}
		return e
	case <-time.After(2 * time.Minute):
		r.t.Fatal("nothing is told")
	}
	panic("unreachable")
}

// round are the events until the next that ends one.
func (r *reader) round() (list []event) {
	r.t.Helper()
	for {
		e := r.next()
		if e.Kind == "" {
			return list
		}
		list = append(list, e)
	}
}

// told is the next round in short: "changed ToDo/x {...}".
func (r *reader) told() string {
	r.t.Helper()
	var texts []string
	for {
		for _, e := range r.round() {
			text := e.Kind + " " + e.Data.DocType + "/" + e.Data.Name
			if e.Data.Data != nil {
				text += " " + string(e.Data.Data)
			}
			texts = append(texts, text)
		}
		if len(texts) > 0 {
			return strings.Join(texts, "\n")
		}
	}
}

func (r *reader) wants(want string) {
	r.t.Helper()
	if got := r.told(); got != want {
		r.t.Errorf("told\n%s\nwant\n%s", got, want)
	}
}
