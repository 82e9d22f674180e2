package auth

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"armature/core/doctype"
	"armature/core/document"
)

// audit records what a change of a document means for who may do what. It names
// documents, users, roles and rights, and no other value of a field.
func (h hooks) audit(ctx context.Context, ev *document.Event) error {
	var act Activity
	switch ev.Doc.Type.Name {
	case "User":
		if err := h.rolesChanged(ctx, ev); err != nil {
			return err
		}
		act = userActivity(ev)
	case "Role":
		act = Activity{Operation: "Roles", Subject: "Role " + ev.Doc.Name() + " was " + done(ev), User: ev.Caller.User}
	case "User Permission":
		doc := ev.Doc
		act = Activity{
			Operation: "Permissions", User: doc.Text("user"),
			Subject: "User Permission of " + doc.Text("user") + " for " + doc.Text("allow") + " " + doc.Text("for_value") + " was " + done(ev),
		}
	case "DocShare":
		act = shareActivity(ev)
	case doctype.DocTypeName:
		act = permissionActivity(ev)
	case pluginName:
		for _, act := range pluginActivity(ev) {
			if err := h.s.Record(ctx, ev.Tx, act.Did(ev.Caller)); err != nil {
				return err
			}
		}
		return nil
	}
	if act.Operation == "" {
		return nil
	}
	return h.s.Record(ctx, ev.Tx, act.Did(ev.Caller))
}

// done is the word for what an event has done to its document.
func done(ev *document.Event) string {
	switch {
	case ev.Name == document.AfterDelete:
		return "deleted"
	case ev.Name == document.AfterRename:
		return "renamed"
	case ev.Before == nil:
		return "made"
	}
	return "changed"
}

// userActivity is a user who has come, gone, been let in or shut out.
func userActivity(ev *document.Event) Activity {
	word := done(ev)
	if word == "changed" {
		if ev.Before.Bool("enabled") == ev.Doc.Bool("enabled") {
			return Activity{}
		}
		word = "disabled"
		if ev.Doc.Bool("enabled") {
			word = "enabled"
		}
	}
	return Activity{Operation: "User", User: ev.Doc.Name(), Subject: "User " + ev.Doc.Name() + " was " + word}
}

// shareActivity is a document that has been shared, or is no longer.
func shareActivity(ev *document.Event) Activity {
	doc := ev.Doc
	with := doc.Text("user")
	if doc.Bool("everyone") {
		with = "everyone"
	}
	what := doc.Text("share_doctype") + " " + doc.Text("share_name")
	act := Activity{Operation: "Shares", User: doc.Text("user"), Subject: what + " is no longer shared with " + with}
	if ev.Name != document.AfterDelete {
		act.Subject = what + " is shared with " + with + ": " + ticked(doc, []string{"read", "write", "submit", "share"})
	}
	return act
}

// permissionActivity is a DocType whose permissions are others than before.
func permissionActivity(ev *document.Event) Activity {
	name := ev.Doc.Name()
	if ev.Name == document.AfterDelete {
		return Activity{Operation: "Permissions", User: ev.Caller.User, Subject: "DocType " + name + " was deleted"}
	}
	after, before := rulesOf(ev.Doc), []string(nil)
	if ev.Before != nil {
		before = rulesOf(ev.Before)
	}
	if slices.Equal(before, after) {
		return Activity{}
	}
	text := strings.Join(after, "; ")
	if text == "" {
		text = "none"
	}
	return Activity{Operation: "Permissions", User: ev.Caller.User, Subject: "Permissions of " + name + ": " + text}
}

// rulesOf is the permissions of a DocType in words, sorted: where two differ, so do
// their words.
func rulesOf(doc *doctype.Document) []string {
	var rules []string
	for _, row := range doc.Rows("permissions") {
		var rights []string
		for _, f := range row.Type.Fields {
			if f.Kind == doctype.Check {
				rights = append(rights, f.Name)
			}
		}
		rule := row.Text("role")
		if level := row.Int("permlevel"); level > 0 {
			rule += " level " + strconv.FormatInt(level, 10)
		}
		rules = append(rules, rule+" "+ticked(row, rights))
	}
	slices.Sort(rules)
	return rules
}

// ticked names those of the fields that are ticked.
func ticked(doc *doctype.Document, fields []string) string {
	var names []string
	for _, field := range fields {
		if doc.Bool(field) {
			names = append(names, field)
		}
	}
	return strings.Join(names, " ")
}

// rolesChanged records that a user has been given roles or lost some.
func (h hooks) rolesChanged(ctx context.Context, ev *document.Event) error {
	if ev.Name != document.OnUpdate {
		return nil
	}
	var before []string
	if ev.Before != nil {
		before = roleNames(ev.Before)
	}
	after := roleNames(ev.Doc)
	if slices.Equal(before, after) {
		return nil
	}
	return h.s.Record(ctx, ev.Tx, Activity{
		Operation: "Roles", User: ev.Doc.Name(),
		Subject: "Roles of " + ev.Doc.Name() + ": " + strings.Join(after, ", "),
	}.Did(ev.Caller))
}

// roleNames is the roles a user's document names, sorted.
func roleNames(user *doctype.Document) []string {
	var names []string
	for _, row := range user.Rows("roles") {
		names = append(names, row.Text("role"))
	}
	slices.Sort(names)
	return slices.Compact(names)
}
