package web

import (
	"net/url"
	"strings"
)

// maxWish bounds, in bytes, where a login may lead.
const maxWish = 16 << 10

// localPath returns where to go after a login: the wish if it stays on this
// site, or else empty. Browsers take a backslash for a slash and leave out tabs
// and line ends, so that /\evil and a tab between two slashes lead to another
// host; nothing with such letters is followed. An authorization request may carry
// a long state.
func localPath(wish string) string {
	if len(wish) > maxWish || !strings.HasPrefix(wish, "/") || strings.HasPrefix(wish, "//") || strings.Contains(wish, `\`) {
		return ""
	}
	for _, c := range []byte(wish) {
		if c <= ' ' || c == 0x7f {
			return ""
		}
	}
	u, err := url.Parse(wish)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil {
		return ""
	}
	return wish
}
