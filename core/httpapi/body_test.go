package httpapi_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"armature/core/sites/sitetest"
)

// TestGuestBodies: who has shown no credentials has little of a body read, in every
// form and at every door; who has, all that the site allows.
func TestGuestBodies(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		const most = 50_000
		s.Configure(t, "max_guest_body_size", fmt.Sprint(most))
		s.Configure(t, "max_file_size", "200000")
		newDocType(t, s.Admin, "Wish", []obj{{"fieldname": "text", "fieldtype": "Long Text"}},
			obj{"permissions": []obj{{"role": "Guest", "read": 1, "create": 1}, {"role": "System Manager", "read": 1, "write": 1, "create": 1}}})
		stranger := *s.Guest
		stranger.Authorization = "token 0123456789abcdef:0123456789abcdef"
		doc := func(n int) string { return `{"text":"` + strings.Repeat("x", n) + `"}` }
		for name, send := range map[string]func(c *sitetest.Client, n int) *sitetest.Reply{
			"a document": func(c *sitetest.Client, n int) *sitetest.Reply {
				return c.Do("POST", "/api/resource/Wish", "application/json", []byte(doc(n)))
			},
			"a method": func(c *sitetest.Client, n int) *sitetest.Reply {
				return c.Do("POST", "/api/method/framework.ping", "application/json", []byte(doc(n)))
			},
			"the old form": func(c *sitetest.Client, n int) *sitetest.Reply {
				return c.Do("POST", "/", "application/x-www-form-urlencoded", []byte("cmd=framework.ping&text="+strings.Repeat("x", n)))
			},
		} {
			t.Run(name, func(t *testing.T) {
				send(s.Guest.On(t), most/2).OK(t)
				send(s.Guest.On(t), most).Fails(t, 413, "RequestEntityTooLargeError")
				send(s.Admin.On(t), 3*most).OK(t)
				send(s.Admin.On(t), 200_000).Fails(t, 413, "RequestEntityTooLargeError")
				if r := send(stranger.On(t), most/2); r.Status != 401 {
					t.Errorf("a stranger's key is answered %d", r.Status)
				}
			})
		}
		if n := len(s.Admin.Get("/api/resource/Wish", "limit", "100").List(t)); n != 2 {
			t.Errorf("%d documents are stored, want 2", n)
		}
	})
}

// deadlines is an answer whose connection is told until when to read.
type deadlines struct {
	*httptest.ResponseRecorder
	set []time.Duration
}

func (d *deadlines) SetReadDeadline(at time.Time) error {
	d.set = append(d.set, time.Until(at).Round(time.Second))
	return nil
}

// TestGuestBodyDeadline: a body of who has shown no credentials is waited for half
// a minute, and the connection is free again once it is there.
func TestGuestBodyDeadline(t *testing.T) {
	s := sitetest.New(t, "")
	send := func(authorization string, body io.Reader) []time.Duration {
		r := httptest.NewRequest("POST", client+"get_count", body)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", authorization)
		w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
		s.Handler().ServeHTTP(w, r)
		return w.set
	}
	body := func() io.Reader { return iotest.OneByteReader(bytes.NewReader([]byte(`{"doctype":"User"}`))) }
	if got := fmt.Sprint(send("", body())); got != "[30s 5m0s]" {
		t.Errorf("a guest's deadlines are %s", got)
	}
	if got := send(s.Admin.Authorization, body()); len(got) > 0 {
		t.Errorf("a user's deadlines are %v", got)
	}
	if got := fmt.Sprint(send("", io.MultiReader(strings.NewReader("{"), iotest.ErrReader(http.ErrBodyReadAfterClose)))); got != "[30s 5m0s]" {
		t.Errorf("after a body that broke off they are %s", got)
	}
}
