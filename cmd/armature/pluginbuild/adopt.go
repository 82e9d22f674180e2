package pluginbuild

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"armature/cmd/armature/outfile"
	"armature/cmd/armature/platform"
	"armature/plugins/bundle"
	"armature/plugins/manifest"
	"armature/runtime/abi"
	"armature/runtime/engine"
	"armature/runtime/hostapi"
)

// adoptModule writes a folder for a module that another tool has built: the module,
// and a manifest with a method for each export that can be one and the grants that
// its imports need. The folder must not be there yet.
func (g *group) adoptModule(ctx context.Context, name, module, dir string) error {
	wasm, err := os.ReadFile(module)
	if err != nil {
		return err
	}
	e, err := engine.New(ctx, platform.EngineConfig(hostapi.Config{}))
	if err != nil {
		return err
	}
	defer func() { _ = e.Close(context.WithoutCancel(ctx)) }()
	m, err := e.Load(ctx, wasm)
	if err != nil {
		return err
	}
	defer m.Release()
	draft := manifest.Manifest{Name: name, Version: "1", ABI: abi.Version, Methods: methodsOf(name, m), Grants: grantsOf(m)}
	text, err := json.MarshalIndent(draft, "", "  ")
	if err != nil {
		return err
	}
	if _, err := bundle.Embed(wasm, text); err != nil {
		return err
	}
	if len(draft.Methods) == 0 {
		return fmt.Errorf("%s exports nothing that can be a method", filepath.Base(module))
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	// The manifest comes last: with it the folder is a plugin, should a server watch it.
	if err := outfile.Replace(filepath.Join(dir, "plugin.wasm"), wasm); err != nil {
		return err
	}
	if err := outfile.Replace(filepath.Join(dir, bundle.ManifestFile), append(text, '\n')); err != nil {
		return err
	}
	paths := make([]string, len(draft.Methods))
	for i, x := range draft.Methods {
		paths[i] = x.Path
	}
	return g.Say(map[string]any{"name": name, "dir": dir, "methods": paths, "grants": draft.Grants},
		"%s is in %s; its methods: %s", name, dir, strings.Join(paths, ", "))
}

// machinery are exports of languages' runtimes, which are no methods though they
// have the shape.
var machinery = regexp.MustCompile(`^(_.*|hs_.*|asyncify_.*|armature_.*|malloc|calloc|realloc|free)$`)

// methodsOf lists the exports that can be methods; of a command, which has no other,
// its start.
func methodsOf(name string, m *engine.Module) []manifest.Method {
	var methods []manifest.Method
	add := func(export, path string) {
		x := manifest.Method{Path: name + "." + strings.TrimPrefix(path, name+"."), Export: export}
		if m.Dialect() == abi.Extism {
			x.Input = "text"
		}
		methods = append(methods, x)
	}
	for _, x := range m.Exports() {
		if shaped(m, x) && !machinery.MatchString(x.Name) {
			add(x.Name, unspeakable.ReplaceAllString(x.Name, "_"))
		}
	}
	if x, ok := m.Export("_start"); ok && len(methods) == 0 && shaped(m, x) {
		add(x.Name, "run")
	}
	return methods
}

var unspeakable = regexp.MustCompile(`[^A-Za-z0-9_.]`)

// shaped reports whether an export takes and returns what a method does.
func shaped(m *engine.Module, x engine.Export) bool {
	if m.Dialect() == abi.Extism {
		return len(x.Params) == 0 && (len(x.Results) == 0 || slices.Equal(x.Results, []engine.ValueType{engine.I32}))
	}
	return slices.Equal(x.Params, []engine.ValueType{engine.I32}) && len(x.Results) == 0
}

// grantsOf lists what a module does not do without.
func grantsOf(m *engine.Module) []string {
	var grants []string
	for _, im := range m.Imports() {
		capabilities, optional := abi.Uses(im.Module, im.Name)
		for _, c := range capabilities {
			if !optional && slices.Contains(manifest.Grantable(), c) {
				grants = append(grants, c)
			}
		}
	}
	slices.Sort(grants)
	return slices.Compact(grants)
}
