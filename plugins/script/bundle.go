package script

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// bundle has esbuild make one module of everything.
func bundle(main, root string) (*Script, error) {
	main, err := filepath.Abs(main)
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(main)
	if root != "" {
		if dir, err = filepath.Abs(root); err != nil {
			return nil, err
		}
		if dir, err = filepath.EvalSymlinks(dir); err != nil {
			return nil, err
		}
		main = filepath.Join(dir, filepath.Base(main))
	}
	if err := readable(main); err != nil {
		return nil, err
	}
	return join(dir, api.BuildOptions{EntryPoints: []string{main}, Plugins: []api.Plugin{fence(dir, root != "")}})
}

// join has esbuild join what lies in dir; the options say what to begin with.
func join(dir string, o api.BuildOptions) (*Script, error) {
	o.AbsWorkingDir = dir
	o.Outfile = filepath.Join(dir, "script.js") // where the map's paths start; nothing is written
	o.Bundle, o.Write = true, false
	o.Format, o.Target, o.Platform = api.FormatESModule, api.ES2022, api.PlatformNeutral
	o.MainFields, o.Conditions = []string{"module", "main"}, []string{"module"}
	o.Charset = api.CharsetUTF8
	o.Sourcemap, o.SourcesContent = api.SourceMapExternal, api.SourcesContentExclude
	o.TsconfigRaw = `{}` // else one of any folder above would count
	o.LogLevel = api.LogLevelSilent
	result := api.Build(o)
	if len(result.Errors) > 0 {
		return nil, problems(result.Errors)
	}
	s := &Script{}
	for _, f := range result.OutputFiles {
		if strings.HasSuffix(f.Path, ".map") {
			s.Map = f.Contents
		} else {
			s.Code = f.Contents
		}
	}
	return s, nil
}

// fence is a plugin for esbuild that keeps imports inside of dir: what a script
// imports becomes readable to whoever can read the plugin.
func fence(dir string, folder bool) api.Plugin {
	return api.Plugin{Name: "fence", Setup: func(b api.PluginBuild) {
		b.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
			if a.Kind == api.ResolveEntryPoint || a.PluginData == inside {
				return api.OnResolveResult{}, nil
			}
			if reason := refused(a.Path, folder); reason != "" {
				return api.OnResolveResult{}, errors.New(reason)
			}
			r := b.Resolve(a.Path, api.ResolveOptions{
				Importer: a.Importer, Namespace: a.Namespace, ResolveDir: a.ResolveDir, Kind: a.Kind, PluginData: inside,
			})
			if len(r.Errors) > 0 {
				if isNodes(a.Path) {
					return api.OnResolveResult{}, errors.New(ofNode(a.Path)) // and no package of that name
				}
				if bare(a.Path) {
					return api.OnResolveResult{}, fmt.Errorf("there is no %q in the plugin's node_modules: run `npm install` in its folder", a.Path)
				}
				return api.OnResolveResult{Errors: r.Errors}, nil
			}
			path, err := filepath.EvalSymlinks(r.Path)
			if err != nil {
				return api.OnResolveResult{}, err
			}
			if rel, err := filepath.Rel(dir, path); err != nil || !filepath.IsLocal(rel) {
				return api.OnResolveResult{}, fmt.Errorf("%q lies outside of the plugin's folder", a.Path)
			}
			if err := readable(path); err != nil {
				return api.OnResolveResult{}, err
			}
			return api.OnResolveResult{Path: path, Namespace: r.Namespace}, nil
		})
	}}
}

// readable refuses what is no file, such as a pipe, which might never end, and
// what is too large to be part of a script.
func readable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s: not a regular file", filepath.Base(path))
	case info.Size() > MaxSize:
		return fmt.Errorf("%s: over %d MiB, the limit", filepath.Base(path), MaxSize>>20)
	}
	return nil
}

// inside marks a question of our own to esbuild.
const inside = "inside"

// bare reports whether an import names a package.
func bare(path string) bool {
	return !strings.HasPrefix(path, "./") && !strings.HasPrefix(path, "../") && path != "." && path != ".." && !filepath.IsAbs(path)
}

// refused says why something cannot be imported, if that is plain from its name.
func refused(path string, folder bool) string {
	switch {
	case path == TestModule:
		return fmt.Sprintf("%q is for tests, in files such as shop.test.js", path)
	case strings.HasPrefix(path, "node:"):
		return ofNode(path)
	case strings.Contains(path, "://") || strings.HasPrefix(path, "data:"):
		return fmt.Sprintf("%q cannot be imported: what a plugin is made of lies in its folder", path)
	case folder:
		return ""
	case isNodes(path):
		return ofNode(path)
	case bare(path):
		return fmt.Sprintf("%q cannot be imported: a plugin with packages from npm is a folder with main.js, armature.json and node_modules", path)
	}
	return fmt.Sprintf("%q cannot be imported: a plugin of several files is a folder with main.js and armature.json", path)
}

// nodes are the modules of Node.js that scripts written for it import.
var nodes = strings.Fields(`assert async_hooks buffer child_process cluster console constants crypto dgram dns domain events fs http http2
	https inspector module net os path perf_hooks process punycode querystring readline repl stream string_decoder sys timers tls tty url util v8
	vm worker_threads zlib`)

// isNodes reports whether an import is of Node.js, and not of a package.
func isNodes(path string) bool {
	name, _, _ := strings.Cut(strings.TrimPrefix(path, "node:"), "/")
	return slices.Contains(nodes, name)
}

// ofNode says that there is no such module, and for some what there is instead.
func ofNode(path string) string {
	instead := "a plugin has the functions of sdk/js/armature.d.ts"
	switch name, _, _ := strings.Cut(strings.TrimPrefix(path, "node:"), "/"); name {
	case "fs", "path", "os":
		instead = "a plugin has no files: it keeps documents (doc) and short-lived values (kv)"
	case "http", "https", "net", "tls", "http2", "dgram", "dns":
		instead = "a plugin asks other servers by fetch, at the hosts of allowed_hosts"
	case "crypto":
		instead = "a plugin has the web's crypto, a global"
	case "child_process", "cluster", "worker_threads", "process":
		instead = "a plugin has no processes: a method runs later by enqueue"
	case "url", "timers", "console", "buffer", "util", "events", "perf_hooks":
		instead = "a plugin has the web's globals, such as URL, console and TextEncoder"
	}
	return fmt.Sprintf("%q is Node.js's own; %s", path, instead)
}

// maxProblems is how many errors are told at once.
const maxProblems = 10

// Error is what is wrong with a source.
type Error struct{ Problems []Problem }

// Problem is one thing that is wrong, and where: lines and columns count from 1.
type Problem struct {
	File         string `json:"file"`
	Line, Column int
	Text         string
}

// Error lists the problems, a line each.
func (e *Error) Error() string {
	var lines []string
	for _, p := range e.Problems {
		lines = append(lines, p.String())
	}
	return strings.Join(lines, "\n")
}

// String is "file:line:column: text".
func (p Problem) String() string {
	if p.File == "" {
		return p.Text
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Text)
}

func problems(messages []api.Message) error {
	e := &Error{}
	for _, m := range messages[:min(len(messages), maxProblems)] {
		p := Problem{Text: m.Text}
		if at := m.Location; at != nil {
			p.File, p.Line, p.Column = at.File, at.Line, at.Column+1
		}
		e.Problems = append(e.Problems, p)
	}
	return e
}
