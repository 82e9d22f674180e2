package engine

import (
	"context"
	"time"

	"armature/runtime/engine/internal/call"
)

// Call runs one exported function from the module's initial state. Except for
// a misuse of Call itself, the error is an *Error.
func (m *Module) Call(ctx context.Context, c *Call) (usage Usage, err error) {
	x, ok := m.Export(c.Export)
	if !ok || !x.Callable() {
		return usage, &Error{Reason: BadExport, Export: c.Export, Detail: "the module has no callable function of this name"}
	}
	refused := call.Begin(ctx, c, &m.subject)
	fresh, pages := false, 0
	defer func() {
		usage = call.End(c)
		usage.Fresh, usage.ResetPages = fresh, pages
	}()
	if refused != nil {
		return usage, refused
	}
	in, prepaid, err := m.acquire(ctx, c, &fresh)
	if err != nil {
		return usage, call.Unstarted(c, err)
	}
	failed := call.Serve(c, in.Instance, prepaid, len(x.Results) > 0)
	pages = m.giveBack(in, call.Started(c), failed != nil && failed.Reason == HostPanic)
	if failed != nil {
		return usage, failed
	}
	return usage, nil
}

// acquire takes an idle instance or makes one, for which c then has paid some fuel.
func (m *Module) acquire(ctx context.Context, c *Call, fresh *bool) (in *resident, prepaid uint64, err error) {
	in, ok := m.pool.get()
	if !ok {
		return nil, 0, ErrClosed
	}
	if in != nil {
		return in, 0, nil
	}
	*fresh = true
	if m.snapshot != nil {
		in, err = m.newInstance(ctx)
	} else {
		in, prepaid, err = m.newInitialised(ctx, call.WarmFor(c))
	}
	if err != nil {
		m.pool.gone()
	}
	return in, prepaid, err
}

// giveBack resets an instance for the next call, and returns how many pages that took.
// One that cannot be reset, or whose state is in doubt, is closed.
func (m *Module) giveBack(in *resident, now time.Time, doubtful bool) (pages int) {
	if in.Snapshot() == nil || doubtful {
		m.drop(in)
		return 0
	}
	pages, ok, err := in.Reset()
	if err != nil {
		m.common.cfg.Logger.Error("reset an instance", "module", m.Hash(), "err", err)
	}
	if err != nil || !ok || !in.keep() || !m.pool.put(in, now) { // near enough, and one reading of the clock less
		m.drop(in)
	}
	return pages
}
