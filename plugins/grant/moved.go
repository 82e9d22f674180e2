package grant

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"armature/plugins/publisher"
)

// What a version asks for because of the one it replaces. Neither outlives the
// replacement: the next time the same is asked again.
const (
	publisherPrefix = "publisher:" // then the key that has signed it, or publisher.Nobody
	versionPrefix   = "version:"   // then the version, which is older
)

// Release is what of a version counts for the one that replaces it.
type Release struct {
	Version   string
	Publisher string // key; empty or publisher.Nobody: not signed
}

// Moved lists what one version has to be approved for that replaces another:
// that it comes from another publisher, and that it is older. Versions that are no
// numbers as semver.org writes them are not compared.
func Moved(from, to Release) []string {
	var asked []string
	key := func(r Release) string {
		if r.Publisher == "" {
			return publisher.Nobody
		}
		return r.Publisher
	}
	if key(from) != key(to) {
		asked = append(asked, publisherPrefix+key(to))
	}
	if older(to.Version, from.Version) {
		asked = append(asked, versionPrefix+to.Version)
	}
	return asked
}

// IsMove reports whether an entry is one of Moved.
func IsMove(g string) bool {
	return strings.HasPrefix(g, publisherPrefix) || strings.HasPrefix(g, versionPrefix)
}

// WithoutMoves is a list without what Moved adds to it.
func WithoutMoves(list []string) []string {
	return slices.DeleteFunc(slices.Clone(list), IsMove)
}

func older(a, b string) bool {
	number := func(v string) string { return "v" + strings.TrimPrefix(v, "v") }
	a, b = number(a), number(b)
	return semver.IsValid(a) && semver.IsValid(b) && semver.Compare(a, b) < 0
}

// moveWords says what an entry of Moved means; empty for others.
func moveWords(g string) string {
	if key, ok := strings.CutPrefix(g, publisherPrefix); ok {
		if key == publisher.Nobody {
			return "is not signed, and the version it replaces is"
		}
		return fmt.Sprintf("is signed with another key than the version it replaces: %s", key)
	}
	if version, ok := strings.CutPrefix(g, versionPrefix); ok {
		return fmt.Sprintf("is an older version than the one it replaces: %s", version)
	}
	return ""
}
