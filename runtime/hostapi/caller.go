package hostapi

import (
	"context"

	"armature/core/doctype"
)

// callerGet says who is acting.
func callerGet(_ context.Context, st *State, dst, _ []byte) ([]byte, error) {
	who := st.call.Caller
	dst = append(dst, `{"user":`...)
	dst = doctype.AppendString(dst, who.User)
	if who.FullName != "" {
		dst = append(dst, `,"full_name":`...)
		dst = doctype.AppendString(dst, who.FullName)
	}
	dst = append(dst, `,"roles":[`...)
	for i, role := range who.Roles {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = doctype.AppendString(dst, role)
	}
	return append(dst, "]}"...), nil
}
