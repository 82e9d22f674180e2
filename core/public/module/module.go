// Package module makes scripts in TypeScript, and those with JSX, the module that a browser
// runs, with everything they import of their folder: a frontend needs no tools.
package module

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/evanw/esbuild/pkg/api"
)

const (
	maxSource = 4 << 20  // bytes of one file
	maxModule = 16 << 20 // bytes of what comes of it
)

// sources are what names of scripts to be bundled end with.
var sources = map[string]api.Loader{".ts": api.LoaderTS, ".tsx": api.LoaderTSX, ".jsx": api.LoaderJSX}

// imports are what a script may import beside those.
var imports = map[string]api.Loader{
	".js": api.LoaderJS, ".mjs": api.LoaderJS, ".json": api.LoaderJSON, ".txt": api.LoaderText, ".svg": api.LoaderText, ".css": api.LoaderText, ".html": api.LoaderText,
}

// Is reports whether a file of that name is a script to be bundled.
func Is(name string) bool {
	return sources[path.Ext(name)] != 0 && !strings.HasSuffix(name, ".d.ts")
}

// Extensions are what the names of such scripts end with, in the order in which they are
// looked for.
var Extensions = []string{".ts", ".tsx", ".jsx"}

// Build has esbuild make one module of a script and what it imports. looked is told the name
// of each file that was looked for, there or not, by one goroutine at a time. Errors say
// what is wrong with the script, a line each, with file, line and column.
func Build(root *os.Root, name string, looked func(name string)) ([]byte, error) {
	result := api.Build(api.BuildOptions{
		EntryPoints: []string{name}, Bundle: true, Write: false, Outfile: "/bundle.js",
		Format: api.FormatESModule, Target: api.ES2022, Platform: api.PlatformBrowser, Charset: api.CharsetUTF8,
		JSX: api.JSXAutomatic, Sourcemap: api.SourceMapInline, SourceRoot: "/", LegalComments: api.LegalCommentsInline,
		TsconfigRaw: `{}`, LogLevel: api.LogLevelSilent, Plugins: []api.Plugin{reader(root, name, looked)},
	})
	switch {
	case len(result.Errors) > 0:
		return nil, errors.New(strings.Join(said(result.Errors), "\n"))
	case len(result.OutputFiles[0].Contents) > maxModule:
		return nil, fmt.Errorf("%s: what comes of it is over %d MiB", name, maxModule>>20)
	}
	return result.OutputFiles[0].Contents, nil
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
func reader(root *os.Root, entry string, looked func(string)) api.Plugin {
	return api.Plugin{Name: "public", Setup: func(b api.PluginBuild) {
		var mu sync.Mutex // esbuild asks side by side
		look := func(name string) bool {
			mu.Lock()
			looked(name)
			mu.Unlock()
			info, err := root.Stat(name)
			return err == nil && !info.IsDir()
		}
		b.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
			if a.Kind == api.ResolveEntryPoint {
				return api.OnResolveResult{Path: a.Path, Namespace: "public"}, nil
			}
			if strings.HasPrefix(a.Path, "https://") { // the browser's own business, which the policy has to allow
				return api.OnResolveResult{Path: a.Path, External: true}, nil
			}
			if name := path.Join(path.Dir(a.Importer), a.Path); strings.HasPrefix(name, platform) && strings.HasPrefix(a.Path, ".") {
				up := strings.Repeat("../", strings.Count(entry, "/"))
				return api.OnResolveResult{Path: "./" + up + name, External: true}, nil
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

// platform begins the paths of what the platform has in the folder of a plugin's pages, such
// as -/app.js.
const platform = "-/"

// resolve finds the file that an import means: as it is, with the end of a script's
// name, or as a folder's index.
func resolve(look func(string) bool, importer, wanted string) (string, error) {
	name := path.Join(path.Dir(importer), wanted)
	if abs, is := strings.CutPrefix(wanted, "/"); is {
		name = path.Clean(abs)
	} else if !strings.HasPrefix(wanted, "./") && !strings.HasPrefix(wanted, "../") {
		return "", fmt.Errorf("%q cannot be imported: a frontend with packages from npm is built by a bundler, and what comes of it is put here", wanted)
	}
	if !inside(name) {
		return "", fmt.Errorf("%q lies outside of the frontend's folder", wanted)
	}
	if ext := path.Ext(name); sources[ext] != 0 || imports[ext] != 0 {
		if look(name) {
			return name, nil
		}
		if base, is := strings.CutSuffix(name, ".js"); is { // as TypeScript has its modules imported
			name = base
		}
	}
	for _, candidate := range []string{".ts", ".tsx", ".jsx", ".js", "/index.ts", "/index.tsx", "/index.js"} {
		if look(name + candidate) {
			return name + candidate, nil
		}
	}
	return "", fmt.Errorf("there is no file %q", wanted)
}

// inside reports whether a path is one of the folder, and of no file that is hidden.
func inside(name string) bool {
	hidden := func(part string) bool {
		return strings.HasPrefix(part, "_") || strings.HasPrefix(part, ".") && part != ".well-known"
	}
	return path.Clean("/"+name) == "/"+name && !strings.ContainsAny(name, "\\\x00:") && !slices.ContainsFunc(strings.Split(name, "/"), hidden)
}

func read(root *os.Root, name string) ([]byte, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // a pipe might never end
		return nil, fmt.Errorf("%s: not a regular file", name)
	}
	file, err := root.Open(name)
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
