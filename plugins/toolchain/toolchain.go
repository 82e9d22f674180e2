// Package toolchain makes plugins of sources: it tells a plugin's language by its
// files, runs the compiler of that language with the SDK that this program carries,
// and has the tests of the sources compiled and run.
package toolchain

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
)

// language is one that plugins are written in, whose compiler is a program of its
// own. Scripts have none: they are read by plugins/script.
type language interface {
	// name is what people call it.
	name() string
	// marks are the patterns of files in a plugin's folder that tell the language.
	marks() []string
	// build compiles the sources into the job's module.
	build(ctx context.Context, j *job) error
	// test compiles the tests among the sources and has them run on a bench.
	test(ctx context.Context, j *job, b Bench) error
}

// languages in the order in which their files are looked for.
func languages() []language {
	return []language{
		goLanguage{}, rustLanguage{}, assemblyScriptLanguage{}, cppLanguage{}, cLanguage{}, zigLanguage{}, watLanguage{},
	}
}

// Detect tells by its files which language a plugin is written in. The error says
// what was looked for.
func Detect(dir string) (name string, err error) {
	l, err := languageOf(dir)
	if err != nil {
		return "", err
	}
	return l.name(), nil
}

func languageOf(dir string) (language, error) {
	var looked []string
	for _, l := range languages() {
		for _, pattern := range l.marks() {
			if found, err := filepath.Glob(filepath.Join(dir, pattern)); err == nil && len(found) > 0 {
				return l, nil
			}
			looked = append(looked, fmt.Sprintf("%s (%s)", pattern, l.name()))
		}
	}
	looked = append(looked, "main.js or main.ts (scripts)")
	return nil, fmt.Errorf("there is none of %s; what another tool has built is given with --module", strings.Join(looked, ", "))
}

// IsOutput reports whether a file or folder of that name is what tools make beside
// the sources, and none of them.
func IsOutput(name string) bool {
	return filepath.Ext(name) == ".wasm" || name == "target" || name == "build"
}
