// Package backup writes a site into one archive that can be carried, and fills
// an empty database from one.
//
// An archive is a tar file of two entries: what it is, for everybody to read, and
// the site, compressed by gzip and encrypted by age under a passphrase. So it can
// be opened without this program:
//
//	tar xOf site.armature site.tar.gz.age | age -d | tar xz
//
// The first entry, armature.json, is a Cover: the Header, and size and SHA-256 of
// the other one, by which an archive is found whole before anybody is asked for a
// passphrase. What is sealed says it again, and counts. Entries in it come in this
// order:
//
//	armature.json          Header: format, site, when, by which version
//	config.json            the site's configuration
//	key                    the site's key, in hexadecimal
//	documents/<n>.ndjson   a line with the table and its columns, then a line for each row
//	counters.ndjson        the counters of naming series
//	files/<key>            the bytes of a file
//	plugins/<path>         the site's folder of plugins
//	frontend/<path>        the frontends that were published, and the list of them
//	manifest.json          Manifest: how much of everything, and its SHA-256
//
// The rows are those of one moment. They are canonical values (doctype.ValueKind),
// so they mean the same in every database. An archive without its last entry, or
// in which anything differs from it, is refused before anything is made of it.
//
// Archives of format 1 were the encrypted part alone; they are read as well.
//
// A Schedule says how often archives are made and which of them stay, a Place
// where they are, and Runs, in the site's database, what became of it.
package backup
