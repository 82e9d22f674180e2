// Package backup writes a site into one archive that can be carried, and fills
// an empty database from one.
//
// An archive is a tar file, compressed by gzip and encrypted by age under a
// passphrase, which anybody can open without this program:
//
//	age -d site.armature | gunzip | tar x
//
// Its entries come in this order:
//
//	armature.json          Header: format, site, when, by which version
//	config.json            the site's configuration
//	key                    the site's key, in hexadecimal
//	documents/<n>.ndjson   a line with the table and its columns, then a line for each row
//	counters.ndjson        the counters of naming series
//	files/<key>            the bytes of a file
//	plugins/<path>         the site's folder of plugins
//	manifest.json          Manifest: how much of everything, and its SHA-256
//
// The rows are those of one moment. They are canonical values (doctype.ValueKind),
// so they mean the same in every database. An archive without its last entry, or
// in which anything differs from it, is refused before anything is made of it.
package backup
