package migration

// Numbered lists the migrations of this binary. Formats 1 and 2 are from before
// formats had numbers: a site of either has none in its database.
//
// A number that was released is never changed again, and what a binary ships is
// never changed without a new one.
func Numbered() []Migration {
	return []Migration{
		// The key of the site is sealed anew, so that binaries of formats 1 and 2,
		// which know no numbers, do not bring the site back to theirs.
		{Number: 3, Title: "formats have numbers", Reader: 3},
	}
}
