package store

import (
	"strings"

	"armature/core/doctype"
)

// engine is what shared code may know of a database: capabilities and
// spellings, never a name to compare with.
type engine struct {
	placeholder byte // starts a numbered placeholder

	columnTypes [doctype.Rows]string // by kind of value
	shortText   string               // names and links
	collate     string               // appended to text columns, with a leading space

	// Formats with one place for an operand and one for a placeholder.
	like, notLike string
	in, notIn     string

	// begin is that an operand is among the keys of rows, which are looked for
	// first; unsorted an operand by which no index sorts.
	begin, unsorted string
	// apart keeps EXISTS from being worked out for all rows at once, where few are
	// looked at.
	apart string

	// asText turns an operand of a kind into the text a client sees, for
	// like; empty: it is text already.
	asText [doctype.Rows]string
	// list writes the members of an in filter as one argument.
	list func([]any) string

	sumInt string // format that keeps the sum of whole numbers a whole number
	avg    string

	unlimited string // LIMIT that sets none

	// unnest inserts any number of rows from one array argument per column; nil:
	// rows go one by one, which costs nothing where there is no network.
	unnest *[doctype.Rows]string // type of the array, by kind

	peeks       bool // the plan of a prepared statement is made for its arguments
	keepsPlans  bool // a prepared statement may keep one plan for all its arguments
	nullsClause bool // NULL sorts last unless told otherwise
	rowLock     bool // SELECT ... FOR UPDATE
	alterType   bool // a column's type can be widened in place
	races       bool // transactions run beside each other, and may lose
	remote      bool // it computes in another process, for which a statement waits
	turns       int  // tables to lock for a turn
	comments    bool // statements say for whom they run
	lockTimeout bool // DDL waits for locks only as long as it is told
	indexNulls  bool // an index says where NULL sorts

	changes changeLog // how the log of changes is kept and read

	isKey func(what string) bool // whether a duplicate is of a primary key, by what its diagnosis names

	columnsQuery string // names and types of a table's columns
	usedBytes    string // a statement that answers with the bytes in use
	integrity    string // a statement that answers with what is damaged, or "ok"; empty: there is none
	indexesQuery string // names of a table's indexes but the primary key's, and whether each is valid
}

// sqliteEngine: text, integers and doubles; NULL sorts lowest; LIKE folds ASCII.
var sqliteEngine = engine{
	placeholder: '?',
	columnTypes: [doctype.Rows]string{
		doctype.Text: "TEXT", doctype.Int: "INTEGER", doctype.Check: "INTEGER", doctype.Float: "REAL",
		doctype.Datetime: "TEXT", doctype.Date: "TEXT", doctype.Time: "TEXT", doctype.JSON: "TEXT",
	},
	shortText: "TEXT",
	like:      `? LIKE ? ESCAPE '\'`,
	notLike:   `? NOT LIKE ? ESCAPE '\'`,
	in:        `? IN (SELECT value FROM json_each(?))`,
	begin:     `? IN (SELECT ?.? FROM ? AS ? WHERE ?)`,
	unsorted:  `+?`,
	notIn:     `? NOT IN (SELECT value FROM json_each(?))`,
	list:      jsonList,
	sumInt:    "SUM(?)",
	avg:       "AVG(?)",
	unlimited: "-1",
	asText: [doctype.Rows]string{
		doctype.Int: "CAST(? AS TEXT)", doctype.Check: "CAST(? AS TEXT)", doctype.Float: "CAST(? AS TEXT)",
	},
	peeks:        true,
	changes:      sqliteChanges,
	isKey:        func(what string) bool { return what == "name" },
	usedBytes:    usedSQLite,
	integrity:    `PRAGMA integrity_check`,
	columnsQuery: `SELECT name, type FROM pragma_table_info(?)`,
	indexesQuery: `SELECT name, 'valid' FROM pragma_index_list(?) WHERE origin = 'c'`,
}

// postgresEngine has real types. ILIKE under COLLATE "C" folds ASCII only, as
// SQLite does.
var postgresEngine = engine{
	placeholder: '$',
	columnTypes: [doctype.Rows]string{
		doctype.Text: "text", doctype.Int: "bigint", doctype.Check: "smallint", doctype.Float: "double precision",
		doctype.Datetime: "timestamp(6)", doctype.Date: "date", doctype.Time: "time(6)", doctype.JSON: "text",
	},
	shortText: "varchar(140)",
	like:      `? ILIKE ? COLLATE "C" ESCAPE '\'`,
	notLike:   `? NOT ILIKE ? COLLATE "C" ESCAPE '\'`,
	in:        `? = ANY(?)`,
	begin:     `? = ANY(ARRAY(SELECT ?.? FROM ? AS ? WHERE ?))`,
	unsorted:  `? + interval '0'`,
	apart:     " OFFSET 0",
	notIn:     `? <> ALL(?)`,
	list:      arrayList,
	sumInt:    "CAST(SUM(?) AS bigint)",
	avg:       "AVG(CAST(? AS double precision))",
	unlimited: "ALL",
	unnest: &[doctype.Rows]string{
		doctype.Text: "text[]", doctype.Int: "bigint[]", doctype.Check: "smallint[]", doctype.Float: "double precision[]",
		doctype.Datetime: "timestamp[]", doctype.Date: "date[]", doctype.Time: "time[]", doctype.JSON: "text[]",
	},
	asText: [doctype.Rows]string{
		doctype.Int: "CAST(? AS text)", doctype.Check: "CAST(? AS text)", doctype.Float: "CAST(? AS text)",
		doctype.Datetime: "to_char(?, 'YYYY-MM-DD HH24:MI:SS.US')",
		doctype.Date:     "to_char(?, 'YYYY-MM-DD')",
		doctype.Time:     "to_char(CAST(? AS interval), 'HH24:MI:SS.US')",
	},
	changes:   postgresChanges,
	isKey:     func(what string) bool { return strings.HasSuffix(what, "_pkey") },
	usedBytes: usedPostgres,
	columnsQuery: `SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
		WHERE attrelid = to_regclass(quote_ident(?)) AND attnum > 0 AND NOT attisdropped`,
	indexesQuery: `SELECT relname, CASE WHEN indisvalid THEN 'valid' ELSE '' END FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
		WHERE indrelid = to_regclass(quote_ident(?)) AND NOT indisprimary`,
	keepsPlans:  true,
	nullsClause: true,
	rowLock:     true,
	alterType:   true,
	races:       true,
	remote:      true,
	turns:       turnTables,
	lockTimeout: true,
	indexNulls:  true,
}

// columnType is the type of a field's column. Links and names are short:
// a database that knows lengths then refuses what no client could have sent.
func (e *engine) columnType(f *doctype.Field) string { return e.columnTypeWith(f, "0") }

// columnTypeWith is the type with what a number is where nothing is said.
func (e *engine) columnTypeWith(f *doctype.Field, number string) string {
	typ := e.columnTypes[f.Kind]
	if f.Kind == doctype.Text && isShort(f) {
		typ = e.shortText
	}
	switch f.Kind {
	case doctype.Text, doctype.JSON:
		typ += e.collate
	}
	if !f.Kind.Nullable() {
		typ += " NOT NULL DEFAULT " + number
	}
	return typ
}

func isShort(f *doctype.Field) bool {
	return (f.Standard || f.IsLink()) && f.Length <= doctype.DefaultLength
}

// baseType cuts a column type to the word by which two of them are compared:
// what a database prints differs from what it was told in length and spelling.
func baseType(typ string) string {
	typ = strings.ToLower(typ)
	if strings.HasPrefix(typ, "character varying") || strings.HasPrefix(typ, "varchar") {
		return "text"
	}
	if i := strings.IndexAny(typ, " ("); i >= 0 {
		typ = typ[:i]
	}
	return typ
}
