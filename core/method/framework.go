package method

import (
	"context"

	"armature/core/fault"
)

// Framework returns the methods that every site has: framework.*, and the short
// names without dots (reference section 4.2).
func Framework(version string) []*Method {
	ping := constant("pong")
	return append([]*Method{
		{Path: "ping", AllowGuest: true, AnyScope: true, Tier: Ordinary, Func: ping},
		{Path: "framework.ping", AllowGuest: true, AnyScope: true, Tier: Ordinary, Func: ping},
		{Path: "version", AllowGuest: true, AnyScope: true, Tier: Ordinary, Func: constant(version)},
		{Path: "framework.auth.get_logged_user", AllowGuest: true, AnyScope: true, Tier: Ordinary, Func: loggedUser},
		{Path: "framework.realtime.get_user_info", AllowGuest: true, AnyScope: true, Tier: Ordinary, Func: userInfo},
		{Path: "run_doc_method", AnyScope: true, Tier: Ordinary, Func: runDocMethod},
		{Path: "framework.desk.search.search_link", AnyScope: true, Tier: Ordinary, Func: searchLink},
	}, clientMethods()...)
}

func constant(value string) func(context.Context, *Call) (any, error) {
	return func(context.Context, *Call) (any, error) { return value, nil }
}

// userInfo says who the caller is, also when it is nobody.
func userInfo(_ context.Context, call *Call) (any, error) {
	return map[string]any{"user": call.Caller.User}, nil
}

// loggedUser admits Guest to refuse it in its own words: the method is for
// everyone who is somebody, whatever the scopes of the token.
func loggedUser(_ context.Context, call *Call) (any, error) {
	if call.Caller.IsGuest() {
		return nil, fault.Denied("Nobody is logged in")
	}
	return call.Caller.User, nil
}
