package doctype

// Property is what may stand in a DocType, a field or a permission row as it is
// written down, for the page and the schema that are made of it.
type Property struct {
	Name        string
	Kind        ValueKind // Text, Int, Check; Rows: a list
	Description string
	Example     string // JSON
}

// Properties of a DocType, of its fields and of its permission rows, in the order in
// which they are explained. A test compares them with what Define reads.
var (
	DocTypeProperties = []Property{
		{"name", Text, "What the DocType is called: a letter, then letters, digits, spaces, `_` and `-`, at most 61 in all.", `"Sales Order"`},
		{"module", Text, "A word by which DocTypes are gathered. Those of a plugin get its name.", `"Selling"`},
		{"autoname", Text, "How documents are named: `hash`, `autoincrement`, `UUID`, `Prompt`, `field:title`, `naming_series:`, `format:SO-{YYYY}-{#####}` or `SO-.YYYY.-.#####`.", `"SO-.YYYY.-.#####"`},
		{"title_field", Text, "The field that is shown in place of the name.", `"title"`},
		{"search_fields", Text, "Fields that a search looks at, with commas between them.", `"title, customer"`},
		{"sort_field", Text, "The field by which a list is ordered that asks for no order; `modified` without it.", `"date"`},
		{"sort_order", Text, "`ASC` or `DESC`.", `"DESC"`},
		{"owner_fields", Text, "Fields whose users count as owners for `if_owner`; `owner` without it.", `"owner, assigned_to"`},
		{"public_field", Text, "A Check that opens a document to every reader.", `"public"`},
		{"istable", Check, "Its documents are rows of others.", `1`},
		{"issingle", Check, "There is one document, named as the DocType.", `1`},
		{"is_submittable", Check, "Documents are submitted and cancelled.", `1`},
		{"is_tree", Check, "Documents stand below one another.", `1`},
		{"custom", Check, "1 for a DocType that is made at run time; those of a plugin are.", `1`},
		{"allow_rename", Check, "Documents may be renamed.", `1`},
		{"track_changes", Check, "Every change leaves a Version.", `1`},
		{"table_name", Text, "The table, chosen when the DocType is made; not to be written down.", `"d_sales_order"`},
		{"fields", Rows, "The fields, in the order of the form.", `[]`},
		{"permissions", Rows, "Which roles may do what.", `[]`},
	}
	FieldProperties = []Property{
		{"fieldname", Text, "A small letter, then small letters, digits and `_`. Made of the label without it.", `"due_date"`},
		{"label", Text, "What a form calls the field. Made of the name without it.", `"Due Date"`},
		{"fieldtype", Text, "One of the field types.", `"Date"`},
		{"options", Text, "What the field type says of them.", `"Open\nClosed"`},
		{"default", Text, "The value of a new document. `Today`, `now` and `__user` stand for the day, the time and who makes it.", `"Today"`},
		{"reqd", Check, "A document without a value is refused.", `1`},
		{"unique", Check, "No two documents have the same value.", `1`},
		{"search_index", Check, "The database keeps an index.", `1`},
		{"length", Int, "The most characters of a text.", `40`},
		{"precision", Text, "Decimal digits to which a number is rounded, 1 to 9.", `"2"`},
		{"permlevel", Int, "0 to 9: who may see and change the field, by permission rows of this level.", `1`},
		{"read_only", Check, "A form does not let it be changed.", `1`},
		{"hidden", Check, "A form does not show it.", `1`},
		{"set_only_once", Check, "What is set once stays; of a table, its rows.", `1`},
		{"allow_on_submit", Check, "It may change on a submitted document.", `1`},
		{"non_negative", Check, "A number below 0 is refused.", `1`},
		{"not_nullable", Check, "No text is kept as the empty one, never as null.", `1`},
		{"is_virtual", Check, "It has no column and no value.", `1`},
		{"fetch_from", Text, "A link and a field of the linked document, whose value is copied.", `"customer.city"`},
		{"fetch_if_empty", Check, "It is copied only where there is no value.", `1`},
		{"ignore_user_permissions", Check, "User Permissions do not look at this link.", `1`},
		{"ignore_xss_filter", Check, "Markup is kept as it comes. Never show it as HTML.", `1`},
		{"column_name", Text, "The column, chosen when the field is made; not to be written down.", `"due_date"`},
	}
	RuleProperties = func() []Property {
		all := []Property{
			{"role", Text, "Whom the row is about; `All` is everybody who is logged in, `Guest` everybody.", `"Clerk"`},
			{"permlevel", Int, "The level of fields it is about; 0 is the document.", `1`},
			{"if_owner", Check, "Only for documents that one owns.", `1`},
			{"condition", Text, "The JSON of a list filter: only for documents that meet it.", `"[[\"owner\",\"=\",\"$user\"]]"`},
		}
		for _, right := range RightNames() {
			all = append(all, Property{right, Check, "The right to " + right + ".", `1`})
		}
		return all
	}()
)

// JSONSchema is the JSON Schema (draft 2020-12) of a DocType as it is written down.
// Other keys are tolerated: clients of other servers send them.
func JSONSchema() map[string]any {
	names := []string{}
	for _, t := range FieldTypes() {
		names = append(names, t.Name)
	}
	field := schemaOf(FieldProperties)
	field["required"] = []string{"fieldtype"}
	field["properties"].(map[string]any)["fieldtype"].(map[string]any)["enum"] = names
	rule := schemaOf(RuleProperties)
	rule["required"] = []string{"role"}
	whole := schemaOf(DocTypeProperties)
	whole["$schema"], whole["title"], whole["required"] = "https://json-schema.org/draft/2020-12/schema", "DocType", []string{"name"}
	properties := whole["properties"].(map[string]any)
	properties["$schema"] = map[string]any{"type": "string", "description": "Where this schema is, for an editor."}
	properties["fields"].(map[string]any)["items"] = field
	properties["permissions"].(map[string]any)["items"] = rule
	return whole
}

func schemaOf(all []Property) map[string]any {
	properties := map[string]any{}
	for _, p := range all {
		s := (&FieldType{Kind: p.Kind}).jsonSchema()
		s["description"] = p.Description
		properties[p.Name] = s
	}
	return map[string]any{"type": "object", "properties": properties}
}
