package hostapi

import (
	"context"

	"armature/runtime/abi"
)

// configGet reads a key of the plugin's configuration on this site.
func configGet(ctx context.Context, st *State, dst, request []byte) ([]byte, error) {
	var in struct {
		Key string `json:"key"`
	}
	if err := decode(abi.ConfigGet, request, &in); err != nil {
		return nil, err
	}
	if err := need(abi.ConfigGet, "key", in.Key); err != nil {
		return nil, err
	}
	if st.plugin.Config == nil {
		return append(dst, "null"...), nil
	}
	value, err := st.plugin.Config(ctx, in.Key)
	switch {
	case err != nil:
		return nil, err
	case len(value) == 0:
		return append(dst, "null"...), nil
	}
	return append(dst, value...), nil
}
