package sites_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"armature/core/accesslog"
	"armature/core/httpapi"
	"armature/core/metrics"
	"armature/core/site"
	"armature/core/sites/sitetest"
	"armature/core/tenant"
)

// BenchmarkEdge tells what finding out who calls (a key that is cached), the
// rate limit, the access log and the metrics take of the processor together, as
// a share of what a bare handler takes to read one row by its key and send it as
// JSON. Both are handlers without a network. Rounds alternate and the median
// counts, so that what else the machine does falls on both alike.
func BenchmarkEdge(b *testing.B) {
	s := sitetest.New(b, "")
	log, err := os.Create(filepath.Join(b.TempDir(), "access.log"))
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	config, err := site.ParseConfig([]byte(`{"rate_limit": {"limit": 31622400, "window": 3600}}`))
	if err != nil {
		b.Fatal(err)
	}
	m := metrics.New("")
	one := oneSite{s.Tenant}
	without := httpapi.New(httpapi.Config{Sites: one})
	with := m.Beside(httpapi.New(httpapi.Config{
		Sites: one, Access: accesslog.New(log, accesslog.Text), Meter: metrics.NewHTTP(m.Registry),
	}))
	bare := bareRead(b)

	const block = 300
	run := func(h http.Handler, path, authorization string) float64 {
		began := time.Now()
		for range block {
			r := httptest.NewRequest("GET", path, nil)
			if authorization != "" {
				r.Header.Set("Authorization", authorization)
			}
			w := nowhere{make(http.Header)}
			h.ServeHTTP(w, r)
		}
		return float64(time.Since(began).Nanoseconds()) / block
	}
	var bares, offs, ons []float64
	for b.Loop() {
		s.Tenant.Site.SetConfig(&site.Config{})
		offs = append(offs, run(without, "/api/method/ping", ""))
		s.Tenant.Site.SetConfig(config)
		ons = append(ons, run(with, "/api/method/ping", s.Admin.Authorization))
		bares = append(bares, run(bare, "/todo/name", ""))
	}
	edge := median(ons) - median(offs)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(edge, "ns/edge")
	b.ReportMetric(median(bares), "ns/bare-read")
	b.ReportMetric(edge/median(bares), "ratio")
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// oneSite is a set in which one site answers every host.
type oneSite struct{ tenant *tenant.Tenant }

func (o oneSite) Acquire(context.Context, string, *http.Request) (*httpapi.Tenant, func(), error) {
	return o.tenant.Edge(), func() {}, nil
}

// nowhere is a response nobody reads.
type nowhere struct{ h http.Header }

func (n nowhere) Header() http.Header         { return n.h }
func (n nowhere) WriteHeader(int)             {}
func (n nowhere) Write(b []byte) (int, error) { return len(b), nil }

// bareRead reads a row of a ToDo with database/sql and encoding/json.
func bareRead(b *testing.B) http.Handler {
	b.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(b.TempDir(), "bare.db")+"?_pragma=journal_mode(WAL)")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	columns := []string{"name", "owner", "creation", "modified", "modified_by", "docstatus", "idx", "status", "priority", "date", "description"}
	var text, holes bytes.Buffer
	for i, c := range columns {
		if i > 0 {
			text.WriteString(", ")
			holes.WriteString(", ")
		}
		text.WriteString(c)
		holes.WriteString("'a value of usual length'")
	}
	for _, q := range []string{
		fmt.Sprintf("CREATE TABLE todo (%s, PRIMARY KEY (name))", &text),
		fmt.Sprintf("INSERT INTO todo (%s) VALUES (%s)", &text, &holes),
		"UPDATE todo SET name = 'name', docstatus = 0, idx = 0",
	} {
		if _, err := db.Exec(q); err != nil {
			b.Fatal(err)
		}
	}
	read, err := db.Prepare(fmt.Sprintf("SELECT %s FROM todo WHERE name = ?", &text))
	if err != nil {
		b.Fatal(err)
	}
	type todo struct {
		Name        string `json:"name"`
		Owner       string `json:"owner"`
		Creation    string `json:"creation"`
		Modified    string `json:"modified"`
		ModifiedBy  string `json:"modified_by"`
		Docstatus   int    `json:"docstatus"`
		Idx         int    `json:"idx"`
		Status      string `json:"status"`
		Priority    string `json:"priority"`
		Date        string `json:"date"`
		Description string `json:"description"`
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /todo/{name}", func(w http.ResponseWriter, r *http.Request) {
		var t todo
		err := read.QueryRowContext(r.Context(), r.PathValue("name")).Scan(&t.Name, &t.Owner, &t.Creation, &t.Modified, &t.ModifiedBy,
			&t.Docstatus, &t.Idx, &t.Status, &t.Priority, &t.Date, &t.Description)
		if err != nil {
			b.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"data": t})
	})
	return mux
}
