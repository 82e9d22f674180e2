package main

import "strings"

// hostPattern is what allowed_hosts may have, as the server takes it: a name, of which
// the first part may be a wildcard, or an address in its usual spelling, and perhaps a
// port. A name whose last part is a number is an address to some resolvers, 127.1 or
// 0x7f000001, and none here. It is a regular expression that every dialect reads.
func hostPattern() string {
	const (
		label = `[a-z0-9]([a-z0-9-]*[a-z0-9])?`
		tail  = `([a-z]|[a-z-][a-z0-9-]*[a-z0-9])` // of a part that began with digits
		octet = `(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])`
		group = `[0-9a-f]{1,4}`
	)
	last := oneOf(
		`[a-z]([a-z0-9-]*[a-z0-9])?`,
		`[1-9][0-9]*`+tail,
		`0[0-9]+`+tail,
		`0([a-wyz]|[a-wyz-][a-z0-9-]*[a-z0-9])`,
		`0x[0-9a-f]*([g-z]|[g-z-][a-z0-9-]*[a-z0-9])`,
		`0x[0-9a-f]*-[a-z0-9-]*[a-z0-9]`,
	)
	name := `(\*\.)?(` + label + `\.)*` + last
	v4 := octet + `(\.` + octet + `){3}`
	end := oneOf(group+`:`+group, v4) // RFC 3986, section 3.2.2
	v6 := oneOf(
		`(`+group+`:){6}`+end,
		`::(`+group+`:){5}`+end,
		`(`+group+`)?::(`+group+`:){4}`+end,
		`((`+group+`:)?`+group+`)?::(`+group+`:){3}`+end,
		`((`+group+`:){0,2}`+group+`)?::(`+group+`:){2}`+end,
		`((`+group+`:){0,3}`+group+`)?::`+group+`:`+end,
		`((`+group+`:){0,4}`+group+`)?::`+end,
		`((`+group+`:){0,5}`+group+`)?::`+group,
		`((`+group+`:){0,6}`+group+`)?::`,
	)
	port := oneOf(
		`0{0,4}[1-9]`, `0{0,3}[1-9][0-9]`, `0{0,2}[1-9][0-9]{2}`, `0?[1-9][0-9]{3}`,
		`[1-5][0-9]{4}`, `6[0-4][0-9]{3}`, `65[0-4][0-9]{2}`, `655[0-2][0-9]`, `6553[0-5]`,
	)
	return `^` + oneOf(name, v4, `\[`+v6+`\]`) + `(:` + port + `)?$`
}

func oneOf(alternatives ...string) string { return `(` + strings.Join(alternatives, `|`) + `)` }
