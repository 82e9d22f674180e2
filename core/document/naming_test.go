package document_test

import (
	"testing"

	"armature/core/document"
)

func TestNaming(t *testing.T) {
	by := func(rule string) string { return `"autoname": "` + rule + `"` }
	tell(t, document.ServiceConfig{},
		story{"by the client", []string{plain("Thing", by("Prompt"), "n|Int")}, []step{
			{does: "insert", what: "Thing", values: `{}`, want: "!Please set the document name"},
			{does: "insert", what: "Thing", values: `{"name": "  a  "}`, want: `"name":"a"`},
			{does: "insert", what: "Thing", values: `{"name": 7}`, want: `"name":"7"`},
			{does: "insert", what: "Thing", values: `{"name": true}`, want: "!The name must be text"},
			{does: "insert", what: "Thing", values: `{"name": "a<b"}`, want: "!< and > are not allowed"},
			{does: "insert", what: "Thing", values: `{"name": "a\u0007"}`, want: "!control characters"},
			{does: "insert", what: "Thing", values: `{"name": "Thing"}`, want: "!equals the DocType"},
			{does: "insert", what: "Thing", values: `{"name": "New Thing 1"}`, want: "!unsaved documents"},
			{does: "insert", what: "Thing", values: `{"name": "` + string(make141()) + `"}`, want: "!CharacterLengthExceededError"},
		}},
		story{"by a field", []string{plain("Thing", by("field:code"), "code|Data", "n|Int")}, []step{
			{does: "insert", what: "Thing", values: `{"code": " a "}`, want: `"name":"a"`},
			{does: "insert", what: "Thing", values: `{"n": 1}`, want: "!Code is required"},
			{does: "update", what: "Thing/a", values: `{"code": "b"}`, want: `"code":"a"`},
		}},
		story{"by a series", []string{plain("Thing", by("TH-.YYYY.-.###"), "n|Int")}, []step{
			{does: "insert", what: "Thing", values: `{}`, want: `"name":"TH-2026-001"`},
			{does: "insert", what: "Thing", values: `{"name": "own"}`, want: `"name":"TH-2026-002"`},
			{does: "delete", what: "Thing/TH-2026-002"},
			{does: "insert", what: "Thing", values: `{}`, want: `"name":"TH-2026-002"`},
		}},
		story{"by a format", []string{plain("Thing", by("format:{YY}{MM}{DD}-{JJJ}-{WW}-{n}-{##}"), "n|Int")}, []step{
			{does: "insert", what: "Thing", values: `{"n": 5}`, want: `"name":"260314-073-11-5-01"`},
			{does: "insert", what: "Thing", values: `{"n": 6}`, want: `"name":"260314-073-11-6-01"`},
			{does: "insert", what: "Thing", values: `{"n": 5}`, want: `"name":"260314-073-11-5-02"`},
		}},
		story{"by a series of its own", []string{plain("Thing", by("naming_series:"), `naming_series|Select|A-.##\nB-.##`)}, []step{
			{does: "insert", what: "Thing", values: `{}`, want: `"name":"A-01"`},
			{does: "insert", what: "Thing", values: `{"naming_series": "B-.##"}`, want: `"name":"B-01"`},
		}},
		story{"by counting", []string{plain("Thing", by("autoincrement"), "n|Int")}, []step{
			{does: "insert", what: "Thing", values: `{}`, want: `"name":1`},
			{does: "insert", what: "Thing", values: `{"name": 9}`, want: `"name":2`},
			{does: "rename", what: "Thing/1", values: "3", want: "!not allowed to be renamed"},
		}},
		story{"by a UUID", []string{plain("Thing", by("UUID"), "n|Int")}, []step{
			{does: "insert", what: "Thing", values: `{"name": "F47AC10B-58CC-4372-A567-0E02B2C3D479"}`, want: `"name":"f47ac10b-58cc-4372-a567-0e02b2c3d479"`},
			{does: "insert", what: "Thing", values: `{"name": "x"}`, want: "!InvalidUUIDValue"},
			{does: "insert", what: "Thing", values: `{}`, want: `"name":"0`},
		}},
		story{"by chance", []string{plain("Thing", by("hash"), "n|Int")}, []step{
			{does: "insert", what: "Thing", values: `{"name": "mine"}`, want: `"name":"mine"`},
			{does: "insert", what: "Thing", values: `{}`, want: `"name":"`},
		}},
		story{"by rules", []string{plain("Thing", by("hash"), "kind|Data", "n|Int")}, []step{
			{does: "insert", what: "Document Naming Rule", values: `{"document_type": "Thing", "prefix": "X-", "prefix_digits": 19}`, want: "!1 to 18 digits"},
			{does: "insert", what: "Document Naming Rule", values: `{"document_type": "Thing", "prefix": "X-", "prefix_digits": 2, "conditions": [{"field": "none", "condition": "=", "value": "x"}]}`, want: "!has no field none"},
			{does: "insert", what: "Document Naming Rule", values: `{"document_type": "Thing", "prefix": "X-.YY.-", "prefix_digits": 3, "priority": 1}`, want: "X-"},
			{does: "insert", what: "Document Naming Rule", values: `{"document_type": "Thing", "prefix": "Y-", "prefix_digits": 2, "priority": 2, "conditions": [{"field": "kind", "condition": "=", "value": "y"}]}`, want: "Y-"},
			{does: "insert", what: "Thing", values: `{"kind": "y"}`, want: `"name":"Y-01"`},
			{does: "insert", what: "Thing", values: `{"kind": "z"}`, want: `"name":"X-26-001"`},
			{does: "insert", what: "Thing", values: `{"kind": "y"}`, want: `"name":"Y-02"`},
		}},
		story{"rows", []string{rowsOf("Part", `, "autoname": "format:P-{##}"`, "n|Int"), rowsOf("Own", `, "autoname": "Prompt"`, "n|Int"), rowsOf("Id", `, "autoname": "UUID"`, "n|Int"),
			plain("Thing", by("Prompt"), "parts|Table|Part", "owns|Table|Own", "ids|Table|Id")}, []step{
			{does: "insert", what: "Thing", values: `{"name": "a", "parts": [{"n": 1}, {"n": 2}], "owns": [{"name": "mine"}]}`, want: `"name":"P-02"`},
			{does: "insert", what: "Thing", values: `{"name": "b", "owns": [{"n": 1}]}`, want: "!NameError"},
			{does: "insert", what: "Thing", values: `{"name": "b", "ids": [{"name": "x"}]}`, want: "!InvalidUUIDValue"},
			{does: "get", what: "Thing/a", want: `"name":"mine"`},
		}},
	)
}

func make141() []byte {
	name := make([]byte, document.MaxNameLength+1)
	for i := range name {
		name[i] = 'a'
	}
	return name
}
