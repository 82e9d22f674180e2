package link

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"armature/runtime/engine/internal/instance"
)

// Command makes an engine one for commands: modules with a main function, such as
// the tests of a plugin. They get the whole of WASI preview 1, with arguments, an
// environment, the folders that are named and an exit code, where a plugin has a
// WASI without a system behind it. What it is given is what its author may do on
// the machine: nothing that comes from elsewhere is run by such an engine.
type Command struct {
	Args    []string // the first is its name
	Env     []string // NAME=value
	Folders []string // that it may read and write, under their own paths
	Stdout  io.Writer
	Stderr  io.Writer
}

// WASI defines WASI preview 1 as the runtime has it, with an exit that ends the
// call as it does everywhere else.
func (p *Command) WASI(ctx context.Context, rt wazero.Runtime) error {
	b := rt.NewHostModuleBuilder(wasiModule)
	wasi_snapshot_preview1.NewFunctionExporter().ExportFunctions(b)
	procExit.export(b)
	_, err := b.Instantiate(ctx)
	return err
}

// ModuleConfig is what each instance is made with.
func (p *Command) ModuleConfig() (wazero.ModuleConfig, error) {
	fs := wazero.NewFSConfig()
	for _, dir := range p.Folders {
		fs = fs.WithDirMount(dir, dir)
	}
	c := instance.Anonymous.WithArgs(p.Args...).WithFSConfig(fs).WithStdout(p.Stdout).WithStderr(p.Stderr).
		WithSysWalltime().WithSysNanotime().WithSysNanosleep().WithRandSource(rand.Reader)
	for _, pair := range p.Env {
		name, value, ok := cutEnv(pair)
		if !ok {
			return nil, fmt.Errorf("the environment has %q, which is no NAME=value", pair)
		}
		c = c.WithEnv(name, value)
	}
	return c, nil
}

// cutEnv takes a pair of the environment apart. On some systems a name begins with
// the sign that ends others.
func cutEnv(pair string) (name, value string, ok bool) {
	for i := 1; i < len(pair); i++ {
		if pair[i] == '=' {
			return pair[:i], pair[i+1:], true
		}
	}
	return "", "", false
}
