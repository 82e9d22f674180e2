package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"armature/core/scope"
	"armature/plugins/manifest"
	"armature/plugins/script"
	"armature/runtime/abi"
)

// IsScript reports whether the bundle at path is a script: a file, or a directory
// that begins with one, though it may hold what it must not beside it.
func IsScript(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return err == nil && script.Is(path)
	}
	main, err := script.Main(path)
	return main != "" || err != nil
}

// readScript makes the single-file bundle of a script: of the file main alone, or
// of the folder dir that it lies in.
func readScript(main, dir string) ([]byte, error) {
	if name := script.Name(main); dir == "" && name == "main" {
		if _, err := os.Stat(filepath.Join(filepath.Dir(main), ManifestFile)); err == nil {
			// Alone it would be another plugin, one called main.
			return nil, fmt.Errorf("%s is the first file of a plugin that %s beside it describes: name the folder", filepath.Base(main), ManifestFile)
		}
	}
	s, err := script.Read(main, dir)
	if err != nil {
		return nil, err
	}
	d, err := draftOf(main, dir, s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(main), err)
	}
	if err := d.addDocTypes(dir); err != nil {
		return nil, d.inTheAuthorsWords(err)
	}
	text, err := d.complete(s)
	if err != nil {
		return nil, d.inTheAuthorsWords(err)
	}
	m, err := manifest.ParseScript(text)
	if err != nil {
		return nil, d.inTheAuthorsWords(err)
	}
	module := describe(m, s)
	if dir != "" {
		if module, err = WithPublic(module, dir); err != nil {
			return nil, err
		}
	}
	return Embed(module, text)
}

// Runnable is the module that stands for a script of which nothing is claimed, to
// be run but not installed.
func Runnable(s *script.Script) []byte { return describe(&manifest.Manifest{}, s) }

// draft is a script's manifest with what its author wrote, member by member.
type draft struct {
	members map[string]json.RawMessage
	name    string // where the author gives none
	main    string // the script's first file
	script  *script.Script
	file    []byte   // armature.json, if the manifest is from there
	methods []string // their names, where the author lists them by name
}

// draftOf reads what the author says of the plugin: in the script, in
// armature.json, or nothing.
func draftOf(main, dir string, s *script.Script) (*draft, error) {
	d := &draft{members: map[string]json.RawMessage{}, name: script.Name(main), main: filepath.Base(main), script: s}
	text := s.Manifest
	if dir != "" {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		d.name = filepath.Base(abs)
		_, err = os.Stat(filepath.Join(dir, ManifestFile))
		switch {
		case err == nil && text != nil:
			return nil, fmt.Errorf("manifest: there is one in %s and one in %s: which one is meant?", ManifestFile, d.main)
		case err == nil:
			file, err := readFile(filepath.Join(dir, ManifestFile), maxManifest)
			if err != nil {
				return nil, err
			}
			if err := manifest.Known(file); err != nil {
				return nil, manifest.InFile(ManifestFile, err)
			}
			text, d.file = file, file
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	if text != nil {
		if err := json.Unmarshal(text, &d.members); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// addDocTypes adds the DocTypes that lie in the folder in files of their own.
func (d *draft) addDocTypes(dir string) error {
	if dir == "" {
		return nil
	}
	files, err := doctypeFiles(dir)
	if err != nil || len(files) == 0 {
		return err
	}
	var all []json.RawMessage
	if given, ok := d.members["doctypes"]; ok {
		if err := json.Unmarshal(given, &all); err != nil {
			return wrong("doctypes", "expected an array")
		}
	}
	for _, file := range files {
		def, err := readFile(file, maxManifest)
		if err != nil {
			return err
		}
		if !json.Valid(def) {
			return fmt.Errorf("%s/%s: not JSON", DocTypesDir, filepath.Base(file))
		}
		all = append(all, def)
	}
	return d.set("doctypes", all)
}

func (d *draft) set(member string, value any) error {
	text, err := json.Marshal(value)
	d.members[member] = text
	return err
}

// setDefault sets a member that the author left out.
func (d *draft) setDefault(member string, value any) error {
	if _, given := d.members[member]; given {
		return nil
	}
	return d.set(member, value)
}

// complete fills in what a script may leave out: everything.
func (d *draft) complete(s *script.Script) ([]byte, error) {
	sum := sha256.Sum256(s.Code)
	if err := errors.Join(
		d.setDefault("name", d.name),
		d.setDefault("version", "sha-"+hex.EncodeToString(sum[:4])),
		d.setDefault("abi", abi.Version),
		d.setDefault("grants", d.defaultGrants()),
		d.completeMethods(s),
	); err != nil {
		return nil, err
	}
	text, err := json.Marshal(d.members)
	if err != nil {
		return nil, err
	}
	return text, manifest.Known(text)
}

// defaultGrants are all documents and methods that are not the platform's own,
// since nobody says which the script needs, and outgoing requests where the author
// names hosts.
func (d *draft) defaultGrants() []string {
	grants := []string{scope.Of(scope.Any, scope.Write).String(), scope.Methods(scope.Any).String(), manifest.KV}
	var hosts []string
	if json.Unmarshal(d.members["allowed_hosts"], &hosts) == nil && len(hosts) > 0 {
		grants = append(grants, abi.HTTPFetch)
	}
	return grants
}

// defaultVerbs are those of a method about which the author says nothing: a GET
// changes nothing, whatever the method does.
var defaultVerbs = []string{"GET", "POST"}

// completeMethods makes the list of methods. Every exported function is one, those
// aside that events name; an object of methods, by name, says more about some of
// them. An array is the list itself, as in any manifest.
func (d *draft) completeMethods(s *script.Script) error {
	var name string
	if err := json.Unmarshal(d.members["name"], &name); err != nil {
		return wrong("name", "expected text")
	}
	given := bytes.TrimSpace(d.members["methods"])
	if len(given) > 0 && given[0] == '[' {
		return d.completeExports(name, given)
	}
	more := map[string]map[string]json.RawMessage{}
	if len(given) > 0 {
		if err := json.Unmarshal(given, &more); err != nil {
			return wrong("methods", "expected an object with a member for each function, or an array")
		}
	}
	for function := range more {
		if !slices.Contains(s.Functions, function) {
			return wrong("methods."+function, "the script exports no function of this name; it exports %s", strings.Join(s.Functions, ", "))
		}
	}
	var events map[string]manifest.Event
	_ = json.Unmarshal(d.members["events"], &events) // Known says what is wrong with them
	handlers := map[string]bool{}
	for _, e := range events {
		handlers[e.Export] = true
	}
	var list []map[string]json.RawMessage
	for _, function := range s.Functions {
		m, listed := more[function]
		if handlers[function] && !listed {
			continue
		}
		if !methodName.MatchString(function) {
			return fmt.Errorf("the function %s cannot be a method: a method's name is made of letters, digits and underscores", function)
		}
		if m == nil {
			m = map[string]json.RawMessage{}
		}
		for _, member := range []string{"path", "export"} {
			if _, ok := m[member]; ok {
				return wrong("methods."+function+"."+member, "the name of the function says it")
			}
		}
		m["path"], m["export"] = quote(name+"."+function), quote(function)
		if _, ok := m["verbs"]; !ok {
			m["verbs"], _ = json.Marshal(defaultVerbs)
		}
		list = append(list, m)
		d.methods = append(d.methods, function)
	}
	if list == nil {
		delete(d.members, "methods")
		return nil
	}
	return d.set("methods", list)
}

var methodName = regexp.MustCompile(`^[A-Za-z0-9_]+$`)

// completeExports names the function of each listed method that names none: the
// last part of its path.
func (d *draft) completeExports(name string, given []byte) error {
	var list []map[string]json.RawMessage
	if err := json.Unmarshal(given, &list); err != nil {
		return wrong("methods", "expected objects")
	}
	for _, m := range list {
		var path string
		if _, ok := m["export"]; !ok && json.Unmarshal(m["path"], &path) == nil {
			m["export"] = quote(strings.TrimPrefix(path, name+"."))
		}
	}
	return d.set("methods", list)
}

func quote(s string) json.RawMessage {
	text, _ := json.Marshal(s)
	return text
}

// inTheAuthorsWords turns an error about the completed manifest into one about
// what the author wrote, and where.
func (d *draft) inTheAuthorsWords(err error) error {
	var e *manifest.Error
	if !errors.As(err, &e) {
		return fmt.Errorf("%s: manifest: %w", d.main, err)
	}
	file := d.main
	place := func(field string) (line, column int) {
		p, ok := d.script.Place(field)
		if !ok {
			return 0, 0
		}
		file = p.File
		return p.Line, p.Column
	}
	if d.file != nil {
		file = ManifestFile
		place = func(field string) (line, column int) { return manifest.Place(d.file, field) }
	}
	return errors.New(e.Translate(d.rename, place).In(file))
}

// rename calls methods by their names, as the author does.
func (d *draft) rename(text string) string {
	for i, name := range d.methods {
		text = strings.ReplaceAll(text, fmt.Sprintf("methods[%d]", i), "methods."+name)
	}
	return text
}

// wrong is an error about a field.
func wrong(field, format string, args ...any) error {
	return &manifest.Error{Field: field, Text: fmt.Sprintf(format, args...)}
}
