package hostapi

import (
	"context"

	"armature/core/fault"
	"armature/core/identity"
	"armature/runtime/abi"
)

// Connected makes one request with the token of a Connected App, which is
// attached on the host's side: the guest never sees it. asApp asks for the app's
// own token and not the caller's. Errors are those of Fetch, Permission for a
// caller or host the app is not for, and Validation with exc_type
// NotConnectedError or ConnectionBrokenError where there is no token to use.
type Connected func(ctx context.Context, caller *identity.Caller, app string, asApp bool, r *HTTPRequest) (*HTTPResponse, error)

// connectedRequest acts as the caller of the method, whatever rights documents
// are reached with: somebody else's account is no document.
func connectedRequest(ctx context.Context, st *State, dst, request []byte) ([]byte, error) {
	if st.plugin.Connected == nil {
		return nil, missing(abi.ConnectedRequest)
	}
	var in struct {
		outgoing
		App string `json:"app"`
		As  string `json:"as"`
	}
	if err := decode(abi.ConnectedRequest, request, &in); err != nil {
		return nil, err
	}
	if err := need(abi.ConnectedRequest, "app", in.App); err != nil {
		return nil, err
	}
	if in.As != "" && in.As != "user" && in.As != "app" {
		return nil, fault.New(fault.BadRequest, "", `%s: as is neither "user" nor "app"`, abi.ConnectedRequest)
	}
	return st.callOut(abi.ConnectedRequest, dst, &in.outgoing, func(r *HTTPRequest) (*HTTPResponse, error) {
		return st.plugin.Connected(ctx, st.call.Caller, in.App, in.As == "app", r)
	})
}
