package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// growth is how long a list of 20 takes in a small table and in a large one, right
// after its rows came and once the database has counted them: the time grows with
// the page, not with the table.
type growth struct {
	Name  string        `json:"name"`
	Small time.Duration `json:"small_ns"` // the median request
	Fresh time.Duration `json:"fresh_ns"` // in the large one, before ANALYZE
	Large time.Duration `json:"large_ns"`
}

// growing lists the lists that have to stay flat.
func growing(auth string) map[string][]byte {
	path := func(query url.Values) []byte {
		return plain("GET", "/api/resource/ToDo?"+query.Encode(), auth, nil)
	}
	return map[string][]byte{
		"default order":      path(url.Values{"limit": {"20"}}),
		"indexed filter":     path(url.Values{"limit": {"20"}, "filters": {`[["status","=","Open"]]`}}),
		"a value no one has": path(url.Values{"limit": {"20"}, "filters": {`[["status","=","Cancelled"]]`}}),
	}
}

// grow measures the lists, adds rows until there are o.large, and measures them
// again, with one connection: it is the delay that counts.
func grow(ctx context.Context, o options, address, auth string, database *sql.DB) ([]growth, error) {
	if o.large <= o.documents {
		return nil, nil
	}
	measureAll := func() (map[string]time.Duration, error) {
		took := map[string]time.Duration{}
		for name, text := range growing(auth) {
			if _, err := load(ctx, address, 1, 300*time.Millisecond, func(int, int) []byte { return text }); err != nil {
				return nil, err
			}
			r, err := load(ctx, address, 1, o.duration, func(int, int) []byte { return text })
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			took[name] = r.P50
		}
		return took, nil
	}
	small, err := measureAll()
	if err != nil {
		return nil, err
	}
	if err := fill(ctx, database, o.large-o.documents); err != nil {
		return nil, fmt.Errorf("make %d documents: %w", o.large, err)
	}
	fresh, err := measureAll()
	if err != nil {
		return nil, err
	}
	if _, err := database.ExecContext(ctx, "ANALYZE"); err != nil {
		return nil, err
	}
	large, err := measureAll()
	if err != nil {
		return nil, err
	}
	var all []growth
	for _, name := range []string{"default order", "indexed filter", "a value no one has"} {
		all = append(all, growth{Name: name, Small: small[name], Fresh: fresh[name], Large: large[name]})
	}
	return all, nil
}

// fill adds rows to armature's own table, past the server: what is measured is
// reading them.
func fill(ctx context.Context, db *sql.DB, rows int) error {
	const insert = `INSERT INTO d_todo (name, owner, creation, modified, modified_by, status, priority, description)
		SELECT 'bulk' || i, 'Administrator', '2020-01-01 00:00:00.000000', %s, 'Administrator',
			CASE WHEN i %% 2 = 0 THEN 'Open' ELSE 'Closed' END, 'Low', 'a document that only makes the table long' FROM %s`
	_, err := db.ExecContext(ctx, fmt.Sprintf(insert, at(db), series(db, rows)))
	return err
}

func at(db *sql.DB) string {
	if isPostgres(db) {
		return "timestamp '2020-01-01' + i * interval '1 second'"
	}
	return "strftime('%Y-%m-%d %H:%M:%S', 1577836800 + i, 'unixepoch') || '.000000'"
}

func series(db *sql.DB, rows int) string {
	if isPostgres(db) {
		return fmt.Sprintf("generate_series(1, %d) AS s(i)", rows)
	}
	return fmt.Sprintf("(WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < %d) SELECT i FROM s)", rows)
}

func isPostgres(db *sql.DB) bool { return strings.Contains(fmt.Sprintf("%T", db.Driver()), "stdlib") }

// openOurs opens the database of armature's default site.
func openOurs(database, data string) (*sql.DB, error) {
	if database == "" {
		return sql.Open("sqlite", "file:"+data+"/sites/default/site.db?_pragma=busy_timeout(60000)")
	}
	u, err := url.Parse(database)
	if err != nil {
		return nil, err
	}
	q := u.Query()
	q.Set("search_path", "site_default")
	u.RawQuery = q.Encode()
	return sql.Open("pgx", u.String())
}

// growTable measures how lists take a table that grows.
func growTable(ctx context.Context, o options, address, auth, database, data string) (g []growth, err error) {
	db, err := openOurs(database, data)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return grow(ctx, o, address, auth, db)
}
