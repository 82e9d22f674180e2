package toolchain

import "context"

// goInstall is how Go is installed.
const goInstall = "apt-get install golang-go, or from go.dev/dl (Go 1.24 or later)"

// goTarget is the environment in which Go makes WebAssembly.
var goTarget = []string{"GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOWORK=off"}

type goLanguage struct{}

func (goLanguage) name() string    { return "Go" }
func (goLanguage) marks() []string { return []string{"go.mod"} }

func (goLanguage) build(ctx context.Context, j *job) error {
	compiler, err := tool("go", goInstall)
	if err != nil {
		return err
	}
	return j.run(ctx, goTarget, compiler, "build", "-trimpath", "-buildmode=c-shared", "-ldflags=-w", "-o", j.module, ".")
}

// test has go test compile the tests, and the bench's own command run what it has
// made. That command is told where the plugin is by the folder it runs in.
func (goLanguage) test(ctx context.Context, j *job, b Bench) error {
	compiler, err := tool("go", goInstall)
	if err != nil {
		return err
	}
	exec, err := b.Command()
	if err != nil {
		return err
	}
	// With -trimpath, as it is built: without, the standard library would be compiled
	// once more.
	return j.run(ctx, goTarget, compiler, "test", "-trimpath", "-exec", exec, "./...")
}
