package dispatch

import (
	"context"
	"encoding/json"

	"armature/core/method"
	"armature/plugins/manifest"
	"armature/plugins/schema"
)

// newMethod makes a method of the manifest callable.
func newMethod(g *guest, m manifest.Method) *method.Method {
	x, arguments := g.export(m.Path, m.Export), m.Arguments()
	x.manual = m.Tx == manifest.TxManual
	return &method.Method{
		Path: m.Path, Verbs: m.Verbs, AllowGuest: m.AllowGuest, Roles: m.Roles, Writes: m.Writes,
		Plugin: g.plugin.Name, Powerful: g.powerful,
		Description: m.Description, ArgsSchema: m.Args, ResultSchema: m.Result,
		Func: func(ctx context.Context, call *method.Call) (any, error) {
			input, err := input(&call.Args, arguments)
			if err == nil && x.foreign {
				input, err = extismInput(call, m.Input, input)
			}
			if err != nil {
				return nil, err
			}
			output, err := x.call(ctx, call, input)
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
	if texts := args.Texts(); texts != nil && declared.AdmitsTexts(texts) {
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
