package quickjs

import (
	"bytes"
	"embed"
	"io/fs"
)

//go:embed prelude
var prelude embed.FS

// preludeText is one function of all files, which share its scope. Their names
// are in the order in which they need each other. more comes behind them, in a
// scope of its own.
func preludeText(more []byte) []byte {
	var b bytes.Buffer
	b.WriteString("(function (host) {\n\"use strict\";\n")
	_ = fs.WalkDir(prelude, ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			text, _ := prelude.ReadFile(path)
			b.Write(text)
		}
		return err
	})
	b.WriteString("{\n")
	b.Write(more)
	b.WriteString("}\nreturn { call: callExport, tick, install, describe, where };\n})")
	return b.Bytes()
}
