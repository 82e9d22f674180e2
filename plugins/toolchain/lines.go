package toolchain

import (
	"os"
	"path/filepath"
	"strings"

	"armature/runtime/sourcemap"
)

// withLines turns what the compiler says about lines, in the module or in a source
// map beside it, into what a server reads. What cannot be read costs the lines only.
func (j *job) withLines(wasm []byte) ([]byte, error) {
	table, err := sourcemap.FromDWARF(wasm, j.shown)
	if text, rerr := os.ReadFile(j.module + ".map"); rerr == nil && table == nil {
		table, err = sourcemap.FromSourceMap(wasm, text, j.shown)
	}
	if err != nil || table == nil {
		return wasm, nil
	}
	return table.Embed(wasm)
}

// shown is what a file of the sources is called in traces: its path in the
// plugin's folder, or what is left of another path that says something.
func (j *job) shown(file string) string {
	for _, dir := range []string{j.dir, j.tmp} {
		if rel, err := filepath.Rel(dir, file); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	if _, library, ok := strings.Cut(file, "/library/"); ok {
		return library // of Rust's own
	}
	return strings.TrimPrefix(file, "~lib/")
}
