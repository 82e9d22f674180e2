//go:build !wasip1

package armature

import "embed"

// Source is this SDK, for the command line, which puts a copy beside a new
// plugin. It is not there in a plugin.
//
//go:embed *.go go.mod README.md internal/raw armaturetest
var Source embed.FS
