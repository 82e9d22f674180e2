package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// TestModule is what tests import, and nothing else may.
const TestModule = "armature:test"

// testSuffix is what the name of a test ends in, before its extension.
const testSuffix = ".test"

// IsTest reports whether a file of that name is a test: shop.test.ts.
func IsTest(path string) bool {
	stem, ok := stem(path)
	return ok && strings.HasSuffix(stem, testSuffix) && stem != testSuffix
}

// Tested finds the source that a test is beside by its name: shop.js or shop.ts of
// shop.test.js; empty if there is none.
func Tested(test string) string {
	stem, _ := stem(test)
	for _, ext := range extensions {
		path := filepath.Join(filepath.Dir(test), strings.TrimSuffix(stem, testSuffix)+ext)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && Is(path) {
			return path
		}
	}
	return ""
}

// ReadTest reads a test as Read does a script: what it imports lies in the folder
// root. Before it comes the plugin that begins with main, if that is not empty.
//
// Whoever runs it provides a global object under the name of TestModule, whose
// members tests import. Its member runner has a method tests, which is told what
// the plugin exports, and the functions list and run, which become the script's.
func ReadTest(test, main, root string) (*Script, error) {
	dir, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	entry, err := testEntry(test, main, root)
	if err != nil {
		return nil, err
	}
	s, err := join(dir, api.BuildOptions{
		Stdin:   &api.StdinOptions{Contents: entry, ResolveDir: dir, Sourcefile: "armature"},
		Plugins: []api.Plugin{testModule(), fence(dir, true)},
	})
	if err != nil {
		return nil, err
	}
	if len(s.Code) > MaxSize {
		return nil, fmt.Errorf("%s: over %d MiB with all it imports, the limit", filepath.Base(test), MaxSize>>20)
	}
	s.Functions = []string{"list", "run"}
	return s, nil
}

// testEntry is a module that imports the plugin, then the test.
func testEntry(test, main, root string) (string, error) {
	var b strings.Builder
	plugin := "{}"
	for _, file := range []string{main, test} {
		if file == "" {
			continue
		}
		if err := readable(file); err != nil {
			return "", err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil || !filepath.IsLocal(rel) {
			return "", errors.New(filepath.Base(file) + " lies outside of the folder")
		}
		quoted, err := json.Marshal("./" + filepath.ToSlash(rel))
		if err != nil {
			return "", err
		}
		if file == main {
			plugin = "plugin"
			fmt.Fprintf(&b, "import * as plugin from %s;\n", quoted)
		} else {
			fmt.Fprintf(&b, "import %s;\n", quoted)
		}
	}
	fmt.Fprintf(&b, "const runner = globalThis[%q].runner;\nrunner.tests(%s);\nexport const { list, run } = runner;\n", TestModule, plugin)
	return b.String(), nil
}

// testModule is a plugin for esbuild that knows TestModule.
func testModule() api.Plugin {
	return api.Plugin{Name: "test", Setup: func(b api.PluginBuild) {
		b.OnResolve(api.OnResolveOptions{Filter: "^" + TestModule + "$"}, func(api.OnResolveArgs) (api.OnResolveResult, error) {
			return api.OnResolveResult{Path: TestModule, Namespace: "armature"}, nil
		})
		b.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: "armature"}, func(api.OnLoadArgs) (api.OnLoadResult, error) {
			text := fmt.Sprintf("export const { test, beforeEach, assert, site } = globalThis[%q];", TestModule)
			return api.OnLoadResult{Contents: &text}, nil
		})
	}}
}
