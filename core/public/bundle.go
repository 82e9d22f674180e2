package public

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/evanw/esbuild/pkg/api"
)

// Scripts in TypeScript, and those with JSX, are served as the module that a browser
// runs, with everything they import: a frontend needs no tools. main.ts is there at
// /main.ts, which is what a page is written with, and at /main.js, which an editor
// expects.

const (
	maxSource  = 4 << 20  // bytes of one file
	maxModule  = 16 << 20 // bytes of what comes of it
	maxBundles = 64       // kept for a site
)

// sources are what names of scripts to be bundled end with.
var sources = map[string]api.Loader{".ts": api.LoaderTS, ".tsx": api.LoaderTSX, ".jsx": api.LoaderJSX}

// imports are what a script may import beside those.
var imports = map[string]api.Loader{
	".js": api.LoaderJS, ".mjs": api.LoaderJS, ".json": api.LoaderJSON, ".txt": api.LoaderText, ".svg": api.LoaderText, ".css": api.LoaderText, ".html": api.LoaderText,
}

func isSource(name string) bool {
	return sources[path.Ext(name)] != 0 && !strings.HasSuffix(name, ".d.ts")
}

// sourceOf finds the script that a name ending in .js stands for.
func sourceOf(root *os.Root, name string) (string, bool) {
	base, is := strings.CutSuffix(name, ".js")
	if !is {
		return "", false
	}
	for _, ext := range []string{".ts", ".tsx", ".jsx"} {
		if info, err := root.Stat(base + ext); err == nil && info.Mode().IsRegular() {
			return base + ext, true
		}
	}
	return "", false
}

// bundles are the modules made so far. One is made at a time.
type bundles struct {
	mu   sync.Mutex
	made map[string]*module
}

// module is what a script has become, or why it has not.
type module struct {
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

func (m *module) fresh(root *os.Root) bool {
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
	h.Set("Content-Type", types[".js"])
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
func (b *bundles) get(root *os.Root, name string) (m *module, made bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if m := b.made[name]; m != nil && m.fresh(root) {
		return m, false
	}
	m = bundle(root, name)
	if b.made == nil || len(b.made) >= maxBundles {
		b.made = map[string]*module{}
	}
	b.made[name] = m
	return m, true
}

// bundle has esbuild make one module of a script and what it imports.
func bundle(root *os.Root, name string) *module {
	m := &module{inputs: map[string]stamp{name: stampOf(root, name)}}
	result := api.Build(api.BuildOptions{
		EntryPoints: []string{name}, Bundle: true, Write: false, Outfile: "/bundle.js",
		Format: api.FormatESModule, Target: api.ES2022, Platform: api.PlatformBrowser, Charset: api.CharsetUTF8,
		JSX: api.JSXAutomatic, Sourcemap: api.SourceMapInline, SourceRoot: "/", LegalComments: api.LegalCommentsInline,
		TsconfigRaw: `{}`, LogLevel: api.LogLevelSilent, Plugins: []api.Plugin{reader(root, m)},
	})
	switch {
	case len(result.Errors) > 0:
		m.err = fmt.Errorf("%s", strings.Join(said(result.Errors), "\n"))
	case len(result.OutputFiles[0].Contents) > maxModule:
		m.err = fmt.Errorf("%s: what comes of it is over %d MiB", name, maxModule>>20)
	default:
		m.code = result.OutputFiles[0].Contents
		sum := sha256.Sum256(m.code)
		m.tag = `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
	}
	return m
}

func said(messages []api.Message) (lines []string) {
	for _, msg := range messages[:min(len(messages), 10)] {
		line := msg.Text
		if at := msg.Location; at != nil {
			line = fmt.Sprintf("%s:%d:%d: %s", strings.TrimPrefix(at.File, "public:"), at.Line, at.Column+1, msg.Text)
		}
		lines = append(lines, line)
	}
	return lines
}

// reader is a plugin for esbuild by which it reads the folder and nothing else of this
// machine, and that notes what it looked at.
func reader(root *os.Root, m *module) api.Plugin {
	return api.Plugin{Name: "public", Setup: func(b api.PluginBuild) {
		var mu sync.Mutex // esbuild asks side by side
		look := func(name string) stamp {
			s := stampOf(root, name)
			mu.Lock()
			m.inputs[name] = s
			mu.Unlock()
			return s
		}
		b.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
			if a.Kind == api.ResolveEntryPoint {
				return api.OnResolveResult{Path: a.Path, Namespace: "public"}, nil
			}
			if strings.HasPrefix(a.Path, "https://") { // the browser's own business, which the policy has to allow
				return api.OnResolveResult{Path: a.Path, External: true}, nil
			}
			name, err := resolve(look, a.Importer, a.Path)
			return api.OnResolveResult{Path: name, Namespace: "public"}, err
		})
		b.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: "public"}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
			text, err := read(root, a.Path)
			if err != nil {
				return api.OnLoadResult{}, err
			}
			ext, source := path.Ext(a.Path), string(text)
			loader := sources[ext]
			if loader == 0 {
				loader = imports[ext]
			}
			return api.OnLoadResult{Contents: &source, Loader: loader}, nil
		})
	}}
}

// resolve finds the file that an import means: as it is, with the end of a script's
// name, or as a folder's index.
func resolve(look func(string) stamp, importer, wanted string) (string, error) {
	name := path.Join(path.Dir(importer), wanted)
	if abs, is := strings.CutPrefix(wanted, "/"); is {
		name = path.Clean(abs)
	} else if !strings.HasPrefix(wanted, "./") && !strings.HasPrefix(wanted, "../") {
		return "", fmt.Errorf("%q cannot be imported: a frontend with packages from npm is built by a bundler, and what comes of it is put here", wanted)
	}
	if clean, ok := nameOf("/" + name); !ok || clean != name || strings.HasPrefix(name, "..") {
		return "", fmt.Errorf("%q lies outside of the frontend's folder", wanted)
	}
	if ext := path.Ext(name); sources[ext] != 0 || imports[ext] != 0 {
		if look(name) != (stamp{}) {
			return name, nil
		}
		if base, is := strings.CutSuffix(name, ".js"); is { // as TypeScript has its modules imported
			name = base
		}
	}
	for _, candidate := range []string{".ts", ".tsx", ".jsx", ".js", "/index.ts", "/index.tsx", "/index.js"} {
		if look(name+candidate) != (stamp{}) {
			return name + candidate, nil
		}
	}
	return "", fmt.Errorf("there is no file %q", wanted)
}

func read(root *os.Root, name string) ([]byte, error) {
	file, info, err := open(root, name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info.Size() > maxSource {
		return nil, fmt.Errorf("%s: over %d MiB, the limit", name, maxSource>>20)
	}
	text, err := io.ReadAll(io.LimitReader(file, maxSource))
	return slices.Clip(text), err
}
