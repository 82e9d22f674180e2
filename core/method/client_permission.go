package method

import (
	"context"

	"armature/core/access"
	"armature/core/doctype"
	"armature/core/fault"
	"armature/core/identity"
)

// right reads the argument that names a right; read when there is none.
func (a *Args) right() (access.Right, error) {
	for _, argument := range []string{"perm_type", "ptype"} {
		name := a.Text(argument)
		if name == "" {
			continue
		}
		right, ok := doctype.ParseRight(name)
		if !ok {
			return 0, fault.Invalid("", "There is no right called %s", name)
		}
		return right, nil
	}
	return access.Read, nil
}

// documentName reads the name of a document, which clients call by two names.
func (a *Args) documentName() string {
	if name := a.Text("docname"); name != "" {
		return name
	}
	return a.Text("name")
}

func clientHasPermission(ctx context.Context, call *Call) (any, error) {
	typeName, err := call.Args.Need("doctype")
	if err != nil {
		return nil, err
	}
	right, err := call.Args.right()
	if err != nil {
		return nil, err
	}
	x, err := call.Documents.As(call.Caller, call.Tx).Explain(ctx, typeName, call.Args.documentName(), right)
	if err != nil {
		return nil, err
	}
	return map[string]bool{"has_permission": x.Allowed}, nil
}

// clientExplain answers which rule allows or refuses a right on a DocType or on
// one document. A System Manager may ask about another user.
func clientExplain(ctx context.Context, call *Call) (any, error) {
	typeName, err := call.Args.Need("doctype")
	if err != nil {
		return nil, err
	}
	right, err := call.Args.right()
	if err != nil {
		return nil, err
	}
	caller, err := call.asked(ctx)
	if err != nil {
		return nil, err
	}
	return call.Documents.As(caller, call.Tx).Explain(ctx, typeName, call.Args.documentName(), right)
}

// asked is the user a question is about: the caller, or the argument user.
func (c *Call) asked(ctx context.Context) (*identity.Caller, error) {
	user := c.Args.Text("user")
	switch {
	case user == "" || user == c.Caller.User:
		return c.Caller, nil
	case !c.Caller.HasRole(identity.SystemManager):
		return nil, fault.Denied("Only a System Manager may ask about another user")
	case c.Methods.callers == nil:
		return nil, fault.New(fault.Unavailable, "", "The site answers only questions about the caller")
	}
	if _, err := c.Documents.As(c.Caller, c.Tx).Get(ctx, "User", user); err != nil {
		return nil, err
	}
	return c.Methods.callers(ctx, user)
}

// clientDocPermissions answers with every right of the caller on a document
// that the caller may read.
func clientDocPermissions(ctx context.Context, call *Call) (any, error) {
	typeName, err := call.Args.Need("doctype")
	if err != nil {
		return nil, err
	}
	name := call.Args.documentName()
	if name == "" {
		return nil, fault.Invalid("TypeError", "Missing required argument: docname")
	}
	rights, err := call.Documents.As(call.Caller, call.Tx).Rights(ctx, typeName, name)
	if err != nil {
		return nil, err
	}
	return map[string]any{"permissions": rights}, nil
}

func clientTimeZone(_ context.Context, call *Call) (any, error) {
	return map[string]any{"time_zone": call.Documents.Zone().String()}, nil
}
