// Package app is what a plugin brings for browsers: files, and routes that its methods
// answer. It knows neither how a site serves them nor how a plugin is installed.
package app

import "strings"

// App is the pages of one version of a plugin, as it serves a site.
type App struct {
	Plugin string
	Files  *Files  // nil: there are none
	Routes *Routes // nil: there are none
	// SameOrigin says that the pages are the site's own: they act as whoever opens them.
	SameOrigin bool
	// Pin holds the version, with its methods, until it is released.
	Pin interface{ Release() }
}

// Label is the name of a plugin as one part of a host name (RFC 1123, section 2.1): a dot
// becomes a hyphen, an underscore two. No two plugins have the same. ok is false where no
// host can have that name, and where one would mean something else (RFC 5891, section
// 4.2.3.1).
func Label(plugin string) (label string, ok bool) {
	label = strings.NewReplacer("_", "--", ".", "-").Replace(plugin)
	return label, len(label) <= 63 && !strings.HasSuffix(label, "-") && !strings.HasPrefix(label, "xn--")
}

// Reserved begins the paths of an app that the platform answers.
const Reserved = "/-/"
