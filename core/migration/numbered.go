package migration

// Numbered lists the migrations of this binary. Formats 1 and 2 are from before
// formats had numbers: a site of either has none in its database.
//
// A number that was released is never changed again, and what a binary ships
// changes only together with a new one: testdata/shipped.json holds what the newest
// ships, and a test of core/tenant compares.
func Numbered() []Migration {
	return []Migration{
		// The key of the site is sealed anew, so that binaries of formats 1 and 2,
		// which know no numbers, do not bring the site back to theirs.
		{Number: 3, Title: "formats have numbers", Reader: 3},
		// A site that was made without the columns of those fields is no site for
		// binaries that select them.
		{Number: 4, Title: "DocTypes without fields that nothing reads", Reader: 4},
		{Number: 5, Title: "clients may be known by an address", Reader: 4},
		{Number: 6, Title: "plugins are given rights", Reader: 4},
		// Binaries before it send what a paused site has to send: nothing makes a site
		// paused but restoring, by a binary that knows of it.
		{Number: 7, Title: "sites know of their backups and may be paused", Reader: 4},
		{Number: 8, Title: "plugins have publishers, and users of their own", Reader: 4},
		// Binaries before it ask for no second factor: while both serve a site, nobody
		// should rely on one.
		{Number: 9, Title: "second factors", Reader: 4},
		{Number: 10, Title: "codes and grants know how their user logged in", Reader: 4},
		{Number: 11, Title: "sites keep jobs", Reader: 4},
		{Number: 12, Title: "sites have schedules", Reader: 4},
		{Number: 13, Title: "webhooks", Reader: 4},
		{Number: 14, Title: "programs and devices are given tokens", Reader: 4},
		{Number: 15, Title: "templates of letters", Reader: 4},
		{Number: 16, Title: "people log in with accounts elsewhere", Reader: 4},
		// Binaries before it let in by the password alone who has no factor but a passkey:
		// while both serve a site, nobody should rely on one.
		{Number: 17, Title: "passkeys", Reader: 4},
		{Number: 18, Title: "people sign up and are invited, and addresses are verified", Reader: 4},
		{Number: 19, Title: "calls of agents are kept with their arguments", Reader: 4},
		{Number: 20, Title: "people log in with codes by mail", Reader: 4},
		{Number: 21, Title: "users have several API keys", Reader: 4},
		{Number: 22, Title: "people change their addresses", Reader: 4},
		// Binaries before it let agents write at once: while both serve a site, nobody
		// should rely on a confirmation.
		{Number: 23, Title: "what agents write waits for a confirmation", Reader: 4},
	}
}
