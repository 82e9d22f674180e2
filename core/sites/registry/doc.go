// Package registry is how the sites of an installation are listed, wherever that is
// kept: what is known of each, how one is made, configured and taken away, and how
// often servers look. The two places there are folders and records.
package registry
