// Package conformance is how an SDK, or a language without one, shows that
// plugins can be written with it: one plugin, acme.conformance, with a fixed set
// of methods that README.md describes, and one suite of cases that calls them
// on a server over HTTP and looks at what a client and the database see.
//
// The package knows the server only by its address. The command `armature plugin
// conformance FILE.wasm` makes a server for it.
package conformance

import _ "embed"

// Manifest is the armature.json of the plugin, the same for every language.
//
//go:embed armature.json
var Manifest []byte

// Plugin is the name of the plugin.
const Plugin = "acme.conformance"

// Settings is what the site's configuration has to say about the plugin, as JSON.
const Settings = `{"limit": 12, "motto": "grüß dich"}`

// Server is where the plugin is tried. It is made for the purpose: the cases
// install the plugin, approve grants and leave documents behind.
type Server struct {
	Module []byte // the plugin, with ManifestFor the host of Far in it

	URL    string // without a slash at the end
	Far    string // the address at which Far is served, a private host the site allows
	Admin  string // Authorization of the Administrator
	Reader string // Authorization of a user without roles

	// Log is what the plugin has logged so far, as text.
	Log func() string
}

// Result is what became of one case.
type Result struct {
	Case   string `json:"case"`
	Proves string `json:"proves"`
	Error  string `json:"error,omitempty"` // empty: it passed
}
