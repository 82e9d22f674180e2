package toolchain

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// job is one compilation of a plugin's sources or tests.
type job struct {
	dir    string   // the plugin's sources
	tmp    string   // for what is made on the way
	module string   // the file to make
	env    []string // of the tools that are run
	out    io.Writer
	cache  *cache // of a plugin that is built again and again; nil: it is built once, to be installed
}

// sources are the plugin's files of a pattern, without tests.
func (j *job) sources(pattern string) (names []string, err error) {
	found, err := filepath.Glob(filepath.Join(j.dir, pattern))
	for _, path := range found {
		name := filepath.Base(path)
		if !strings.HasSuffix(strings.TrimSuffix(name, filepath.Ext(name)), "_test") {
			names = append(names, name)
		}
	}
	return names, err
}

// command is a tool with the environment that tools are given.
func (j *job) command(ctx context.Context, tool string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, tool, args...)
	cmd.Env = append([]string{}, j.env...) // an empty one is none, and not the process's
	return cmd
}

// toolDelay is how long a tool that was called off may hold on to its output.
const toolDelay = 2 * time.Second

// run runs a tool in the plugin's folder; what it prints is shown.
func (j *job) run(ctx context.Context, env []string, tool string, args ...string) error {
	cmd := j.command(ctx, tool, args...)
	whole(cmd)
	cmd.WaitDelay = toolDelay
	cmd.Dir, cmd.Stdout, cmd.Stderr = j.dir, j.out, j.out
	cmd.Env = append(cmd.Env, env...)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(tool), err)
	}
	return nil
}

// write puts a file of an SDK into the temporary folder, unless it is there, and
// returns its path.
func (j *job) write(name string, content []byte) (string, error) {
	path := filepath.Join(j.tmp, filepath.FromSlash(name))
	if there, err := os.ReadFile(path); err == nil && bytes.Equal(there, content) {
		return path, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	return path, os.WriteFile(path, content, 0o600)
}

// tool finds a program, or says how to install it.
func tool(name, install string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%s is missing; install it, on Debian with: %s", name, install)
	}
	return path, nil
}
