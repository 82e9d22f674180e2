package store

import (
	"strings"

	"armature/core/document"
)

// engine is what shared code may know of a database: capabilities and
// spellings, never a name to compare with.
type engine struct {
	placeholder byte // starts a numbered placeholder

	columnTypes [document.Rows]string // by storage
	shortText   string                // names and links
	collate     string                // appended to text columns, with a leading space

	// Formats with one place for an operand and one for a placeholder.
	like, notLike string
	in, notIn     string

	// asText turns an operand of a storage into the text a client sees, for
	// like; empty: it is text already.
	asText [document.Rows]string
	// list writes the members of an in filter as one argument.
	list func([]any) string

	sumInt string // format that keeps the sum of whole numbers a whole number
	avg    string

	unlimited string // LIMIT that sets none

	// unnest inserts any number of rows from one array argument per column; nil:
	// rows go one by one, which costs nothing where there is no network.
	unnest *[document.Rows]string // type of the array, by storage

	keepsPlans  bool // a prepared statement may keep one plan for all its arguments
	nullsClause bool // NULL sorts last unless told otherwise
	rowLock     bool // SELECT ... FOR UPDATE
	alterType   bool // a column's type can be widened in place
	lockTimeout bool // DDL waits for locks only as long as it is told
	indexNulls  bool // an index says where NULL sorts

	columnsQuery string // names and types of a table's columns
	indexesQuery string // names of a table's indexes but the primary key's, and whether each is valid
}

// sqliteEngine: text, integers and doubles; NULL sorts lowest; LIKE folds ASCII.
var sqliteEngine = engine{
	placeholder: '?',
	columnTypes: [document.Rows]string{
		document.Text: "TEXT", document.Int: "INTEGER", document.Check: "INTEGER", document.Float: "REAL",
		document.Datetime: "TEXT", document.Date: "TEXT", document.Time: "TEXT", document.JSON: "TEXT",
	},
	shortText: "TEXT",
	like:      `? LIKE ? ESCAPE '\'`,
	notLike:   `? NOT LIKE ? ESCAPE '\'`,
	in:        `? IN (SELECT value FROM json_each(?))`,
	notIn:     `? NOT IN (SELECT value FROM json_each(?))`,
	list:      jsonList,
	sumInt:    "SUM(?)",
	avg:       "AVG(?)",
	unlimited: "-1",
	asText: [document.Rows]string{
		document.Int: "CAST(? AS TEXT)", document.Check: "CAST(? AS TEXT)", document.Float: "CAST(? AS TEXT)",
	},
	columnsQuery: `SELECT name, type FROM pragma_table_info(?)`,
	indexesQuery: `SELECT name, 'valid' FROM pragma_index_list(?) WHERE origin = 'c'`,
}

// postgresEngine has real types. ILIKE under COLLATE "C" folds ASCII only, as
// SQLite does.
var postgresEngine = engine{
	placeholder: '$',
	columnTypes: [document.Rows]string{
		document.Text: "text", document.Int: "bigint", document.Check: "smallint", document.Float: "double precision",
		document.Datetime: "timestamp(6)", document.Date: "date", document.Time: "time(6)", document.JSON: "text",
	},
	shortText: "varchar(140)",
	like:      `? ILIKE ? COLLATE "C" ESCAPE '\'`,
	notLike:   `? NOT ILIKE ? COLLATE "C" ESCAPE '\'`,
	in:        `? = ANY(?)`,
	notIn:     `? <> ALL(?)`,
	list:      arrayList,
	sumInt:    "CAST(SUM(?) AS bigint)",
	avg:       "AVG(CAST(? AS double precision))",
	unlimited: "ALL",
	unnest: &[document.Rows]string{
		document.Text: "text[]", document.Int: "bigint[]", document.Check: "smallint[]", document.Float: "double precision[]",
		document.Datetime: "timestamp[]", document.Date: "date[]", document.Time: "time[]", document.JSON: "text[]",
	},
	asText: [document.Rows]string{
		document.Int: "CAST(? AS text)", document.Check: "CAST(? AS text)", document.Float: "CAST(? AS text)",
		document.Datetime: "to_char(?, 'YYYY-MM-DD HH24:MI:SS.US')",
		document.Date:     "to_char(?, 'YYYY-MM-DD')",
		document.Time:     "to_char(CAST(? AS interval), 'HH24:MI:SS.US')",
	},
	columnsQuery: `SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
		WHERE attrelid = to_regclass(quote_ident(?)) AND attnum > 0 AND NOT attisdropped`,
	indexesQuery: `SELECT relname, CASE WHEN indisvalid THEN 'valid' ELSE '' END FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
		WHERE indrelid = to_regclass(quote_ident(?)) AND NOT indisprimary`,
	keepsPlans:  true,
	nullsClause: true,
	rowLock:     true,
	alterType:   true,
	lockTimeout: true,
	indexNulls:  true,
}

// columnType is the type of a field's column. Links and names are short:
// a database that knows lengths then refuses what no client could have sent.
func (e *engine) columnType(f *document.Field) string { return e.columnTypeWith(f, "0") }

// columnTypeWith is the type with what a number is where nothing is said.
func (e *engine) columnTypeWith(f *document.Field, number string) string {
	typ := e.columnTypes[f.Kind]
	if f.Kind == document.Text && isShort(f) {
		typ = e.shortText
	}
	switch f.Kind {
	case document.Text, document.JSON:
		typ += e.collate
	}
	if !f.Kind.Nullable() {
		typ += " NOT NULL DEFAULT " + number
	}
	return typ
}

func isShort(f *document.Field) bool {
	return (f.Standard || f.IsLink()) && f.Length <= document.DefaultLength
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
