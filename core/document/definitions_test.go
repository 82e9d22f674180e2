package document_test

import (
	"strings"
	"testing"

	"armature/core/document"
)

func TestDefinitions(t *testing.T) {
	c := document.ServiceConfig{Reserved: func(name string) bool { return name == "Kept" }}
	made := func(name, more string, fields ...string) string { return plain(name, more, fields...) }
	tell(t, c,
		story{"are refused", []string{rowsOf("Line", "", "n|Int"), made("Order", "", "lines|Table|Line", "n|Int")}, []step{
			{does: "insert", what: "DocType", values: made("Kept", ""), want: "!keeps the name Kept"},
			{does: "insert", what: "DocType", values: `{"name": "Other", "module": "Custom"}`, want: "!CannotCreateStandardDoctypeError"},
			{does: "insert", what: "DocType", values: made("Other", "", "x|Link|Nothing"), want: "!"},
			{does: "insert", what: "DocType", values: made("Other", "", "x|Strange"), want: "!"},
			{does: "insert", what: "DocType", values: strings.Replace(made("Other", "", "x|Int"), `"read": 1`, `"read": 1, "condition": "[[\"y\",\"=\",1]]"`, 1), want: "!no field y"},
			{does: "update", what: "DocType/User", values: `{"module": "X"}`, want: "!is a standard DocType"},
			{does: "delete", what: "DocType/User", want: "!is a standard DocType"},
			{does: "delete", what: "DocType/Line", want: "!LinkExistsError"},
			{does: "update", what: "DocType/Order", values: `{"issingle": 1}`, want: "!cannot change between"},
			{does: "insert", what: "Order", values: `{"name": "a"}`, want: `"name":"a"`},
			{does: "update", what: "DocType/Order", values: `{"autoname": "autoincrement"}`, want: "!has documents: it cannot change"},
			{does: "rename", what: "DocType/User", values: "Person", want: "!is a standard DocType"},
			{does: "rename", what: "DocType/Order", values: "User", want: "!already exists"},
			{does: "rename", what: "DocType/Order", values: "Bestellung", want: `"name":"Bestellung"`},
		}},
		story{"change with their documents", []string{made("Order", "", "n|Data", "t|Data")}, []step{
			{does: "insert", what: "Order", values: `{"name": "a", "n": "12", "t": "x"}`, want: `"n":"12"`},
			{does: "insert", what: "Order", values: `{"name": "b", "n": "many", "t": "x"}`, want: `"n":"many"`},
			{does: "update", what: "DocType/Order", values: `{"fields": [{"fieldname": "n", "fieldtype": "Int"}, {"fieldname": "t", "fieldtype": "Data"}]}`, want: `"fieldtype":"Int"`},
			{does: "list", what: "Order", values: `{"fields": ["name", "n"], "order_by": "name"}`, want: `[{"name":"a","n":12},{"name":"b","n":0}]`},
			{does: "update", what: "DocType/Order", values: `{"fields": [{"fieldname": "n", "fieldtype": "Int"}, {"fieldname": "t", "fieldtype": "Data", "unique": 1}]}`, want: "!NonUniqueError"},
			{does: "update", what: "DocType/Order", values: `{"fields": [{"fieldname": "n", "fieldtype": "Int", "unique": 1}, {"fieldname": "t", "fieldtype": "Data"}]}`, want: `"unique":1`},
			{does: "update", what: "DocType/Order", values: `{"is_submittable": 1, "is_tree": 1}`, want: `"fieldname":"amended_from"`},
			{does: "insert", what: "Order", values: `{"name": "c", "parent_order": "a", "n": 3}`, want: `"parent_order":"a"`},
		}},
		story{"come back with their documents", []string{made("Order", "", "n|Int")}, []step{
			{does: "insert", what: "Order", values: `{"name": "a", "n": 12}`, want: `"n":12`},
			{does: "delete", what: "DocType/Order"},
			{does: "get", what: "Order/a", want: "!DocType Order not found"},
			{does: "insert", what: "DocType", values: made("Order", "", "n|Int", "more|Data"), want: `"name":"Order"`},
			{does: "get", what: "Order/a", want: `"n":12`},
			{does: "delete", what: "DocType/Order"},
			{does: "insert", what: "DocType", values: made("Order", `"autoname": "autoincrement"`, "n|Int"), want: `"name":"Order"`},
			{does: "list", what: "Order", values: `{}`, want: `[]`},
		}},
		story{"keep what others ask of them", []string{made("Firm", "", "login|Data"),
			strings.Replace(made("Order", "", "firm|Link|Firm"), `"read": 1`, `"read": 1, "condition": "[[\"firm.login\",\"=\",\"$user\"]]"`, 1)}, []step{
			{does: "update", what: "DocType/Firm", values: `{"fields": [{"fieldname": "other", "fieldtype": "Data"}]}`, want: "!the condition of role All"},
			{does: "delete", what: "DocType/Firm", want: "!"},
		}},
	)
}
