package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"armature/cmd/armature/armaturetest"
)

// guideFolder is where the pages of the guide are.
func guideFolder(t *testing.T) string {
	t.Helper()
	return filepath.Join(armaturetest.Root(t), "core", "docs", "guide", "pages")
}

// TestGuide: each page of the guide is followed from its first command to its last on an
// installation of its own, in a folder with nothing in it but data and examples, as its
// reader has it who has done what the first page says.
func TestGuide(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(guideFolder(t), "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	for _, page := range pages {
		name := filepath.Base(page)
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "```console") {
			continue
		}
		t.Run(strings.TrimSuffix(name, ".md"), func(t *testing.T) {
			t.Parallel()
			if strings.HasPrefix(name, "cookbook-") { // whole applications
				armaturetest.EachDatabase(t, func(t *testing.T, in *armaturetest.Installation) { followPage(t, in, page) })
				return
			}
			followPage(t, armaturetest.New(t), page)
		})
	}
}

func followPage(t *testing.T, in *armaturetest.Installation, page string) {
	t.Helper()
	dir := t.TempDir()
	for name, to := range map[string]string{"data": in.Data, "examples": filepath.Join(armaturetest.Root(t), "examples")} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	w := in.Walk()
	w.Start()
	for _, command := range []string{fmt.Sprintf("cd '%s'", dir), "AUTH=$(armature user keys Administrator --header)"} {
		if out, err := w.Enter(command); err != nil {
			t.Fatal(err, out)
		}
	}
	w.Text(page, dir, filepath.Base(page))
}

// TestTour: the README of the repository is typed line by line, in a folder that has what
// make run has made.
func TestTour(t *testing.T) {
	in := armaturetest.New(t)
	w := in.Walk()
	in.Todo(in.Plugins())
	w.Start()
	dir, root := t.TempDir(), armaturetest.Root(t)
	bin, err := w.Enter("command -v armature")
	if err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{
		"data": in.Data, "examples": filepath.Join(root, "examples"), "sdk": filepath.Join(root, "sdk"), "bin": filepath.Dir(strings.TrimSpace(bin)),
	} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := w.Enter(fmt.Sprintf("cd '%s'", dir)); err != nil {
		t.Fatal(err, out)
	}
	w.Text(filepath.Join(root, "README.md"), dir, "README.md", "Five minutes")
}

// marks are those of blocks that nothing runs, and what is asked of them.
var marks = map[string]func(text string) error{
	"json": func(text string) error { return json.Unmarshal([]byte(text), new(any)) },
	"text": func(string) error { return nil }, // nothing that anybody types
	"sh":   func(string) error { return nil }, // TestGuideCommandLines reads it
}

// TestGuideBlocks: whatever a page shows is run, written to a file that is used, quoted
// from a file of the repository, or at least JSON.
func TestGuideBlocks(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(guideFolder(t), "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		mark, block := "", []string(nil)
		for i, line := range strings.Split(string(text), "\n") {
			rest, fence := strings.CutPrefix(line, "```")
			switch {
			case fence && mark == "":
				if mark, block = rest, nil; mark == "" {
					t.Errorf("%s:%d: a block has no mark", filepath.Base(page), i+1)
					mark = "text"
				}
			case fence:
				if check := marks[mark]; check != nil {
					if err := check(strings.Join(block, "\n")); err != nil {
						t.Errorf("%s:%d: %v", filepath.Base(page), i+1, err)
					}
				} else if mark != "console" && !strings.Contains(mark, " ") {
					t.Errorf("%s:%d: nothing tests a block marked %s", filepath.Base(page), i+1, mark)
				}
				mark = ""
			default:
				block = append(block, line)
			}
		}
	}
}

// TestGuideNamesFiles: files of the repository that a page names are there.
func TestGuideNamesFiles(t *testing.T) {
	root := armaturetest.Root(t)
	pages, err := filepath.Glob(filepath.Join(guideFolder(t), "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, filepath.Join(root, "README.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for i, part := range strings.Split(string(text), "`") {
			if top, _, below := strings.Cut(part, "/"); i%2 == 0 || !below || !slices.Contains([]string{"cmd", "core", "examples", "plugins", "runtime", "sdk"}, top) || strings.ContainsAny(part, " \n*{") {
				continue
			}
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(part))); err != nil {
				t.Errorf("%s names %s: %v", filepath.Base(page), part, err)
			}
		}
	}
}
