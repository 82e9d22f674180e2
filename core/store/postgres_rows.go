package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/stdlib"
)

// Rows are read from pgx itself and not through database/sql, which makes a
// goroutine and a closure for each column of each query: a third of what it
// costs this process to read one document.

// maxStale is how many connections that turn out to be dead one query may meet.
const maxStale = 3

// query runs a statement by itself.
func (b *postgresBackend) query(ctx context.Context, st *statement, args []any, fn rowFunc) error {
	if b.pooled != "" {
		return b.queryPooled(ctx, st, args, fn)
	}
	mode := pgx.QueryExecModeCacheStatement
	switch {
	case st.fleeting:
		mode = pgx.QueryExecModeExec
	case st.passing:
		mode = pgx.QueryExecModeDescribeExec
	}
	for n := 1; ; n++ {
		rows := 0
		err := b.on(ctx, st, func(c *pgx.Conn) error {
			return readRows(ctx, c, st, mode, args, func(values []any) error {
				rows++
				return fn(values)
			})
		})
		if err == nil || rows > 0 || n == maxStale {
			return err
		}
		// The connection was dead before anything was sent, or the plan is from
		// before the table changed, which it tells once.
		if !pgconn.SafeToRetry(err) && diagnosePostgres(err).class != stalePlan {
			return err
		}
	}
}

// on runs fn on a connection of the pool that a statement belongs to.
func (b *postgresBackend) on(ctx context.Context, st *statement, fn func(*pgx.Conn) error) error {
	c, err := b.handle(st).Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close() // gives it back, which cannot fail
	return native(c, fn)
}

// native runs fn on the connection of pgx below one of database/sql.
func native(c *sql.Conn, fn func(*pgx.Conn) error) error {
	return c.Raw(func(on any) error {
		switch on := on.(type) {
		case *stdlib.Conn:
			return fn(on.Conn())
		case *countedConn:
			return fn(on.Conn.Conn())
		}
		return fmt.Errorf("store: a connection of the type %T", on)
	})
}

// readRows runs a statement and hands each row to fn; when fn has failed, the
// rest is read and not handed out.
func readRows(ctx context.Context, c *pgx.Conn, st *statement, mode pgx.QueryExecMode, args []any, fn rowFunc) error {
	all := make([]any, 0, 8)
	all = append(append(all, mode, binaryResults), args...)
	rows, err := c.Query(ctx, st.text, all...)
	if err != nil {
		return err
	}
	defer rows.Close()
	into := takeRow(len(st.cells))
	defer into.put()
	var failed error
	for rows.Next() {
		if failed != nil {
			continue
		}
		if failed = decodeRow(into.values, c.TypeMap(), rows); failed == nil {
			failed = fn(into.values)
		}
	}
	if failed != nil {
		return failed
	}
	return rows.Err()
}

// binaryResults are the types that are asked for in binary: numbers and moments
// need no parsing. Everything else comes as text.
var binaryResults = pgx.QueryResultFormatsByOID{
	pgtype.BoolOID: 1, pgtype.ByteaOID: 1, pgtype.OIDOID: 1,
	pgtype.Int2OID: 1, pgtype.Int4OID: 1, pgtype.Int8OID: 1, pgtype.Float4OID: 1, pgtype.Float8OID: 1,
	pgtype.DateOID: 1, pgtype.TimestampOID: 1, pgtype.TimestamptzOID: 1,
}

var errColumns = errors.New("store: a row of another number of columns than the statement has")

func decodeRow(values []any, types *pgtype.Map, rows pgx.Rows) (err error) {
	fields, raw := rows.FieldDescriptions(), rows.RawValues()
	if len(raw) != len(values) || len(fields) != len(raw) {
		return errColumns
	}
	for i, b := range raw {
		if values[i], err = decodeValue(types, &fields[i], b); err != nil {
			return fmt.Errorf("read the column %s: %w", fields[i].Name, err)
		}
	}
	return nil
}

// decodeValue makes of a value what database/sql would: nil, string, int64,
// float64, bool, []byte or time.Time; JSON is a string.
func decodeValue(types *pgtype.Map, field *pgconn.FieldDescription, b []byte) (driver.Value, error) {
	if b == nil {
		return nil, nil
	}
	switch field.DataTypeOID {
	case pgtype.TextOID, pgtype.VarcharOID: // the most
		return string(b), nil
	}
	if field.Format == pgtype.BinaryFormatCode {
		switch {
		case field.DataTypeOID == pgtype.Int8OID && len(b) == 8:
			return int64(binary.BigEndian.Uint64(b)), nil
		case field.DataTypeOID == pgtype.Int4OID && len(b) == 4:
			return int64(int32(binary.BigEndian.Uint32(b))), nil
		case field.DataTypeOID == pgtype.Float8OID && len(b) == 8:
			return math.Float64frombits(binary.BigEndian.Uint64(b)), nil
		case field.DataTypeOID == pgtype.TimestampOID && len(b) == 8:
			if since := int64(binary.BigEndian.Uint64(b)); since != math.MaxInt64 && since != math.MinInt64 {
				return time.UnixMicro(since).UTC().Add(y2k), nil
			}
		}
	} else if _, special := binaryResults[field.DataTypeOID]; !special {
		return string(b), nil
	}
	// A statement that runs unprepared answers all in text.
	t, ok := types.TypeForOID(field.DataTypeOID)
	if !ok {
		return nil, fmt.Errorf("unknown type %d", field.DataTypeOID)
	}
	return t.Codec.DecodeDatabaseSQLValue(types, field.DataTypeOID, field.Format, b)
}

// y2k is the moment from which PostgreSQL counts, after 1970.
const y2k = 10957 * 24 * time.Hour
