package toolchain

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"

	"armature/sdk/assemblyscript"
)

// packaged finds a program that npm installs: in node_modules of the folder or
// one above it, or on the path.
func packaged(dir, name string) (path string, found bool) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", false
	}
	for {
		path := filepath.Join(dir, "node_modules", ".bin", name)
		if _, err := os.Stat(path); err == nil {
			return path, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	path, err = exec.LookPath(name)
	return path, err == nil
}

func asc(dir string) (string, error) {
	path, found := packaged(dir, "asc")
	if !found {
		return "", errors.New("asc, the AssemblyScript compiler, is missing; install it with: npm install assemblyscript@0.28")
	}
	return path, nil
}

type assemblyScriptLanguage struct{}

func (assemblyScriptLanguage) name() string    { return "AssemblyScript" }
func (assemblyScriptLanguage) marks() []string { return []string{"assembly/plugin.ts"} }

// build uses the runtime that never frees: every call starts from
// the state after loading, which frees everything.
func (assemblyScriptLanguage) build(ctx context.Context, j *job) error {
	return compileAssemblyScript(ctx, j, filepath.Join("assembly", "plugin.ts"))
}

func (assemblyScriptLanguage) test(ctx context.Context, j *job, b Bench) error {
	return testModules(ctx, j, b, "assembly/*_test.ts", compileAssemblyScript)
}

// compileAssemblyScript makes a module of one file and what it imports.
func compileAssemblyScript(ctx context.Context, j *job, file string) error {
	compiler, err := asc(j.dir)
	if err != nil {
		return err
	}
	// Files directly in a library folder would be globals to every plugin.
	source, err := os.ReadFile(filepath.Join(j.dir, "armature", "index.ts"))
	if err != nil {
		source = assemblyscript.Source
	}
	if _, err := j.write("lib/armature/index.ts", source); err != nil {
		return err
	}
	testing, err := os.ReadFile(filepath.Join(j.dir, "armature", "testing.ts"))
	if err != nil {
		testing = assemblyscript.Testing
	}
	if _, err := j.write("lib/armature/testing.ts", testing); err != nil {
		return err
	}
	args := []string{
		file, "-o", j.module,
		"--lib", filepath.Join(j.tmp, "lib"), "--runtime", "stub", "--use", "abort=~lib/armature/index/abort",
	}
	if j.cache == nil {
		return j.run(ctx, nil, compiler, append(args, "-O3")...)
	}
	args = append(args, "-O0", "--debug", "--sourceMap")
	if done, err := j.cache.assemblyScript(ctx, j, compiler, args); done || err != nil {
		return err
	}
	return j.run(ctx, nil, compiler, args...)
}
