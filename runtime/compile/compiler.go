package compile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/tetratelabs/wazero"

	"armature/core/fault"
)

// Limits are what compiling one module may use.
type Limits struct {
	CPU    time.Duration // of processors, whole seconds
	Memory uint64        // bytes
}

// Compiler makes machine code.
type Compiler interface {
	// Compile compiles a binary that was rewritten. What comes out is one file in
	// the folder, which is empty before and nobody else's. The error is a Validation
	// fault where something is wrong with the binary, and of ErrLimit where it takes
	// more than the limits; everything else may go better the next time.
	Compile(ctx context.Context, binary []byte, folder string, l Limits) (Made, error)
}

// Made is what a compilation has made.
type Made struct {
	File string `json:"file"` // its path in the folder
	Sum  string `json:"sum"`  // SHA-256 of all of it, in hexadecimal
}

// ErrLimit is that compiling a module takes more than it may.
var ErrLimit = errors.New("compiling it takes too much")

// InProcess compiles in this process, and bounds nothing: for tests, and for programs
// that run what their own user has written.
type InProcess struct{}

// Compile implements Compiler.
func (InProcess) Compile(ctx context.Context, binary []byte, folder string, _ Limits) (Made, error) {
	return compileInto(ctx, binary, folder)
}

// configuration is the runtime's, the same wherever something is compiled or loaded:
// what one has made the other must take for its own.
func configuration() wazero.RuntimeConfig {
	return wazero.NewRuntimeConfig().WithDebugInfoEnabled(true) // of ours: no guest brings its own this far
}

// compileInto has the runtime compile a binary and leave the code in a folder. It does
// so on this goroutine: of others a panic of the compiler, which reads what strangers
// wrote, could not be caught.
func compileInto(ctx context.Context, binary []byte, folder string) (made Made, err error) {
	defer func() {
		if r := recover(); r != nil {
			made, err = Made{}, fault.Invalid("", "The module cannot be compiled: the compiler fails: %v", r)
		}
	}()
	cache, err := wazero.NewCompilationCacheWithDir(folder)
	if err != nil {
		return made, fmt.Errorf("folder of compiled code: %w", err)
	}
	rt := wazero.NewRuntimeWithConfig(ctx, configuration().WithCompilationCache(cache))
	_, err = rt.CompileModule(ctx, binary)
	err = errors.Join(err, rt.Close(ctx), cache.Close(ctx))
	switch {
	case err == nil:
	case ofFile(err): // it is compiled, and could not be written
		return made, fmt.Errorf("write compiled code: %w", err)
	default:
		return made, fault.Wrap(fault.Validation, "", err, "The module is not valid WebAssembly: %v", err)
	}
	return onlyFile(folder)
}

// onlyFile finds the one file that a compilation has left.
func onlyFile(folder string) (made Made, err error) {
	files, err := filepath.Glob(filepath.Join(folder, "*", "*"))
	if err == nil && len(files) != 1 {
		err = fmt.Errorf("there are %d files", len(files))
	}
	if err == nil {
		made.File, err = filepath.Rel(folder, files[0])
	}
	if err == nil {
		made.Sum, err = hashFile(files[0])
	}
	if err != nil {
		return Made{}, fmt.Errorf("find compiled code: %w", err)
	}
	return made, nil
}

// ofFile reports whether an error is one of the file system.
func ofFile(err error) bool {
	var path *fs.PathError
	var link *os.LinkError
	return errors.As(err, &path) || errors.As(err, &link)
}

func hashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
