package dispatch

import (
	"context"
	"encoding/json"
	"unicode/utf8"

	"armature/core/fault"
	"armature/core/method"
	"armature/plugins/manifest"
	"armature/runtime/hostapi"
)

// newMethod makes a method of the manifest callable.
func newMethod(g *guest, m manifest.Method) *method.Method {
	export := m.Export
	return &method.Method{
		Path: m.Path, Verbs: m.Verbs, AllowGuest: m.AllowGuest, Roles: m.Roles, Writes: m.Writes,
		Func: func(ctx context.Context, call *method.Call) (any, error) {
			input, err := call.Args.JSON()
			if err != nil {
				return nil, err
			}
			output, err := g.call(ctx, call, export, input)
			if err != nil || output == nil {
				return nil, err
			}
			return json.RawMessage(output), nil
		},
	}
}

// call runs an export for a call of a method and returns its output, which is
// nil or valid JSON.
func (g *guest) call(ctx context.Context, call *method.Call, export string, input []byte) ([]byte, error) {
	if limit := g.plugin.Limits.Input; len(input) > limit {
		return nil, fault.New(fault.TooLarge, "", "The arguments are over %d bytes, the limit of %s", limit, g.plugin.Name)
	}
	st := hostapi.New(&g.plugin, call, input)
	_, err := st.Run(ctx, g.module, export, g.limits)
	output := st.Output()
	st.Free()
	if err != nil {
		return nil, failure(err)
	}
	if output != nil && (!utf8.Valid(output) || !json.Valid(output)) {
		return nil, fault.New(fault.Trap, "", "%s: the output is not JSON", export)
	}
	return output, nil
}
