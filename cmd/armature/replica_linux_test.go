package main_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"armature/cmd/armature/armaturetest"
	"armature/core/store/pgserver"
)

// TestReplicas: two servers read from two replicas. Whoever writes on one reads it on the
// other, whoever loses a right has lost it on both, and no request fails while a replica
// stops replaying and another is lost.
func TestReplicas(t *testing.T) {
	primary := pgserver.Start(t)
	first, second := primary.Standby(t), primary.Standby(t)
	in := &armaturetest.Installation{T: t, Data: t.TempDir(), Database: primary.URL, Env: []string{"ARMATURE_SECRET_KEY=" + strings.Repeat("ab", 32)}}
	other := &armaturetest.Installation{T: t, Data: t.TempDir(), Database: primary.URL, Env: append(in.Env, "ARMATURE_DATABASE_REPLICA="+first.URL+" "+second.URL)}
	one := in.Serve("--log-level", "error", "--database-replica", first.URL, "--database-replica", second.URL)
	one.Auth = in.Keys("Administrator")
	two := other.Serve("--log-level", "error")
	two.Auth = one.Auth
	in.Run("user", "add", "bob@example.com")
	bob := in.Keys("bob@example.com")
	prepareOrders(one, 1)
	one.Want("POST", "/api/method/framework.share.add", map[string]any{"doctype": "Order", "name": "own0", "user": "bob@example.com"})
	armaturetest.Eventually(t, "both servers know the DocType, and that of it something is shared with bob", func() bool {
		status, _ := two.CallAs(bob, "GET", "/api/resource/Order/own0", nil)
		return status == http.StatusOK
	})
	used := func(s *pgserver.Server) string {
		return `armature_database_replica_used{server="` + hostOf(s.URL) + `"} 1`
	}
	for _, s := range []*armaturetest.Server{one, two} {
		armaturetest.Eventually(t, "both replicas are used", func() bool {
			text := metricsOf(t, s)
			return strings.Contains(text, used(first)) && strings.Contains(text, used(second))
		})
	}
	var rounds atomic.Int64
	var work sync.WaitGroup
	stop := make(chan struct{})
	for w := range 2 {
		work.Go(func() {
			writer, reader := one, two
			for i := 0; !closed(stop) && !t.Failed(); i++ {
				writer, reader = reader, writer
				ownWrite(t, writer, reader, bob, fmt.Sprint("doc", w, " ", i))
				rounds.Add(1)
			}
		})
	}
	more := func() {
		at := rounds.Load()
		armaturetest.Eventually(t, "they go on", func() bool { return rounds.Load() > at+5 || t.Failed() })
	}
	more()
	first.SQL(t, "SELECT pg_wal_replay_pause()")
	more()
	second.Stop(t)
	more()
	first.SQL(t, "SELECT pg_wal_replay_resume()")
	more()
	second.Continue(t)
	more()
	close(stop)
	work.Wait()
	text := metricsOf(t, one)
	if strings.Contains(text, `armature_database_reads_total{server="`+hostOf(first.URL)+`"} 0`) || !strings.Contains(text, `armature_database_reads_total{server="`+hostOf(first.URL)) {
		t.Errorf("the first replica has answered nothing:\n%s", text)
	}
}

// ownWrite makes a document on one server and has it read, listed, shared and taken away
// again, on the other.
func ownWrite(t *testing.T, writer, reader *armaturetest.Server, bob, name string) {
	at := "/api/resource/Order/" + strings.ReplaceAll(name, " ", "%20")
	share := map[string]any{"doctype": "Order", "name": name, "user": "bob@example.com"}
	want := func(what string, status, expected int) {
		if status != expected {
			t.Errorf("%s, %s: %d, not %d", name, what, status, expected)
		}
	}
	status, _ := writer.Call("POST", "/api/resource/Order", map[string]any{"name": name, "note": "first"})
	want("made", status, 200)
	status, answer := reader.Call("GET", at, nil)
	want("read", status, 200)
	if data, _ := answer["data"].(map[string]any); data["note"] != "first" {
		t.Errorf("%s was read as %v", name, answer)
	}
	status, _ = reader.CallAs(bob, "GET", at, nil)
	want("read by who may not", status, 403)
	status, _ = writer.Call("POST", "/api/method/framework.share.add", share)
	want("shared", status, 200)
	status, _ = reader.CallAs(bob, "GET", at, nil)
	want("read by whom it is shared with", status, 200)
	status, _ = reader.Call("POST", "/api/method/framework.share.remove", share)
	want("shared no more", status, 200)
	status, _ = writer.CallAs(bob, "GET", at, nil)
	want("read by whom it was shared with", status, 403)
	status, _ = reader.Call("PUT", at, map[string]any{"note": "second"})
	want("changed", status, 200)
	status, answer = writer.Call("GET", `/api/resource/Order?filters=[["name","=","`+strings.ReplaceAll(name, " ", "%20")+`"]]&fields=["note"]`, nil)
	want("listed", status, 200)
	if got := fmt.Sprint(answer["data"]); got != "[map[note:second]]" {
		t.Errorf("%s is listed as %s", name, got)
	}
	status, _ = writer.Call("DELETE", at, nil)
	want("deleted", status, 202)
	status, _ = reader.Call("GET", at, nil)
	want("read when it is gone", status, 404)
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func hostOf(url string) string {
	_, rest, _ := strings.Cut(url, "@")
	host, _, _ := strings.Cut(rest, "/")
	return host
}

// metricsOf is what /metrics says of the replicas.
func metricsOf(t *testing.T, s *armaturetest.Server) string {
	t.Helper()
	r, err := http.Get(s.URL + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	all, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	var own []string
	for line := range strings.Lines(string(all)) {
		if strings.HasPrefix(line, "armature_database_") {
			own = append(own, line)
		}
	}
	return strings.Join(own, "")
}
