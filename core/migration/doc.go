// Package migration brings the database of a site to the format that this binary
// writes, one numbered step after the other.
//
// A format is a number: how the tables of a site are laid out and what its
// built-in DocTypes mean. A migration leads from one format to the next. Its steps
// are small; each runs in a transaction of its own that also notes in the site's
// journal how far it came, so that whoever comes after a process that was killed
// goes on where it stopped. One process at a time holds the lease of a site, and
// every step makes sure that it still does.
//
// Besides its format a site says which is the lowest format whose binaries may
// use it, its reader. So two versions run side by side while servers are replaced
// one by one: a version expands (adds tables, columns and values, and leaves
// the reader as it is), and only the next one contracts what nobody needs any
// more, and raises the reader. A binary that finds a site of a higher format uses
// it as it is; below the reader it refuses, and changes nothing either way.
package migration
