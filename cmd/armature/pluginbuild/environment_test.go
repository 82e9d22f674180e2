package pluginbuild_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"armature/cmd/armature/armaturetest"
)

// TestToolsAreNotTold: compilers and tests are started without the settings of
// the shell, among which are secrets.
func TestToolsAreNotTold(t *testing.T) {
	// Every tool writes down its name and environment, and fails.
	tools, log := t.TempDir(), filepath.Join(t.TempDir(), "log")
	script := fmt.Sprintf("#!/bin/sh\n{ echo RAN=${0##*/}; /usr/bin/env; } >>%s\nexit 1\n", log)
	for _, name := range []string{"go", "rustc", "zig", "asc", "node"} {
		if err := os.MkdirAll(filepath.Join(tools, "bin"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(tools, "bin", name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// plugin dev keeps a compiler that has its library beside it.
	if err := os.Mkdir(filepath.Join(tools, "dist"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tools, "dist", "asc.js"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	env := []string{
		"ARMATURE_API_KEY=key:secret", "ARMATURE_SECRET_KEY=" + strings.Repeat("A", 43) + "=",
		"ARMATURE_ADMIN_PASSWORD=secret-of-nobody", "ARMATURE_DATABASE=postgres://someone:secret@127.0.0.1:1/real", "TOLD=yes",
	}
	for _, tt := range []struct{ lang, verb, tool string }{
		{"go", "build", "go"}, {"go", "test", "go"}, {"rust", "build", "rustc"}, {"rust", "test", "rustc"},
		{"zig", "build", "zig"}, {"assemblyscript", "build", "asc"}, {"assemblyscript", "dev", "node"},
	} {
		t.Run(tt.lang+" "+tt.verb, func(t *testing.T) {
			if err := os.WriteFile(log, nil, 0o644); err != nil {
				t.Fatal(err)
			}
			in := &armaturetest.Installation{T: t, Env: env, Path: filepath.Join(tools, "bin")} // nothing else is found
			dir := filepath.Join(t.TempDir(), "acme.fresh")
			in.Run("plugin", "new", "acme.fresh", "--lang", tt.lang, "--dir", dir)
			if tt.verb == "dev" {
				in.Develop(dir, "--listen", "127.0.0.1:0").Next("failed")
			} else {
				if _, _, err := in.Try("", "plugin", tt.verb, dir); err == nil {
					t.Error("a tool that fails was none of it")
				}
			}
			got, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"RAN=" + tt.tool + "\n", "TOLD=yes\n"} {
				if !strings.Contains(string(got), want) {
					t.Errorf("no %q in %s", want, got)
				}
			}
			if strings.Contains(string(got), "ARMATURE_") {
				t.Errorf("told: %s", got)
			}
		})
	}
}
