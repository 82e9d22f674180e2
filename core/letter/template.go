package letter

import (
	"encoding/json"
	"fmt"
	"regexp"

	"armature/core/fault"
)

// place is where a template has a value put.
var place = regexp.MustCompile(`\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}`)

// fill puts values into a template. It does nothing else: whoever writes a template
// reaches no document by it. A value that is missing is an error, not a gap in a letter.
func fill(text string, values map[string]any) (string, error) {
	var missing string
	filled := place.ReplaceAllStringFunc(text, func(at string) string {
		name := place.FindStringSubmatch(at)[1]
		switch v := values[name].(type) {
		case nil:
			missing = name
			return ""
		case string:
			return v
		case json.Number, float64, bool, int64, int:
			return fmt.Sprint(v)
		default:
			text, err := json.Marshal(v)
			if err != nil {
				missing = name
			}
			return string(text)
		}
	})
	if missing != "" {
		return "", fault.Invalid("", "The template has a place for %s, and values has none", missing)
	}
	return filled, nil
}
