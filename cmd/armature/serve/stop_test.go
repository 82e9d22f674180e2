package serve_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"armature/cmd/armature/armaturetest"
)

// send begins a request and leaves its answer unread; only the given part of its body
// is sent.
func send(s *armaturetest.Server, auth, verb, path, body string, length int) net.Conn {
	s.T.Helper()
	addr := strings.TrimPrefix(s.URL, "http://")
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		s.T.Fatal(err)
	}
	s.T.Cleanup(func() { conn.Close() })
	if auth != "" {
		auth = "Authorization: " + auth + "\r\n"
	}
	_, err = fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: %s\r\n%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", verb, path, addr, auth, length, body)
	if err != nil {
		s.T.Fatal(err)
	}
	return conn
}

// TestStopWhateverRuns: a server that is told to end does so within its time-out, and
// the few seconds that what it cuts may take to say so, whatever its clients keep it at.
func TestStopWhateverRuns(t *testing.T) {
	armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) {
		const spin = "export function spin() { for (;;) {} }"
		in.Drop("spinner/main.js", spin)
		in.Drop("spinner/armature.json", `{"name": "spinner", "version": "1", "abi": 1, "grants": [],
			"methods": [{"path": "spinner.spin"}], "limits": {"cpu_ms": 60000, "wall_ms": 60000}}`)
		s := in.Serve("--shutdown-timeout", "500ms", "--plugin-folder-limits", "cpu_ms=60000,wall_ms=60000")
		s.Auth = in.Keys("Administrator")
		text := strings.Repeat("a", 4<<20)
		for range 5 {
			s.Want("POST", "/api/resource/ToDo", map[string]any{"description": text})
		}
		requests := func() int {
			_, running, _ := strings.Cut(metric(t, s), "\narmature_http_requests_running ")
			running, _, _ = strings.Cut(running, "\n")
			n := 0
			_, _ = fmt.Sscan(running, &n)
			return n
		}
		long := "/api/resource/ToDo?filters=%5B%5B%22description%22,%22like%22,%22" + strings.Repeat("%25a", 15) + "%25b%22%5D%5D"
		markup := `{"description": "<p style=\"color:` + strings.Repeat("(", 1<<20) + `\">x</p>"}`
		for i, begin := range []func() net.Conn{
			func() net.Conn { return send(s, s.Auth, "POST", "/api/method/spinner.spin", "{}", 2) },
			func() net.Conn { // which does not read the answer
				return send(s, s.Auth, "GET", "/api/resource/ToDo?fields=%5B%22description%22%5D", "", 0)
			},
			func() net.Conn { return send(s, s.Auth, "POST", "/api/resource/ToDo", "{", 20<<20) }, // the rest does not come
			func() net.Conn { return send(s, "", "POST", "/api/method/login", "{", 1000) },
			func() net.Conn { return send(s, s.Auth, "GET", long, "", 0) },
			func() net.Conn { return send(s, s.Auth, "POST", "/api/resource/ToDo", markup, len(markup)) },
		} {
			begin()
			if i < 4 { // the others may have ended
				armaturetest.Eventually(t, fmt.Sprintf("request %d runs", i), func() bool { return requests() > i })
			}
		}
		if err := s.Process.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-s.Done:
			s.Done <- err
		case <-time.After(2 * time.Minute): // the promise is eight seconds of a machine that has them
			t.Fatalf("it does not end\n%s", s.Log)
		}
		if strings.Contains(s.Log.String(), "panic") {
			t.Errorf("it panics\n%s", s.Log)
		}
		again := in.Serve()
		again.Auth = s.Auth
		again.Want("GET", "/api/resource/ToDo", nil)
	})
}

// metric is what /metrics shows.
func metric(t *testing.T, s *armaturetest.Server) string {
	t.Helper()
	res, err := http.Get(s.URL + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
