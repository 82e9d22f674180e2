package doctypes

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"armature/core/doctype"
)

// kept are fields that no code reads and that are there all the same: what people
// write about themselves and their things, and what the definition of a form says
// to whoever draws it.
var kept = map[string][]string{
	"User":     {"mobile_no", "phone", "gender", "birth_date", "bio", "interest"},
	"ToDo":     {"assigned_by_full_name"},
	"Note":     {"seen_by"}, // the reference lists by it
	"DocType":  {"document_type"},
	"DocField": {"in_list_view", "in_standard_filter", "bold", "placeholder", "collapsible", "columns"},
}

// TestShippedFieldsAreRead: a field that promises something and that no code looks
// at is a lie to whoever sets it. The test finds those whose name stands in no
// source file; a name that two DocTypes share counts for both.
func TestShippedFieldsAreRead(t *testing.T) {
	all, err := shipped()
	if err != nil {
		t.Fatal(err)
	}
	words := sourceWords(t, filepath.Join("..", ".."), "core", "plugins", "runtime", "cmd")
	for _, b := range all.types {
		for _, f := range b.Fields {
			excused := slices.Contains(kept[b.Name], f.Name)
			if read := words[f.Name]; !read && !excused && f.Type != "Section Break" && f.Type != "Column Break" {
				t.Errorf("nothing reads %s.%s: take it away until something does", b.Name, f.Name)
			}
		}
		for _, name := range kept[b.Name] {
			if !slices.ContainsFunc(b.Fields, func(f doctype.FieldDefinition) bool { return f.Name == name }) {
				t.Errorf("%s has no field %s any more: take it off the list", b.Name, name)
			}
		}
	}
}

var quoted = regexp.MustCompile("[\"`.]([a-z][a-z0-9_]*)[\"`,]")

// sourceWords are the words that stand quoted in the Go files of the folders, those
// of tests aside.
func sourceWords(t *testing.T, root string, folders ...string) map[string]bool {
	words := map[string]bool{}
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, m := range quoted.FindAllSubmatch(text, -1) {
				words[string(m[1])] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return words
}
