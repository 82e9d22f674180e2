package public

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"armature/core/public/media"
	"armature/core/public/module"
)

// Scripts in TypeScript, and those with JSX, are served as the module that a browser
// runs, with everything they import: a frontend needs no tools. main.ts is there at
// /main.ts, which is what a page is written with, and at /main.js, which an editor
// expects.

// maxBundles is how many are kept for a site.
const maxBundles = 64

// sourceOf finds the script that a name ending in .js stands for.
func sourceOf(root *os.Root, name string) (string, bool) {
	base, is := strings.CutSuffix(name, ".js")
	if !is {
		return "", false
	}
	for _, ext := range module.Extensions {
		if info, err := root.Stat(base + ext); err == nil && info.Mode().IsRegular() {
			return base + ext, true
		}
	}
	return "", false
}

// bundles are the modules made so far. One is made at a time.
type bundles struct {
	mu   sync.Mutex
	made map[string]*bundle
}

// bundle is what a script has become, or why it has not.
type bundle struct {
	code   []byte
	tag    string
	inputs map[string]stamp // by name; what is other makes it stale
	err    error
}

// stamp tells versions of a file apart; the zero stamp is of one that is not there.
type stamp struct {
	at   time.Time
	size int64
}

func stampOf(root *os.Root, name string) stamp {
	info, err := root.Stat(name)
	if err != nil {
		return stamp{}
	}
	return stamp{info.ModTime(), info.Size()}
}

func (m *bundle) fresh(root *os.Root) bool {
	for name, s := range m.inputs {
		if now := stampOf(root, name); !now.at.Equal(s.at) || now.size != s.size {
			return false
		}
	}
	return true
}

// serveBundle answers with the module of a script. A mistake in it is answered with a
// script that throws it, so that the browser's console tells file, line and column.
func (f *Frontend) serveBundle(w http.ResponseWriter, r *http.Request, root *os.Root, name string) error {
	m, made := f.bundles.get(root, name)
	if made && m.err != nil {
		f.log.Warn("a script of the frontend cannot be bundled", "error", m.err)
	}
	h := w.Header()
	f.guard(root, h, name)
	h.Set("Content-Type", media.TypeOf(".js"))
	h.Set("Cache-Control", "no-cache")
	if m.err != nil {
		text, err := json.Marshal(m.err.Error())
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(w, "throw new SyntaxError(%s);\n", text)
		return err
	}
	h.Set("Etag", m.tag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(m.code))
	return nil
}

// get returns the module of a script, and whether it was made just now.
func (b *bundles) get(root *os.Root, name string) (m *bundle, made bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if m := b.made[name]; m != nil && m.fresh(root) {
		return m, false
	}
	m = newBundle(root, name)
	if b.made == nil || len(b.made) >= maxBundles {
		b.made = map[string]*bundle{}
	}
	b.made[name] = m
	return m, true
}

// newBundle makes the module of a script, and notes what was looked at for it.
func newBundle(root *os.Root, name string) *bundle {
	m := &bundle{inputs: map[string]stamp{name: stampOf(root, name)}}
	m.code, m.err = module.Build(root, name, func(name string) { m.inputs[name] = stampOf(root, name) })
	if m.err == nil {
		sum := sha256.Sum256(m.code)
		m.tag = `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
	}
	return m
}
