package doctype

// DefinitionOf reads a definition out of a DocType document.
func DefinitionOf(doc *Document) Definition {
	def := Definition{
		Name: doc.Name(), Module: doc.Text("module"), Table: doc.Text("table_name"),
		Autoname: doc.Text("autoname"), TitleField: doc.Text("title_field"),
		Search: doc.Text("search_fields"), SortField: doc.Text("sort_field"), SortOrder: doc.Text("sort_order"),
		Owners: doc.Text("owner_fields"), Public: doc.Text("public_field"),
		Child: doc.Int("istable"), Single: doc.Int("issingle"), Submittable: doc.Int("is_submittable"),
		Tree: doc.Int("is_tree"), Custom: doc.Int("custom"), AllowRename: doc.Int("allow_rename"),
		Track: doc.Int("track_changes"),
	}
	for _, r := range doc.Rows("fields") {
		def.Fields = append(def.Fields, FieldDefinition{
			Name: r.Text("fieldname"), Label: r.Text("label"), Type: r.Text("fieldtype"),
			Options: r.Text("options"), Default: r.Text("default"), Column: r.Text("column_name"),
			FetchFrom: r.Text("fetch_from"), Length: r.Int("length"), Precision: r.Text("precision"),
			PermLevel: r.Int("permlevel"), Required: r.Int("reqd"), Unique: r.Int("unique"),
			Indexed: r.Int("search_index"), ReadOnly: r.Int("read_only"), Hidden: r.Int("hidden"),
			SetOnlyOnce: r.Int("set_only_once"), NonNegative: r.Int("non_negative"),
			NotNullable: r.Int("not_nullable"), Virtual: r.Int("is_virtual"),
			AllowOnSubmit: r.Int("allow_on_submit"), IgnoreUserPermissions: r.Int("ignore_user_permissions"),
			IgnoreXSSFilter: r.Int("ignore_xss_filter"), FetchIfEmpty: r.Int("fetch_if_empty"),
		})
	}
	for _, r := range doc.Rows("permissions") {
		rule := RuleDefinition{
			Role: r.Text("role"), PermLevel: r.Int("permlevel"), IfOwner: r.Int("if_owner"),
			Condition: r.Text("condition"), Rights: map[string]bool{},
		}
		for _, right := range RightNames() {
			if r.Bool(right) {
				rule.Rights[right] = true
			}
		}
		def.Permissions = append(def.Permissions, rule)
	}
	return def
}

// The DocTypes in which DocTypes are stored.
const (
	DocTypeName  = "DocType"
	DocFieldName = "DocField"
	DocPermName  = "DocPerm"
)
