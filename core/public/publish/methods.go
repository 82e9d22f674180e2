package publish

import (
	"context"
	"net/http"

	"armature/core/fault"
	"armature/core/identity"
	"armature/core/method"
)

const prefix = "framework.frontend."

// Methods are framework.frontend.*, for System Managers. Who publishes a page has it act
// as whoever opens it, so that no wildcard of a token or a plugin covers them, and no
// plugin calls them for somebody.
func (v *Versions) Methods() []*method.Method {
	post := []string{http.MethodPost}
	return []*method.Method{
		managing("publish", "Make the files of a ZIP archive, the part file of a multipart body, what the site serves at /", post, v.callPublish),
		managing("rollback", "Have the version of the frontend served that was before this one, and list those that are left, the one that is served last", post,
			func(ctx context.Context, _ *method.Call) (any, error) { return v.Rollback(ctx) }),
		managing("versions", "List the versions of the frontend that were published, the one that is served last", nil,
			func(context.Context, *method.Call) (any, error) { return v.List() }),
	}
}

func managing(name, description string, verbs []string, fn func(context.Context, *method.Call) (any, error)) *method.Method {
	return &method.Method{
		Path: prefix + name, Description: description, Verbs: verbs, Roles: []string{identity.SystemManager}, Tier: method.Credentials,
		Func: func(ctx context.Context, call *method.Call) (any, error) {
			if call.Parent != nil {
				return nil, fault.Denied("Frontends are published by people, not by plugins")
			}
			return fn(ctx, call)
		},
	}
}

func (v *Versions) callPublish(ctx context.Context, call *method.Call) (any, error) {
	archive, ok := call.Args.Get("file").([]byte)
	if !ok {
		return nil, fault.Invalid("", "Send the frontend as a ZIP archive, the part file of a multipart body")
	}
	return v.Publish(ctx, archive, call.Caller.User)
}

// Upload satisfies file.Uploads: how large an archive may be.
func (v *Versions) Upload(path string) int64 {
	if path == prefix+"publish" {
		return MaxArchive
	}
	return 0
}
