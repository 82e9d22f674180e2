package hostapi

import (
	"context"
	"encoding/json"

	"armature/core/fault"
	"armature/core/method"
	"armature/runtime/abi"
)

// methodCall runs another method for the same caller in the same transaction.
// core/method applies all its rules again and undoes what a failed one wrote.
func methodCall(ctx context.Context, st *State, dst, request []byte) ([]byte, error) {
	var in struct {
		Method string          `json:"method"`
		Args   json.RawMessage `json:"args"`
	}
	if err := decode(abi.MethodCall, request, &in); err != nil {
		return nil, err
	}
	if err := need(abi.MethodCall, "method", in.Method); err != nil {
		return nil, err
	}
	if string(in.Args) == "null" {
		in.Args = nil
	}
	args, err := method.ArgsJSON(in.Args)
	if err != nil {
		return nil, err
	}
	if st.call.Methods == nil {
		return nil, fault.New(fault.Unavailable, "", "This call reaches no methods")
	}
	st.begin() // what it wrote is undone by itself if it fails
	res, err := st.call.Methods.Nested(ctx, st.call, st.framed(), in.Method, args)
	if err != nil {
		return nil, err
	}
	if res.Message == nil {
		return append(dst, "null"...), nil
	}
	return append(dst, res.Message...), nil
}
