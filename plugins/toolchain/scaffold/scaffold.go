// Package scaffold writes what a new plugin begins with: sources, the SDK of their
// language, a manifest, a test and a README.
package scaffold

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"armature/core/doctype"
	"armature/plugins/manifest"
	"armature/sdk/abi"
)

// templates are the files of a new plugin, in a folder for each language and one for
// all of them.
//
//go:embed templates
var templates embed.FS

// Languages are the names that Write takes.
func Languages() (names []string) {
	for _, l := range languages() {
		names = append(names, l.name)
	}
	return names
}

// Write makes the folder dir, which must not be there yet, for a plugin of the given
// name in one of Languages.
func Write(lang, name, dir string) error {
	for _, l := range languages() {
		if l.name == lang {
			return l.write(name, dir)
		}
	}
	return fmt.Errorf("--lang is one of %s", strings.Join(Languages(), ", "))
}

func (l language) write(name, dir string) error {
	// The manifest says what is wrong with a name.
	if _, err := manifest.Parse(fmt.Appendf(nil, `{"name": %q, "version": "0", "abi": 1}`, name)); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	data := map[string]any{
		"Name": name, "Path": strings.ReplaceAll(name, ".", "/"), "Needs": l.needs, "Script": l.needs == "", "Lang": l.name,
	}
	for _, folder := range []string{l.name, "all"} {
		files, err := fs.Sub(templates, "templates/"+folder)
		if err != nil {
			return err
		}
		if err := fill(files, dir, data); err != nil {
			return err
		}
	}
	if err := l.sdk(dir); err != nil {
		return err
	}
	return writeSchemas(dir)
}

// writeSchemas puts the JSON Schemas of manifests and of DocTypes beside a plugin, at
// which "$schema" of its files points for an editor.
func writeSchemas(dir string) error {
	doctypes, err := json.MarshalIndent(doctype.JSONSchema(), "", "  ")
	if err != nil {
		return err
	}
	return writeInto(dir, map[string][]byte{
		".armature/manifest.schema.json": abi.ManifestSchema, ".armature/doctype.schema.json": append(doctypes, '\n'),
	})
}

// fill writes templates, without the .tmpl of their names.
func fill(files fs.FS, dir string, data any) error {
	return fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		t, err := template.New(path).Parse(string(text))
		if err != nil {
			return err
		}
		var out bytes.Buffer
		if err := t.Execute(&out, data); err != nil {
			return err
		}
		return writeInto(dir, map[string][]byte{strings.TrimSuffix(path, ".tmpl"): out.Bytes()})
	})
}

// writeInto writes files, with their folders.
func writeInto(dir string, files map[string][]byte) error {
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
