package registry

import (
	"strings"
	"time"

	"armature/core/apps/app"
	"armature/core/pin"
	"armature/plugins/manifest"
	"armature/runtime/engine"
)

// Generation is one loaded version of a plugin. Everything but its count of
// pins is fixed when it is made.
type Generation struct {
	Manifest *manifest.Manifest
	Module   *engine.Module
	Source   string // where it was installed from
	Hash     string // of the bundle
	Public   *app.Files
	LoadedAt time.Time

	// Publisher is the public key that has signed it; publisher.Nobody without.
	Publisher string

	// Close frees what the generation holds, once, after the last call of a
	// retired generation has ended.
	Close func()

	pins  pin.Count // of its calls
	users int       // its scope, and the sites that keep it; guarded by Registry.mu
}

// StoredPrefix begins the source of a plugin that a site has in its database: it
// was installed by somebody who need not run the server.
const StoredPrefix = "database/"

// Stored reports whether the plugin lies in a site's database and in no folder.
func (g *Generation) Stored() bool { return strings.HasPrefix(g.Source, StoredPrefix) }

// Pin holds the generation until Release; false when it has been retired, and
// then the table it was found in is out of date.
func (g *Generation) Pin() bool { return g.pins.Take() }

// Release gives a pin back.
func (g *Generation) Release() {
	if g.pins.Drop() {
		g.close()
	}
}

// retire lets no new call in and closes the generation as soon as the last one
// is out.
func (g *Generation) retire() {
	if g.pins.Retire() {
		g.close()
	}
}

// Pins is how many calls hold the generation.
func (g *Generation) Pins() int64 { return g.pins.Held() }

// exports reports whether the module exports a function of that name below the
// plugin's name.
func (g *Generation) exports(path string) bool {
	if g.Module == nil || !strings.HasPrefix(path, g.Manifest.Name+".") {
		return false
	}
	_, ok := g.Module.Export(path)
	return ok
}

// use and disuse count who has the generation serve; with the last it retires.
func (g *Generation) use() { g.users++ }

func (g *Generation) disuse() {
	if g.users--; g.users == 0 {
		g.retire()
	}
}

func (g *Generation) close() {
	if g.Close != nil {
		g.Close()
	}
}
