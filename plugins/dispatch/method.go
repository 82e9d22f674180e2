package dispatch

import (
	"context"
	"encoding/json"
	"unicode/utf8"

	"armature/core/fault"
	"armature/core/method"
	"armature/plugins/manifest"
	"armature/plugins/schema"
	"armature/runtime/hostapi"
)

// newMethod makes a method of the manifest callable.
func newMethod(g *guest, m manifest.Method) *method.Method {
	export, arguments := m.Export, m.Arguments()
	return &method.Method{
		Path: m.Path, Verbs: m.Verbs, AllowGuest: m.AllowGuest, Roles: m.Roles, Writes: m.Writes,
		Description: m.Description, ArgsSchema: m.Args, ResultSchema: m.Result,
		Func: func(ctx context.Context, call *method.Call) (any, error) {
			input, err := input(&call.Args, arguments)
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

// input is the text of the arguments, once they are what the manifest declares.
// Arguments about which it declares nothing are never decoded.
func input(args *method.Args, declared *schema.Schema) ([]byte, error) {
	if declared == nil {
		return args.JSON()
	}
	values, converted := declared.Convert(args.Map())
	if err := declared.Check(values); err != nil {
		return nil, err
	}
	if converted {
		*args = method.ArgsMap(values)
	}
	return args.JSON()
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
