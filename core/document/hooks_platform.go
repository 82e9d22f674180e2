package document

import "context"

// Platform makes hooks of the platform leave alone the documents of a DocType that
// a site has made itself under a name the platform uses.
func Platform(h Hooks) Hooks { return platformHooks{h} }

type platformHooks struct{ Hooks }

func (h platformHooks) Run(ctx context.Context, ev *Event) error {
	if ev.Doc.Type.Custom {
		return nil
	}
	return h.Hooks.Run(ctx, ev)
}
