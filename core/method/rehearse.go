package method

import (
	"context"

	"armature/core/document"
	"armature/core/fault"
)

// rehearses refuses, in a rehearsal, a method that does more than what a transaction
// undoes: the platform's own that are more than Ordinary. One that is called with a verb
// that reads leaves nothing behind by itself.
func (c *Call) rehearses(ctx context.Context) error {
	r := document.RehearsalOf(ctx)
	if r == nil || c.Method.Plugin != "" || c.Method.Tier <= Ordinary || Reads(c.Verb) {
		return nil
	}
	return refuseRehearsal(r, c.Method.Path)
}

func refuseRehearsal(r *document.Rehearsal, path string) error {
	r.Refuse("It calls " + path)
	return fault.New(fault.Unavailable, "", "%s cannot be tried out without being done", path)
}
