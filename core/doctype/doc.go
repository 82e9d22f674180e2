// Package doctype knows what documents are: it holds their definitions and their
// values, and does nothing with either.
//
// A Definition is a DocType as it is written down; Define checks it and makes a
// DocType of Fields, an immutable value. A Schema is a snapshot of all DocTypes
// of a site, a Catalog holds the current one. A Document is a record of a
// DocType in memory. Its values are canonical: each Field has a ValueKind, each
// kind one Go type, and Coerce makes the one of whatever a client sent. A Select
// is a list of documents whose names and values are resolved that far.
//
// The package reads no store, asks no rights and knows no caller.
package doctype
