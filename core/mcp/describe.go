package mcp

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"armature/core/access"
	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/method"
	"armature/core/query"
)

type object = map[string]any

func (s *Service) describe(ctx context.Context, c *call, args method.Args) (*result, error) {
	var v object
	var err error
	switch {
	case args.Text("doctype") != "":
		v, err = s.describeDocType(ctx, c.route.Caller, args.Text("doctype"))
	case args.Text("method") != "":
		v, err = s.describeMethod(c.route.Caller, args.Text("method"))
	case args.Text("list") == "methods":
		v = s.describeMethods(c.route.Caller, args.Text("text"))
	case args.Text("list") == "doctypes" || args.Text("list") == "":
		v = s.describeDocTypes(c.route.Caller, args.Text("text"))
	default:
		err = fault.Invalid("TypeError", "list is doctypes or methods")
	}
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(v)
	return &result{raw: raw}, err
}

func has(name, text string) bool {
	return text == "" || strings.Contains(strings.ToLower(name), strings.ToLower(text))
}

// describeDocTypes lists the DocTypes that the caller may read, or make documents of.
func (s *Service) describeDocTypes(caller *identity.Caller, text string) object {
	var names []string
	rights := map[string][]string{}
	for dt := range s.c.Documents.Schema().All {
		if dt.Child || !has(dt.Name, text) {
			continue
		}
		if may := rightsOn(caller, dt); len(may) > 0 {
			names, rights[dt.Name] = append(names, dt.Name), may
		}
	}
	slices.Sort(names)
	all := make([]object, len(names))
	for i, name := range names {
		all[i] = object{"doctype": name, "rights": strings.Join(rights[name], " ")}
	}
	return object{"doctypes": all}
}

func rightsOn(caller *identity.Caller, dt *doctype.DocType) (may []string) {
	for _, right := range []struct {
		name  string
		right access.Right
		has   bool
	}{
		{"read", access.Read, true}, {"write", access.Write, true}, {"create", access.Create, !dt.Single}, {"delete", access.Delete, !dt.Single},
		{"submit", access.Submit, dt.Submittable}, {"cancel", access.Cancel, dt.Submittable},
	} {
		if right.has && access.Reaches(caller, dt, right.right) {
			may = append(may, right.name)
		}
	}
	return may
}

// describeDocType tells what documents of a DocType are made of. Errors: those of a
// list of it.
func (s *Service) describeDocType(ctx context.Context, caller *identity.Caller, name string) (object, error) {
	docs := s.c.Documents
	if err := docs.Freshen(ctx, name, nil); err != nil {
		return nil, err
	}
	dt := docs.Schema().DocType(name)
	if dt == nil || !access.Reaches(caller, dt, access.Read) && !access.Reaches(caller, dt, access.Create) {
		err := s.c.Store.Read(ctx, func(tx document.Tx) error {
			_, err := docs.As(caller, tx).Count(ctx, name, &query.Query{})
			return err
		})
		if err != nil || dt == nil {
			return nil, err
		}
	}
	levels := access.LevelsFor(dt.Permissions, caller, access.Read) | access.LevelsFor(dt.Permissions, caller, access.Write) | 1
	v := object{"doctype": dt.Name, "rights": rightsOn(caller, dt), "fields": fields(dt, levels)}
	tables := object{}
	for _, f := range dt.Tables {
		if child := docs.Schema().DocType(f.Options); child != nil && levels.Has(f.PermLevel) {
			tables[child.Name] = fields(child, levels)
		}
	}
	if len(tables) > 0 {
		v["tables"] = tables
	}
	for key, on := range map[string]bool{"single": dt.Single, "submittable": dt.Submittable, "tree": dt.Tree, "rename": dt.AllowRename} {
		if on {
			v[key] = true
		}
	}
	if dt.Autoname != "" {
		v["named_by"] = dt.Autoname
	}
	if dt.TitleField != "" {
		v["title_field"] = dt.TitleField
	}
	return v, nil
}

// fields are those of the levels, as far as they hold a value.
func fields(dt *doctype.DocType, levels access.Levels) []object {
	var all []object
	for _, f := range dt.Fields {
		if f.Standard || f.Kind == doctype.NoValue || f.IsInternal() || !levels.Has(f.PermLevel) {
			continue
		}
		one := object{"field": f.Name, "type": f.Type}
		if f.Label != "" && !strings.EqualFold(f.Label, strings.ReplaceAll(f.Name, "_", " ")) {
			one["label"] = f.Label
		}
		switch {
		case f.IsLink():
			one["link_to"] = f.Options
		case f.Kind == doctype.Rows:
			one["table"] = f.Options
		case f.HasChoices():
			one["one_of"] = f.SelectOptions()
		case f.Options != "":
			one["options"] = f.Options
		}
		for key, on := range map[string]bool{"required": f.Required, "read_only": f.ReadOnly || f.Virtual, "unique": f.Unique, "set_only_once": f.SetOnlyOnce} {
			if on {
				one[key] = true
			}
		}
		if f.Default != "" {
			one["default"] = f.Default
		}
		all = append(all, one)
	}
	return all
}

// describeMethods lists the methods that the caller may call.
func (s *Service) describeMethods(caller *identity.Caller, text string) object {
	all := []object{}
	for _, m := range s.c.Methods().Callable(caller) {
		if !has(m.Path, text) && !has(m.Description, text) {
			continue
		}
		one := object{"method": m.Path}
		if m.Description != "" {
			one["about"] = m.Description
		}
		if onlyReads(m) {
			one["reads"] = true
		}
		all = append(all, one)
	}
	return object{"methods": all}
}

// onlyReads reports whether a method may be called with GET alone.
func onlyReads(m *method.Method) bool {
	return len(m.Verbs) > 0 && !slices.ContainsFunc(m.Verbs, func(verb string) bool { return verb != http.MethodGet && verb != http.MethodHead })
}

// callable is a method that the caller may call; nil: there is none of that path.
func (s *Service) callable(caller *identity.Caller, path string) *method.Method {
	path = s.c.Methods().Canonical(path)
	for _, m := range s.c.Methods().Callable(caller) {
		if m.Path == path {
			return m
		}
	}
	return nil
}

func (s *Service) describeMethod(caller *identity.Caller, path string) (object, error) {
	m := s.callable(caller, path)
	if m == nil {
		// Why it may not be called says whoever would refuse the call.
		if err := s.c.Methods().Admits(path, http.MethodPost, caller); err != nil {
			return nil, err
		}
		return nil, fault.Missing("There is no method %s", path)
	}
	v := object{"method": m.Path, "verbs": m.Verbs}
	if m.Verbs == nil {
		v["verbs"] = []string{"GET", "POST", "PUT", "DELETE"}
	}
	if m.Description != "" {
		v["about"] = m.Description
	}
	if m.ArgsSchema != nil {
		v["arguments"] = m.ArgsSchema
	}
	if m.ResultSchema != nil {
		v["result"] = m.ResultSchema
	}
	return v, nil
}
