package query

// The most of everything that one query may have. They are far beyond what
// people write and far below what hurts the server or a database: the values of
// one statement stay under the number of placeholders SQLite takes.
const (
	MaxText       = 1 << 20 // bytes of one argument given as JSON text
	MaxFields     = 250
	MaxConditions = 500
	MaxValues     = 20_000 // values of all conditions together
	MaxDepth      = 16     // groups inside groups
	MaxOrder      = 16     // sort keys; group keys too
	MaxExpand     = 50
	MaxName       = 140 // characters of a name

	// A database that matches a pattern with one text cannot be interrupted, and
	// takes up to the product of their lengths.
	MaxPattern   = 256 // bytes
	MaxWildcards = 32  // % and _, escaped or not
)
