package bundle

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"armature/plugins/manifest"
)

// DocTypesDir is the folder in a directory whose .json files are DocTypes that
// the plugin brings, one each.
const DocTypesDir = "doctypes"

// ManifestText reads the manifest of a directory, with the DocTypes that lie
// beside it in files of their own. Without such files it is the file as it is.
func ManifestText(dir string) ([]byte, error) {
	text, err := readFile(filepath.Join(dir, ManifestFile), maxManifest)
	if err != nil {
		return nil, err
	}
	// As of a script, which a module may stand for: whoever knows the module
	// reads it again. Only here is known which file the places are in.
	m, err := manifest.ParseScript(text)
	if err != nil {
		return nil, manifest.InFile(ManifestFile, err)
	}
	files, err := doctypeFiles(dir)
	if err != nil || len(files) == 0 {
		return text, err
	}
	for _, file := range files {
		def, err := readFile(file, maxManifest)
		if err != nil {
			return nil, err
		}
		if !json.Valid(def) {
			return nil, fmt.Errorf("%s/%s: not JSON", DocTypesDir, filepath.Base(file))
		}
		m.DocTypes = append(m.DocTypes, def)
	}
	return json.Marshal(m)
}

// doctypeFiles lists the files with DocTypes of a directory, sorted.
func doctypeFiles(dir string) ([]string, error) {
	return filepath.Glob(filepath.Join(dir, DocTypesDir, "[^.]*.json"))
}
