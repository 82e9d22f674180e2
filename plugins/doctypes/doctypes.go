// Package doctypes installs the DocTypes that a plugin brings.
//
// They become custom DocTypes of the site, with the plugin's name as their
// module, and the roles that their permissions name are made where the site lacks
// them. A plan says what an installation would change; applying it may be
// repeated, and goes on where an earlier attempt has failed. Nothing is ever
// dropped: a field that is left out hides its column, and the DocTypes stay
// when the plugin goes.
package doctypes

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"armature/core/doctype"
	"armature/core/fault"
	"armature/plugins/manifest"
)

// DocType is one DocType that a plugin brings.
type DocType struct {
	Name   string
	plugin string
	values map[string]any // of the DocType document
	fields []map[string]any
	rules  []map[string]any
}

// ours are the keys that the platform keeps about a DocType.
var ours = []string{"table_name", "retired_columns", "definition_hash", "owner", "creation", "modified", "modified_by", "docstatus", "idx"}

// Parse reads the DocTypes of a manifest. The error is a fault that names what
// is wrong in which of them.
func Parse(m *manifest.Manifest) ([]*DocType, error) {
	var all []*DocType
	for _, text := range m.DocTypes {
		dt, err := parse(m.Name, text)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(o *DocType) bool { return o.Name == dt.Name }) {
			return nil, fault.Invalid("", "The DocType %s is shipped twice", dt.Name)
		}
		all = append(all, dt)
	}
	return all, nil
}

func parse(plugin string, text []byte) (*DocType, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	dt := &DocType{plugin: plugin}
	if err := dec.Decode(&dt.values); err != nil {
		return nil, fault.Wrap(fault.Validation, "", err, "A DocType of %s is no JSON object", plugin)
	}
	for _, key := range ours {
		delete(dt.values, key) // an exported definition has them
	}
	delete(dt.values, "doctype")
	dt.Name, _ = dt.values["name"].(string)
	dt.values["module"], dt.values["custom"] = plugin, json.Number("1")
	var def doctype.Definition
	whole, err := json.Marshal(dt.values)
	if err == nil {
		err = json.Unmarshal(whole, &def)
	}
	if err != nil {
		return nil, fault.Wrap(fault.Validation, "", err, "The DocType %q: %v", dt.Name, err)
	}
	if _, err := doctype.Define(def); err != nil {
		return nil, err
	}
	if dt.fields, err = rows(dt.values["fields"]); err == nil {
		dt.rules, err = rows(dt.values["permissions"])
	}
	for _, rule := range dt.rules {
		if _, given := rule["read"]; !given {
			rule["read"] = json.Number("1") // a rule is of no use without; the platform's own default
		}
	}
	return dt, err
}

func rows(v any) ([]map[string]any, error) {
	list, _ := v.([]any)
	var all []map[string]any
	for _, item := range list {
		row, ok := item.(map[string]any)
		if !ok {
			return nil, fault.Invalid("", "fields and permissions are lists of objects")
		}
		for _, key := range append(ours, "name", "parent", "parentfield", "parenttype", "column_name", "doctype") {
			delete(row, key)
		}
		all = append(all, row)
	}
	return all, nil
}

// without is the values for a DocType that does not know yet what some of its
// fields point at: those are left for later.
func (dt *DocType) without(schema *doctype.Schema) map[string]any {
	values := maps.Clone(dt.values)
	var kept []any
	for _, f := range dt.fields {
		if target := target(f); target == "" || target == dt.Name || schema.DocType(target) != nil {
			kept = append(kept, f)
		}
	}
	values["fields"] = kept
	for _, key := range []string{"title_field", "sort_field"} {
		delete(values, key)
	}
	return values
}

// whole is all values.
func (dt *DocType) whole() map[string]any { return maps.Clone(dt.values) }

// target is the DocType that a field points at.
func target(field map[string]any) string {
	fieldtype, _ := field["fieldtype"].(string)
	if t, _ := doctype.TypeOf(fieldtype); !t.NamesDocType() {
		return ""
	}
	name, _ := field["options"].(string)
	return name
}
