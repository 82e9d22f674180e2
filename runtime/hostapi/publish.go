package hostapi

import (
	"bytes"
	"context"
	"encoding/json"

	"armature/core/fault"
	"armature/core/method"
	"armature/runtime/abi"
)

// maxPublished is how long what is published may be, in bytes of JSON.
const maxPublished = 64 << 10

// publish tells those who follow a method of the plugin something, once the
// transaction has committed. core/method applies the rules of whose method it is.
func publish(ctx context.Context, st *State, dst, request []byte) ([]byte, error) {
	var in struct {
		Topic string          `json:"topic"`
		Data  json.RawMessage `json:"data"`
		User  string          `json:"user"`
	}
	if err := decode(abi.Publish, request, &in); err != nil {
		return nil, err
	}
	if err := need(abi.Publish, "topic", in.Topic); err != nil {
		return nil, err
	}
	var data bytes.Buffer
	if len(in.Data) == 0 {
		in.Data = []byte("null")
	}
	if err := json.Compact(&data, in.Data); err != nil { // one line, as an event is
		return nil, fault.New(fault.BadRequest, "", "%s: data is no JSON", abi.Publish)
	}
	if data.Len() > maxPublished {
		return nil, fault.Invalid("", "%s: data has over %d bytes", abi.Publish, maxPublished)
	}
	if st.call.Methods == nil {
		return nil, missing(abi.Publish)
	}
	if !method.Reads(st.call.Verb) {
		st.begin()
	}
	if err := st.call.Methods.Publish(ctx, st.call, st.plugin.Name, in.Topic, in.User, data.Bytes()); err != nil {
		return nil, err
	}
	return append(dst, "null"...), nil
}
