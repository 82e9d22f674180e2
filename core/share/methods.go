package share

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"armature/core/access"
	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/method"
)

// Methods are framework.share.*.
func (s *Service) Methods() []*method.Method {
	changes := []string{http.MethodPost, http.MethodPut}
	return []*method.Method{
		{Path: "framework.share.add", Tier: method.Named, Verbs: changes, Writes: true, Func: s.addMethod},
		{Path: "framework.share.set_permission", Tier: method.Named, Verbs: changes, Writes: true, Func: s.giveMethod},
		{Path: "framework.share.remove", Tier: method.Named, Verbs: append(changes, http.MethodDelete), Writes: true, Func: s.removeMethod},
		{Path: "framework.share.get_users", Tier: method.Named, Func: s.usersMethod},
	}
}

// shared reads what every one of the methods is told.
func shared(call *method.Call) (typeName, name string, with With, err error) {
	if typeName, err = call.Args.Need("doctype"); err != nil {
		return
	}
	if name, err = call.Args.Need("name"); err != nil {
		return
	}
	with.Everyone, err = toggle(call, "everyone", false)
	if !with.Everyone {
		with.User = strings.TrimSpace(call.Args.Text("user"))
	}
	return
}

// toggle reads an argument that is on or off.
func toggle(call *method.Call, name string, without bool) (bool, error) {
	v := call.Args.Get(name)
	if v == nil || v == "" {
		return without, nil
	}
	switch v := v.(type) {
	case bool:
		return v, nil
	case string, json.Number:
		switch strings.ToLower(strings.TrimSpace(call.Args.Text(name))) {
		case "1", "true":
			return true, nil
		case "0", "false":
			return false, nil
		}
	}
	return false, fault.Invalid("DataError", "%s must be 1 or 0", name)
}

func (s *Service) addMethod(ctx context.Context, call *method.Call) (any, error) {
	typeName, name, with, err := shared(call)
	if err != nil {
		return nil, err
	}
	var rights access.Right
	for _, right := range []access.Right{access.Read, access.Write, access.Submit, access.Share} {
		on, err := toggle(call, right.String(), right == access.Read)
		if err != nil {
			return nil, err
		}
		if on {
			rights |= right
		}
	}
	doc, err := s.Add(ctx, call.Tx, call.Caller, typeName, name, with, rights)
	return shownShare(doc, err)
}

func (s *Service) giveMethod(ctx context.Context, call *method.Call) (any, error) {
	typeName, name, with, err := shared(call)
	if err != nil {
		return nil, err
	}
	to, err := call.Args.Need("permission_to")
	if err != nil {
		return nil, err
	}
	right, ok := doctype.ParseRight(to)
	if !ok {
		return nil, fault.Invalid("", "There is no right called %s", to)
	}
	on, err := toggle(call, "value", true)
	if err != nil {
		return nil, err
	}
	doc, err := s.Give(ctx, call.Tx, call.Caller, typeName, name, with, right, on)
	return shownShare(doc, err)
}

// shownShare is a share as whoever gave it sees it, who need not have a right on
// DocShare.
func shownShare(doc *doctype.Document, err error) (any, error) {
	if doc == nil || err != nil {
		return nil, err
	}
	return json.RawMessage(doc.AppendJSON(nil, doctype.View{Levels: 1})), nil
}

func (s *Service) removeMethod(ctx context.Context, call *method.Call) (any, error) {
	typeName, name, with, err := shared(call)
	if err != nil {
		return nil, err
	}
	return nil, s.Remove(ctx, call.Tx, call.Caller, typeName, name, with)
}

func (s *Service) usersMethod(ctx context.Context, call *method.Call) (any, error) {
	typeName, name, _, err := shared(call)
	if err != nil {
		return nil, err
	}
	docs, err := s.Users(ctx, call.Tx, call.Caller, typeName, name)
	if err != nil {
		return nil, err
	}
	rows := make([]map[string]any, len(docs))
	for i, doc := range docs {
		rows[i] = map[string]any{}
		for _, field := range []string{"name", "user", "everyone", "read", "write", "submit", "share", "owner", "creation"} {
			rows[i][field] = doc.Get(field)
		}
	}
	return rows, nil
}
