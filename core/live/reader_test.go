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

	"armature/core/live"
	"armature/core/sites/sitetest"
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

// follow opens a stream with an Authorization, or with a session's cookie; params are pairs of a name and a value.
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
	if strings.HasPrefix(authorization, "sid=") {
		req.Header.Set("Cookie", authorization)
	} else if authorization != "" {
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

// ends demands that the stream ends and says why.
func (r *reader) ends(what string) {
	r.t.Helper()
	limit := time.After(time.Minute)
	var last event
	for {
		select {
		case e, open := <-r.events:
			if !open {
				if last.Kind != "end" || last.Data.ExcType == "" {
					r.t.Errorf("%s: the last event was %+v", what, last)
				}
				return
			}
			if e.Kind != "" {
				last = e
			}
		case <-limit:
			r.t.Fatalf("%s: the stream goes on", what)
		}
	}
}

// settled waits until everything was looked at once more after somebody began to follow:
// from then on every process logs what it changes.
func settled(t testing.TB, p *live.Process) {
	t.Helper()
	before := p.Counts().Evaluated
	for deadline := time.Now().Add(time.Minute); p.Counts().Evaluated == before; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nothing is looked at once more")
		}
	}
}

// login is the cookie of a new session.
func login(t testing.TB, s *sitetest.Server, user, password string) string {
	t.Helper()
	answer := s.Guest.Post("/api/method/login", map[string]any{"usr": user, "pwd": password}).OK(t)
	for _, c := range (&http.Response{Header: answer.Header}).Cookies() {
		if c.Name == "sid" {
			return "sid=" + c.Value
		}
	}
	t.Fatalf("no session: %v", answer.Header)
	return ""
}

// logout ends the session of a cookie.
func logout(t testing.TB, address, cookie string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address+"/api/method/logout", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Cookie", cookie)
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(res.Body)
		t.Fatalf("logout: %d %s", res.StatusCode, text)
	}
}

// form asks an OAuth endpoint as a client; pairs are names and values.
func form(t testing.TB, address, endpoint, id, secret string, pairs ...string) []byte {
	t.Helper()
	values := url.Values{"client_id": {id}, "client_secret": {secret}}
	for i := 0; i+1 < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	res, err := http.PostForm(address+"/api/method/framework.integrations.oauth2."+endpoint, values)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %s %v", endpoint, res.Status, text, err)
	}
	return text
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
