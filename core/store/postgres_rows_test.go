package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

// postgresToTest names the database to test on.
func postgresToTest(t *testing.T) string {
	t.Helper()
	url := os.Getenv("ARMATURE_TEST_POSTGRES")
	switch {
	case url == "" && os.Getenv("CI") == "true":
		t.Fatal("ARMATURE_TEST_POSTGRES is not set, and CI must test PostgreSQL")
	case url == "":
		t.Skip("PostgreSQL is not tested: set ARMATURE_TEST_POSTGRES=postgres://user@host:port/database")
	}
	return url
}

// openOnPostgres opens a schema of its own there, with one connection for what
// runs by itself.
func openOnPostgres(t *testing.T) *Store {
	t.Helper()
	url := postgresToTest(t)
	schema := fmt.Sprintf("rows_%d_%d", os.Getpid(), time.Now().UnixNano())
	s, err := OpenPostgres(t.Context(), url, schema, Options{MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := Drop(context.Background(), url, schema); err != nil {
			t.Error(err)
		}
	})
	return s
}

// What is read from pgx itself is what database/sql reads, for every type that a
// column of ours or an administrator's can have.
func TestPostgresValues(t *testing.T) {
	s := openOnPostgres(t)
	b := s.backend.(*postgresBackend)
	expressions := []string{
		"NULL::text", "'Zoë'::text", "''::varchar(140)", "'x '::char(3)", "'name'::name", "'unknown'",
		"true", "false", "1::int2", "-2::int2", "-3::int4", "2147483647::int4", "9223372036854775807::int8",
		"'-9223372036854775808'::int8", "1.5::float4", "0.1::float8", "'NaN'::float8", "'-Infinity'::float8",
		"1234567890.0123456789::numeric", "12::money", "4294967295::oid",
		"date '2026-02-28'", "date '0001-01-01'", "date 'infinity'",
		"timestamp '2026-02-28 23:59:59.123456'", "timestamp '1969-12-31 23:59:59.999999'", "timestamp '0001-01-01'",
		"timestamp '9999-12-31 23:59:59.999999'", "timestamp 'infinity'", "timestamp '-infinity'",
		"time '23:59:59.5'", "time '24:00'", "interval '1 day 2 hours'",
		`'\x00ff'::bytea`, `'{"a": 1}'::json`, `'{"a": 1}'::jsonb`, "'7f000001-0000-4000-8000-000000000000'::uuid",
		"ARRAY[1, 2]", "ARRAY['a', NULL]", "inet '127.0.0.1'",
	}
	st := &statement{text: "SELECT " + strings.Join(expressions, ", "), cells: make([]cell, len(expressions))}
	var want, got []any
	rows, err := b.kept.QueryContext(t.Context(), st.text)
	if err := scan(rows, err, &statement{cells: make([]cell, len(expressions))}, func(v []any) error { want = append(want, v...); return nil }); err != nil {
		t.Fatal(err)
	}
	for _, fleeting := range []bool{false, true} {
		got, st.fleeting = nil, fleeting
		if err := b.query(t.Context(), st, nil, func(v []any) error { got = append(got, v...); return nil }); err != nil {
			t.Fatal(err)
		}
		for i, expression := range expressions {
			if text, ok := want[i].([]byte); ok && strings.Contains(expression, "json") {
				want[i] = string(text)
			}
			if fmt.Sprintf("%T %v", got[i], got[i]) != fmt.Sprintf("%T %v", want[i], want[i]) {
				t.Errorf("%s: %T %v, database/sql says %T %v", expression, got[i], got[i], want[i], want[i])
			}
		}
	}
}

// However a query ends, the connection it ran on serves the next one, or another
// takes its place: here there is one at a time.
func TestPostgresQueryEnds(t *testing.T) {
	s := openOnPostgres(t)
	b := s.backend.(*postgresBackend)
	b.kept.SetMaxOpenConns(1)
	ten := &statement{text: "SELECT i::int8 FROM generate_series(1, 10) i", cells: []cell{{}}}
	fine := func(when string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		var got []any
		err := b.query(ctx, ten, nil, func(v []any) error { got = append(got, v[0]); return nil })
		if want := []any{int64(1), int64(2), int64(3)}; err != nil || len(got) != 10 || !reflect.DeepEqual(got[:3], want) {
			t.Errorf("%s: %v, %v", when, got, err)
		}
	}
	fine("at first")

	mine := errors.New("mine")
	calls := 0
	err := b.query(t.Context(), ten, nil, func([]any) error { calls++; return mine })
	if !errors.Is(err, mine) || calls != 1 {
		t.Errorf("refused: %v after %d calls", err, calls)
	}
	fine("after a refusal")

	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic got lost")
			}
		}()
		_ = b.query(t.Context(), ten, nil, func([]any) error { panic("here") })
	}()
	fine("after a panic")

	slow := &statement{text: "SELECT pg_sleep(30)::text", cells: []cell{{}}}
	ctx, cancel := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	waiting.Go(func() {
		if err := b.query(ctx, slow, nil, func([]any) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	})
	running := &statement{text: "SELECT count(*) FROM pg_stat_activity WHERE query = $1 AND state = 'active'", cells: []cell{{}}, list: true}
	for n := int64(0); n == 0; {
		err := b.query(t.Context(), running, []any{slow.text}, func(v []any) error { n = v[0].(int64); return nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	waiting.Wait()
	fine("after a cancellation")

	wrong := &statement{text: "SELECT nothing", cells: []cell{{}}}
	if err := b.query(t.Context(), wrong, nil, func([]any) error { return nil }); err == nil {
		t.Error("no such column")
	}
	fine("after a mistake")

	late := &statement{text: "SELECT 1 / (5 - i) FROM generate_series(1, 10) i", cells: []cell{{}}}
	calls = 0
	if err := b.query(t.Context(), late, nil, func([]any) error { calls++; return nil }); err == nil || calls == 10 {
		t.Errorf("failed in the middle: %v after %d calls", err, calls)
	}
	fine("after a failure in the middle")
}

// A statement whose plan is from before its table changed runs all the same.
func TestPostgresStalePlan(t *testing.T) {
	s := openOnPostgres(t)
	b := s.backend.(*postgresBackend)
	b.kept.SetMaxOpenConns(1)
	change := func(text string) {
		t.Helper()
		if _, err := b.writes.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	change("CREATE TABLE plan (a int4)")
	change("INSERT INTO plan VALUES (7)")
	st := &statement{text: "SELECT a FROM plan", cells: []cell{{}}}
	for _, alter := range []string{"", "ALTER TABLE plan ALTER a TYPE text", "ALTER TABLE plan ALTER a TYPE float8 USING a::float8"} {
		if alter != "" {
			change(alter)
		}
		var got any
		if err := b.query(t.Context(), st, nil, func(v []any) error { got = v[0]; return nil }); err != nil || fmt.Sprint(got) != "7" {
			t.Errorf("after %q: %v, %v", alter, got, err)
		}
	}
}
