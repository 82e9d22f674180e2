package document_test

import (
	"testing"

	"armature/core/document"
	"armature/core/document/documenttest"
)

func TestLinks(t *testing.T) {
	item := plain("Item", `"allow_rename": 1, "track_changes": 1`, "price|Float", "kind|Data")
	line := rowsOf("Line", "", "item|Link|Item", `price|Float||"fetch_from": "item.price"`)
	order := plain("Order", `"allow_rename": 1`, "item|Link|Item", `kind|Data||"fetch_from": "item.kind"`, `once|Data||"fetch_from": "item.kind", "fetch_if_empty": 1`,
		"type|Link|DocType", "ref|Dynamic Link|type", "lines|Table|Line")
	tell(t, document.ServiceConfig{},
		story{"lead somewhere", []string{item, line, order}, []step{
			{does: "insert", what: "Item", values: `{"name": "a", "price": 2.5, "kind": "red"}`, want: `"name":"a"`},
			{does: "insert", what: "Order", values: `{"name": "1", "item": "b"}`, want: "!LinkValidationError: Could not find Item: b"},
			{does: "insert", what: "Order", values: `{"name": "1", "lines": [{"item": "b"}, {"item": "c"}]}`, want: "!Row #1: Item: b, Row #2: Item: c"},
			{does: "insert", what: "Order", values: `{"name": "1", "item": "a", "lines": [{"item": "a"}]}`, want: `"kind":"red","once":"red"`},
			{does: "get", what: "Order/1", want: `"price":2.5`},
			{does: "update", what: "Item/a", values: `{"kind": "blue"}`, want: `"kind":"blue"`},
			{does: "update", what: "Order/1", values: `{"kind": "forged"}`, want: `"kind":"blue","once":"red"`},
			{does: "update", what: "Order/1", values: `{"ref": "a"}`, want: "!must be set first"},
			{does: "update", what: "Order/1", values: `{"ref": "a", "type": "Nothing"}`, want: "!LinkValidationError"},
			{does: "update", what: "Order/1", values: `{"ref": "a", "type": "Item"}`, want: `"ref":"a"`},
			{does: "update", what: "Order/1", values: `{"ref": "b"}`, want: "!LinkValidationError"},
			{does: "expand", what: "Order/1", want: `"item":{"name":"a"`},
			{does: "delete", what: "Item/a", want: "!LinkExistsError"},
			{does: "update", what: "Order/1", values: `{"item": null, "lines": []}`, want: `"name":"1"`},
			{does: "delete", what: "Item/a", want: "!is linked with it"},
			{does: "update", what: "Order/1", values: `{"ref": null, "type": null}`, want: `"name":"1"`},
			{does: "delete", what: "Item/a"},
			{does: "get", what: "Order/1", want: `"once":"red"`},
		}},
		story{"are expanded in lists", []string{item, line, order}, []step{
			{does: "insert", what: "Item", values: `{"name": "a", "price": 2}`, want: `"name":"a"`},
			{does: "insert", what: "Order", values: `{"name": "1", "item": "a", "lines": [{"item": "a"}]}`, want: `"name":"1"`},
			{does: "insert", what: "Order", values: `{"name": "2"}`, want: `"name":"2"`},
			{does: "list", what: "Order", values: `{"fields": ["name", "item", {"lines": ["item"]}], "expand": ["item"], "order_by": "name"}`, want: `"item":{"name":"a"`},
			{does: "list", what: "Order", values: `{"fields": ["name", {"lines": ["item", "price"]}, "item"], "order_by": "name", "as_dict": 0}`, want: `[["1",[{"item":"a","price":2.0}],"a"],["2",[],null]]`},
		}},
		story{"follow a rename", []string{item, line, order}, []step{
			{does: "insert", what: "Item", values: `{"name": "a", "price": 2}`, want: `"name":"a"`},
			{does: "insert", what: "Item", values: `{"name": "b", "price": 3}`, want: `"name":"b"`},
			{does: "insert", what: "Order", values: `{"name": "1", "item": "a", "lines": [{"item": "a"}], "type": "Item", "ref": "a"}`, want: `"name":"1"`},
			{does: "rename", what: "Item/a", values: "a", want: "!has this name already"},
			{does: "rename", what: "Item/a", values: "b", want: "!DuplicateEntryError"},
			{does: "rename", what: "Item/a", values: "x<y", want: "!NameError"},
			{does: "rename", what: "Item/none", values: "c", want: "!DoesNotExistError"},
			{does: "rename", what: "Item/a", values: "c", want: `"name":"c"`, as: clerk},
			{does: "get", what: "Order/1", want: `"ref":"c"`},
			{does: "get", what: "Order/1", want: `"item":"c","price":2`},
			{does: "list", what: "Version", values: `{"fields": ["docname", "data"]}`, want: `\"name\",\"a\",\"c\"`},
			{does: "rename", what: "Order/1", values: "2", want: `"parent":"2"`},
			{does: "merge", what: "Item/c", values: "d", want: "!does not exist; choose another"},
			{does: "merge", what: "Item/c", values: "b", want: `"name":"b"`},
			{does: "get", what: "Item/c", want: "!DoesNotExistError"},
			{does: "get", what: "Order/2", want: `"ref":"b"`},
		}},
		story{"make a tree", []string{plain("Node", `"is_tree": 1, "allow_rename": 1`, "n|Int")}, []step{
			{does: "insert", what: "Node", values: `{"name": "a"}`, want: `"name":"a"`},
			{does: "insert", what: "Node", values: `{"name": "b", "parent_node": "a"}`, want: `"parent_node":"a"`},
			{does: "insert", what: "Node", values: `{"name": "c", "parent_node": "b"}`, want: `"parent_node":"b"`},
			{does: "update", what: "Node/a", values: `{"parent_node": "c"}`, want: "!cannot be below itself"},
			{does: "update", what: "Node/a", values: `{"parent_node": "a"}`, want: "!cannot be below itself"},
			{does: "merge", what: "Node/a", values: "c", want: "!which is below it"},
			{does: "merge", what: "Node/c", values: "b", want: `"name":"b"`},
			{does: "list", what: "Node", values: `{"filters": [["name", "descendants of", "a"]]}`, want: `[{"name":"b"}]`},
		}},
	)
}

// What a caller may not read through a link is not copied, stays while the link
// does, and is gone when it leads elsewhere.
func TestFetchWithoutRights(t *testing.T) {
	hidden := documenttest.Definition("Item", "", fields("kind|Data"), []string{`"role": "System Manager", "read": 1`, `"role": "All", "read": 1, "if_owner": 1`})
	order := plain("Order", "", "item|Link|Item", `kind|Data||"fetch_from": "item.kind"`, "n|Int")
	tell(t, document.ServiceConfig{}, story{"fetching", []string{hidden, order}, []step{
		{does: "insert", what: "Item", values: `{"name": "a", "kind": "red"}`, want: `"name":"a"`},
		{does: "insert", what: "Item", values: `{"name": "b", "kind": "blue"}`, want: `"name":"b"`},
		{does: "insert", what: "Order", values: `{"name": "1", "item": "a", "kind": "guessed"}`, want: `"item":"a","n":0`, as: clerk},
		{does: "insert", what: "Order", values: `{"name": "2", "item": "a"}`, want: `"kind":"red"`},
		{does: "update", what: "Order/2", values: `{"n": 1}`, want: `"kind":"red"`, as: clerk},
		{does: "update", what: "Order/2", values: `{"item": "b"}`, want: `"item":"b","n":1`, as: clerk},
		{does: "expand", what: "Order/2", want: "!PermissionError", as: clerk},
		{does: "list", what: "Order", values: `{"fields": ["name", "item"], "expand": ["item"], "order_by": "name"}`, want: `[{"name":"1","item":"a"},{"name":"2","item":"b"}]`, as: clerk},
	}})
}

// Who may not read what is in the way of a deletion does not learn its name.
func TestLinkedByHidden(t *testing.T) {
	hidden := documenttest.Definition("Case", "", fields("item|Link|Item", "lines|Table|Line"), []string{`"role": "System Manager", "read": 1`})
	tell(t, document.ServiceConfig{}, story{"deleting", []string{plain("Item", "", "n|Int"), rowsOf("Line", "", "item|Link|Item"), hidden}, []step{
		{does: "insert", what: "Item", values: `{"name": "a"}`, want: `"name":"a"`},
		{does: "insert", what: "Item", values: `{"name": "b"}`, want: `"name":"b"`},
		{does: "insert", what: "Case", values: `{"name": "of somebody", "item": "a", "lines": [{"item": "b"}]}`, want: `"name":"of somebody"`},
		{does: "delete", what: "Item/a", want: "!because Case of somebody is linked"},
		{does: "delete", what: "Item/a", want: "!because a document that you may not read is linked", as: clerk},
		{does: "delete", what: "Item/b", want: "!because Case of somebody is linked"},
		{does: "delete", what: "Item/b", want: "!because a document that you may not read is linked", as: clerk},
	}})
}
