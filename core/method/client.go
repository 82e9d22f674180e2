package method

import (
	"encoding/json"
	"net/http"
	"strings"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
)

var (
	changes = []string{http.MethodPost, http.MethodPut}
	removes = []string{http.MethodPost, http.MethodDelete}
)

// clientMethods are framework.client.* (reference section 4.3): documents over
// method calls. A narrowed token needs no method: scope for them, since the
// scopes of its resources are checked with the documents.
func clientMethods() []*Method {
	const prefix = "framework.client."
	methods := []*Method{
		{Path: "get_list", Func: clientList},
		{Path: "get_count", Func: clientCount},
		{Path: "get", Func: clientGet},
		{Path: "get_value", Func: clientValue},
		{Path: "get_single_value", Func: clientSingleValue},
		{Path: "get_password", Tier: Named, Func: clientPassword},
		{Path: "has_permission", Func: clientHasPermission},
		{Path: "explain_permission", Tier: Named, Func: clientExplain}, // which tells of others
		{Path: "get_doc_permissions", Func: clientDocPermissions},
		{Path: "is_document_amended", Func: clientAmended},
		{Path: "validate_link", Func: clientValidateLink},
		{Path: "validate_link_and_fetch", Func: clientValidateLink},
		{Path: "get_doctypes", Func: clientDocTypes, Description: "The DocTypes of which the caller may read or make documents"},
		{Path: "get_doctype", Func: clientDocType, ArgsSchema: clientDocTypeArgs, Description: "A DocType as a form is drawn by it: its properties and fields, those of its tables, and the caller's rights"},
		{Path: "get_time_zone", AllowGuest: true, Func: clientTimeZone},
		{Path: "insert", Verbs: changes, Func: clientInsert},
		{Path: "insert_many", Verbs: changes, Func: clientInsertMany},
		{Path: "save", Verbs: changes, Func: clientSave},
		{Path: "set_value", Verbs: changes, Func: clientSetValue},
		{Path: "bulk_update", Verbs: changes, Func: clientBulkUpdate},
		{Path: "submit", Verbs: changes, Func: clientSubmit},
		{Path: "cancel", Verbs: changes, Func: clientCancel},
		{Path: "rename_doc", Verbs: changes, Func: clientRename},
		{Path: "batch", Verbs: []string{http.MethodPost}, Func: clientBatch},
		{Path: "delete", Verbs: removes, Func: clientDelete},
	}
	for _, m := range methods {
		m.Path = prefix + m.Path
		m.AnyScope = true
		if m.Tier == 0 {
			m.Tier = Ordinary
		}
		m.Writes = m.Verbs != nil
	}
	return methods
}

// raw makes a result of appended JSON.
func raw(text []byte, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return json.RawMessage(text), nil
}

// document is the result of a method that answers with a document: all its
// fields, the null ones too.
func (c *Call) document(doc *doctype.Document, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return json.RawMessage(c.Documents.AppendWritten(nil, c.Caller, doc, document.ReadOptions{WithNull: true})), nil
}

// object reads an argument that is an object or the JSON text of one.
func (a *Args) object(name string) (map[string]any, error) {
	v, err := a.structured(name)
	if err != nil {
		return nil, err
	}
	if m, ok := v.(map[string]any); ok {
		return m, nil
	}
	return nil, fault.Invalid("DataError", "%s must be a JSON object", name)
}

// list reads an argument that is a list or the JSON text of one.
func (a *Args) list(name string) ([]any, error) {
	v, err := a.structured(name)
	if err != nil {
		return nil, err
	}
	if l, ok := v.([]any); ok {
		return l, nil
	}
	return nil, fault.Invalid("DataError", "%s must be a JSON array", name)
}

func (a *Args) structured(name string) (any, error) {
	v := a.Get(name)
	switch text, isText := v.(string); {
	case v == nil || isText && strings.TrimSpace(text) == "":
		return nil, fault.Invalid("TypeError", "Missing required argument: %s", name)
	case isText:
		decoded, err := decode([]byte(text))
		if err != nil {
			return nil, fault.Invalid("DataError", "%s: %s", name, fault.From(err).Message)
		}
		return decoded, nil
	}
	return v, nil
}

// doctypeAndName reads the two arguments that name a document.
func (a *Args) doctypeAndName() (typeName, name string, err error) {
	if typeName, err = a.Need("doctype"); err != nil {
		return "", "", err
	}
	name, err = a.Need("name")
	return typeName, name, err
}

// textOf is a value of a document as text; a name may be a number.
func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}
