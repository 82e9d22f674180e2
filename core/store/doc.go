// Package store keeps documents in SQLite or PostgreSQL. It is the only package
// that knows SQL.
//
// A Store is one site's database. An engine is a row of capability flags and
// spellings: what the two databases do differently is written there and nowhere
// else. A shape is a statement without its values: the same DocType, columns,
// filters and order give the same shape, whose text bun builds once and which
// is then run with its arguments sent beside it, never inside it.
//
// Both databases give the same answers; storetest is the suite that says so.
package store
