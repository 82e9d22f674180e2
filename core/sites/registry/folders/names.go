package folders

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"armature/core/site"
	"armature/core/sites/datafolder"
)

// Names lists the folders that are named like sites, sorted.
func Names(l datafolder.Layout) ([]string, error) {
	entries, err := os.ReadDir(l.Sites())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the sites: %w", err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && site.CheckName(e.Name()) == nil {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// Dropped reports whether there is a folder of a site that was dropped here.
func Dropped(l datafolder.Layout, name string) (bool, error) {
	entries, err := os.ReadDir(l.Dropped())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		rest, ok := strings.CutPrefix(e.Name(), name)
		_, err := strconv.Atoi(strings.TrimPrefix(rest, "."))
		return ok && (rest == "" || rest[0] == '.' && err == nil)
	}), nil
}
