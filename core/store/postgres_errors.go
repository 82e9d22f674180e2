package store

import (
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// sqlStates maps PostgreSQL's codes to what they mean to us; a code of two
// characters covers its class.
var sqlStates = map[string]class{
	"23505": duplicate,
	"40001": again,     // serialization failure
	"40P01": again,     // deadlock
	"55P03": busy,      // lock_timeout
	"55006": busy,      // object in use
	"57014": tooLong,   // statement_timeout, or our own cancel
	"57P01": lost,      // shutting down
	"57P02": lost,      // crashed
	"57P03": lost,      // starting up
	"25P03": away,      // idle in transaction for too long
	"25006": frozen,    // read-only: a standby
	"53100": full,      // disk
	"53200": again,     // out of shared memory: too many locks at once
	"53":    away,      // out of connections, memory
	"58":    away,      // I/O error of the server
	"08":    lost,      // connection
	"3D000": away,      // the database is not there
	"22001": tooWide,   // longer than varchar(n)
	"22003": badValue,  // number out of range
	"22007": badValue,  // not a date
	"22008": badValue,  // date out of range
	"22021": badValue,  // not UTF-8, or NUL
	"22P02": badValue,  // text where a number belongs
	"0A000": stalePlan, // the columns' types changed
	"42P06": duplicate, // schema exists
	"42P07": duplicate, // table exists
	"42710": duplicate, // its row type exists: the table is being made
	"XX000": other,
}

func diagnosePostgres(err error) diagnosis {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		c, ok := sqlStates[e.Code]
		if !ok && len(e.Code) == 5 {
			c = sqlStates[e.Code[:2]]
		}
		if c == again && strings.HasSuffix(e.File, "predicate.c") {
			return diagnosis{c, overRead}
		}
		return diagnosis{c, e.ConstraintName}
	}
	var connecting *pgconn.ConnectError
	switch {
	case err == nil:
		return diagnosis{}
	case errors.As(err, &connecting):
		return diagnosis{class: lost}
	case strings.HasSuffix(err.Error(), "conn closed"):
		return diagnosis{class: lost} // pgx has no name for it
	}
	return diagnosis{}
}
