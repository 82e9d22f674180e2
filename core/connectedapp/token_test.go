package connectedapp_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"armature/core/connectedapp"
)

// TestRefreshOnce has many ask in several processes at the moment a token ends.
func TestRefreshOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.connect(t)
		services := []*connectedapp.Service{w.Tenant.Connected, connectedapp.Twin(w.Tenant.Connected), connectedapp.Twin(w.Tenant.Connected)}
		for round := range int64(3) {
			w.clock.pass(2 * time.Hour)
			var wait sync.WaitGroup
			for i := range 21 {
				wait.Go(func() {
					answer, err := services[i%len(services)].Do(t.Context(), w.caller(), w.request(false, "/api/me"))
					if err != nil || answer.Status != http.StatusOK {
						t.Errorf("%v %v", answer, err)
					}
				})
			}
			wait.Wait()
			if n := w.provider.refreshes.Load(); n != round+1 {
				t.Fatalf("%d renewals after %d rounds", n, round+1)
			}
		}
	})
}

// TestInvalidGrant: the provider has ended the connection.
func TestInvalidGrant(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.connect(t)
		w.provider.set(func() { clear(w.provider.refresh) })
		w.clock.pass(2 * time.Hour)
		for range 2 {
			if _, err := w.do(false, "/api/me"); excType(err) != "ConnectionBrokenError" {
				t.Fatalf("%v", err)
			}
		}
		if n := w.provider.refreshes.Load(); n != 1 {
			t.Errorf("the provider was asked %d times with a token it has refused", n)
		}
		cache := w.user.Get("/api/resource/Token Cache/" + w.app + "-ada@example.com").Data(t)
		if cache["status"] != "Broken" || !strings.Contains(cache["error"].(string), "no such token") {
			t.Errorf("the user is told %v: %v", cache["status"], cache["error"])
		}
		if got := w.user.Get(methods+"has_token", "connected_app", w.app).Message(t); got != false {
			t.Errorf("has_token: %v", got)
		}
		w.connect(t)
		if answer, err := w.do(false, "/api/me"); err != nil || answer.Status != http.StatusOK {
			t.Errorf("connected anew: %v %v", answer, err)
		}
	})
}

// ownEndpoints makes the app name its endpoints itself, as the form does once it
// has read the discovery document, whose address it keeps or not.
func (w *world) ownEndpoints(t *testing.T, discovery string) {
	t.Helper()
	at := w.provider.srv.URL
	w.Admin.Put("/api/resource/Connected App/"+w.app, map[string]any{
		"openid_configuration": discovery, "authorization_uri": at + "/authorize", "token_uri": at + "/token", "revocation_uri": at + "/revoke",
	}).OK(t)
}

// TestUnknownStyle: of a token endpoint without a discovery document nobody knows
// how clients prove who they are. A request is made a second time, in another way,
// only where the first answer was about that.
func TestUnknownStyle(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.ownEndpoints(t, "")
		var asked atomic.Int64
		count := func(answer func(w http.ResponseWriter, form url.Values) bool) {
			asked.Store(0)
			w.provider.set(func() {
				w.provider.answer = answer
				w.provider.asked = func() { asked.Add(1) }
			})
		}
		count(nil)
		w.connect(t)
		for name, answer := range map[string]func(w http.ResponseWriter, _ url.Values) bool{
			"a connection cut": func(http.ResponseWriter, url.Values) bool { panic(http.ErrAbortHandler) },
			"no token": func(w http.ResponseWriter, _ url.Values) bool {
				writeJSON(w, http.StatusOK, map[string]any{"expires_in": 5})
				return true
			},
			"an error of its own": func(w http.ResponseWriter, _ url.Values) bool {
				w.WriteHeader(http.StatusServiceUnavailable)
				return true
			},
		} {
			w.clock.pass(2 * time.Hour)
			count(answer)
			if _, err := w.do(false, "/api/me"); err == nil || asked.Load() != 1 {
				t.Errorf("%s: asked %d times, %v", name, asked.Load(), err)
			}
		}
		count(nil)
		w.provider.set(func() { clear(w.provider.refresh) })
		if _, err := w.do(false, "/api/me"); excType(err) != "ConnectionBrokenError" || asked.Load() != 1 {
			t.Errorf("a refused token: asked %d times, %v", asked.Load(), err)
		}
		w.connect(t)
		w.provider.set(func() { w.provider.inForm = true })
		w.clock.pass(2 * time.Hour)
		count(nil)
		if answer, err := w.do(false, "/api/me"); err != nil || answer.Status != http.StatusOK || asked.Load() != 2 {
			t.Errorf("a provider that reads the form: asked %d times, %v %v", asked.Load(), answer, err)
		}
	})
}

// TestProviderAway: answers that say nothing about the token leave it alone.
func TestProviderAway(t *testing.T) {
	tests := map[string]func(w http.ResponseWriter, _ url.Values) bool{
		"an error of its own": func(w http.ResponseWriter, _ url.Values) bool {
			w.WriteHeader(http.StatusBadGateway)
			return true
		},
		"no JSON": func(w http.ResponseWriter, _ url.Values) bool {
			_, _ = w.Write([]byte("<html>"))
			return true
		},
		"no token": func(w http.ResponseWriter, _ url.Values) bool {
			writeJSON(w, http.StatusOK, map[string]any{"expires_in": 5})
			return true
		},
		"too much": func(w http.ResponseWriter, _ url.Values) bool {
			writeJSON(w, http.StatusOK, map[string]any{"access_token": strings.Repeat("x", 2<<20)})
			return true
		},
		"a redirect": func(w http.ResponseWriter, _ url.Values) bool {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(http.StatusTemporaryRedirect)
			return true
		},
		"a connection cut": func(http.ResponseWriter, url.Values) bool { panic(http.ErrAbortHandler) },
	}
	each(t, func(t *testing.T, w *world) {
		w.connect(t)
		for name, answer := range tests {
			t.Run(name, func(t *testing.T) {
				w.clock.pass(2 * time.Hour)
				before := w.stored(t, "ada@example.com").Text("refresh_token")
				w.provider.set(func() { w.provider.answer = answer })
				if _, err := w.do(false, "/api/me"); err == nil {
					t.Fatal("there was a token")
				}
				now := w.stored(t, "ada@example.com")
				if now.Text("status") != "Active" || now.Text("refresh_token") != before {
					t.Fatalf("the refresh token did not stay; the status is %s", now.Text("status"))
				}
				w.provider.set(func() { w.provider.answer = nil })
				if answer, err := w.do(false, "/api/me"); err != nil || answer.Status != http.StatusOK {
					t.Fatalf("afterwards: %v %v", answer, err)
				}
			})
		}
	})
}

// TestAheadOfItsEnd: a token that has not ended yet bridges an outage.
func TestAheadOfItsEnd(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.connect(t)
		w.clock.pass(time.Hour - 30*time.Second)
		w.provider.set(func() {
			w.provider.answer = func(rw http.ResponseWriter, _ url.Values) bool {
				rw.WriteHeader(http.StatusServiceUnavailable)
				return true
			}
		})
		if answer, err := w.do(false, "/api/me"); err != nil || answer.Status != http.StatusOK {
			t.Fatalf("%v %v", answer, err)
		}
		w.provider.set(func() { w.provider.answer = nil })
		if answer, err := w.do(false, "/api/me"); err != nil || answer.Status != http.StatusOK {
			t.Fatalf("%v %v", answer, err)
		}
		if w.provider.refreshes.Load() != 1 {
			t.Errorf("%d renewals ahead of the end", w.provider.refreshes.Load())
		}
	})
}

// TestNoRotation: a provider that sends no new refresh token leaves the old one.
func TestNoRotation(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.connect(t)
		w.provider.set(func() {
			w.provider.answer = func(rw http.ResponseWriter, _ url.Values) bool {
				w.provider.set(func() { w.provider.access["access-kept"] = true })
				writeJSON(rw, http.StatusOK, map[string]any{"access_token": "access-kept", "token_type": "Bearer", "expires_in": 3600})
				return true
			}
		})
		w.clock.pass(2 * time.Hour)
		if answer, err := w.do(false, "/api/me"); err != nil || answer.Status != http.StatusOK {
			t.Fatalf("%v %v", answer, err)
		}
		w.provider.set(func() { w.provider.answer = nil })
		w.clock.pass(2 * time.Hour)
		if answer, err := w.do(false, "/api/me"); err != nil || answer.Status != http.StatusOK {
			t.Fatalf("with the first refresh token: %v %v", answer, err)
		}
	})
}

// TestAppToken uses the app's own token, which belongs to no user.
func TestAppToken(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		var wait sync.WaitGroup
		for range 10 {
			wait.Go(func() {
				if answer, err := w.do(true, "/api/me"); err != nil || answer.Status != http.StatusOK {
					t.Errorf("%v %v", answer, err)
				}
			})
		}
		wait.Wait()
		if n := w.provider.granted.Load(); n != 1 {
			t.Errorf("%d tokens were asked for", n)
		}
		w.clock.pass(2 * time.Hour)
		if answer, err := w.do(true, "/api/me"); err != nil || answer.Status != http.StatusOK {
			t.Errorf("%v %v", answer, err)
		}
		if n := w.provider.granted.Load(); n != 2 {
			t.Errorf("%d tokens were asked for", n)
		}
		if user := w.stored(t, "").Text("user"); user != "" {
			t.Errorf("it belongs to %s", user)
		}
	})
}

// TestWhereTokensGo: only to the hosts of the app, and only over https.
func TestWhereTokensGo(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.connect(t)
		w.Admin.Put("/api/resource/Connected App/"+w.app, map[string]any{"allowed_hosts": "api.example.com"}).OK(t)
		if _, err := w.do(false, "/api/me"); excType(err) != "PermissionError" {
			t.Errorf("another host: %v", err)
		}
		w.Admin.Put("/api/resource/Connected App/"+w.app, map[string]any{"allowed_hosts": w.provider.host()}).OK(t)
		w.configure(t, "allowed_private_hosts", []string{})
		if _, err := w.do(false, "/api/me"); excType(err) != "PermissionError" {
			t.Errorf("plain http: %v", err)
		}
		w.Admin.Put("/api/resource/Connected App/"+w.app, map[string]any{"allowed_hosts": "http://x/"}).Fails(t, 417, "ValidationError")
	})
}

// TestSlowProvider: who asks does not wait for ever, and what the provider gives
// in the end is kept.
func TestSlowProvider(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.connect(t)
		w.clock.pass(2 * time.Hour)
		asked, release := make(chan struct{}), make(chan struct{})
		w.provider.set(func() {
			w.provider.answer = func(http.ResponseWriter, url.Values) bool {
				close(asked)
				<-release
				return false // and answers as it should
			}
		})
		ctx, leave := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			_, err := w.doIn(ctx, false, "/api/me")
			done <- err
		}()
		<-asked
		leave()
		if err := <-done; excType(err) != "TimeoutError" {
			t.Errorf("who left was told %v", err)
		}
		w.provider.set(func() { w.provider.answer = nil })
		close(release)
		if answer, err := w.do(false, "/api/me"); err != nil || answer.Status != http.StatusOK {
			t.Errorf("afterwards: %v %v", answer, err)
		}
		if n := w.provider.refreshes.Load(); n != 1 {
			t.Errorf("%d renewals", n)
		}
	})
}
