package oauth_test

import (
	"bytes"
	"strings"
	"testing"

	"armature/core/accesslog"
)

// TestAccessLogNamesUser: the line of an authorization says whose session it was,
// and that of somebody who is not logged in names nobody.
func TestAccessLogNamesUser(t *testing.T) {
	each(t, nil, func(t *testing.T, w *world) {
		w.someone("u@example.com")
		var lines bytes.Buffer
		log := accesslog.New(&lines, accesslog.Text)
		log.Close() // so that nothing is late
		url, stop := w.Logged(log)
		w.URL = url
		w.guest().get(w.query())
		w.login("u@example.com", password).get(w.query()).redirected(callback)
		stop() // every line is written
		var users []string
		for line := range strings.Lines(lines.String()) {
			if _, rest, ok := strings.Cut(line, " user="); ok && strings.Contains(line, "oauth2.authorize") {
				user, _, _ := strings.Cut(rest, " ")
				users = append(users, user)
			}
		}
		if strings.Join(users, " ") != "Guest u@example.com" {
			t.Errorf("users %q in %s", users, lines.String())
		}
	})
}
