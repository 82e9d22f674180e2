package grant

import (
	"encoding/json"
	"slices"
	"strings"

	"armature/core/doctype"
	"armature/core/doctypes"
	"armature/core/identity"
	"armature/core/scope"
	"armature/plugins/manifest"
)

// definition is what matters of a DocType that a plugin brings.
type definition struct {
	Name   string `json:"name"`
	Fields []struct {
		Name      string `json:"fieldname"`
		Type      string `json:"fieldtype"`
		Options   string `json:"options"`
		FetchFrom string `json:"fetch_from"`
	} `json:"fields"`
	Permissions []struct {
		Role string `json:"role"`
	} `json:"permissions"`
}

// askedByDocTypes lists what the DocTypes that a plugin brings reach: the
// platform's DocTypes they link to or have as rows, what they copy from documents
// that are not the plugin's, and that they are open to everybody.
func askedByDocTypes(m *manifest.Manifest) []string {
	protection, err := doctypes.Protection()
	if err != nil {
		return []string{manifest.Platform} // cannot happen: it was read when the site was opened
	}
	brought := m.Brings()
	var asked []string
	for _, text := range m.DocTypes {
		var def definition
		if json.Unmarshal(text, &def) != nil {
			continue // installing it says what is wrong
		}
		links := map[string]string{}
		for _, f := range def.Fields {
			platform := protection[f.Options].Platform
			fieldtype, _ := doctype.TypeOf(f.Type)
			switch {
			case !fieldtype.NamesDocType():
			case fieldtype.Kind != doctype.Rows:
				links[f.Name] = f.Options
				if platform {
					asked = append(asked, scope.Of(f.Options, scope.Read).String())
				}
			default:
				if platform {
					asked = append(asked, scope.Of(f.Options, scope.Write).String())
				}
			}
		}
		for _, f := range def.Fields {
			via, _, copies := strings.Cut(f.FetchFrom, ".")
			if target := links[via]; copies && target != "" && !slices.Contains(brought, target) {
				asked = append(asked, scope.Of(target, scope.Read).String())
			}
		}
		for _, rule := range def.Permissions {
			if rule.Role == identity.Guest || rule.Role == identity.All {
				asked = append(asked, scope.Scope{Kind: scope.Public, Name: def.Name}.String())
			}
		}
	}
	return asked
}
