package egress_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"armature/core/egress"
	"armature/core/trace"
)

// listener is a tracer that writes down what it hears.
type listener struct{ heard []string }

func (l *listener) Incoming(ctx context.Context, _ http.Header) context.Context { return ctx }

func (l *listener) Start(ctx context.Context, kind trace.Kind, name string, _ time.Time) (context.Context, trace.Span) {
	l.Set("start "+name, int64(kind))
	return ctx, l
}

func (l *listener) Set(key string, value any) {
	l.heard = append(l.heard, fmt.Sprintf("%s=%v", key, value))
}
func (l *listener) End(failure string) { l.heard = append(l.heard, "end "+failure) }

func TestRequestsAreFollowed(t *testing.T) {
	w := newWorld(t, mirror)
	l := &listener{}
	ctx := trace.With(t.Context(), l)
	r := egress.Request{Method: "POST", URL: w.url("app.test", "/hidden?key=hidden"), Body: []byte("hidden"), Header: http.Header{"Authorization": {"hidden"}}}
	if _, err := w.client.Do(ctx, w.policy(), r); err != nil {
		t.Fatal(err)
	}
	r.URL = "http://127.0.0.1:1/hidden"
	if _, err := w.client.Do(ctx, egress.Policy{}, r); err == nil {
		t.Error("a private address was reached")
	}
	text := strings.Join(l.heard, "; ")
	want := fmt.Sprintf("start HTTP POST=%d; http.request.method=POST; server.address=app.test:%s; http.response.status_code=200; end ", trace.Client, w.port)
	if !strings.HasPrefix(text, want) || strings.Contains(text, "hidden") {
		t.Errorf("heard %s, want %s", text, want)
	}
}
