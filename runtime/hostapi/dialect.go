package hostapi

import (
	"log/slog"

	"armature/core/fault"
	"armature/runtime/engine"
)

// What follows is for dialects: host functions of another shape than those of
// armature1, which do the same. Each bounds what it is handed as those do.

// Ask asks for a capability as the guest of the call does: under its grants and
// limits, and on its tape. The answer is valid until the next one. The error is one
// that the guest may know of; whatever it may not ends the call.
func Ask(c *engine.Call, name string, request []byte) ([]byte, *fault.Error) {
	st := of(c)
	if st == nil {
		return nil, fault.New(fault.Unavailable, "", "The plugin is being loaded: there is no call yet, and no site")
	}
	st.fits(c, name, uint64(len(request)))
	for _, cp := range operations {
		if cp.name != name {
			continue
		}
		if f := st.ask(c, cp, request); f != nil {
			return nil, f
		}
		st.taken = len(st.answer)
		return st.answer, nil
	}
	return nil, missing(name)
}

// Fits ends the call if a request for the capability has so many bytes that Ask
// would refuse it: for whoever makes it of something that is about as long.
func Fits(c *engine.Call, name string, length uint64) {
	if st := of(c); st != nil {
		st.fits(c, name, length)
	}
}

// Input is the input of the call, which must not be changed; nil while a guest
// initialises itself.
func Input(c *engine.Call) []byte {
	if st := of(c); st != nil {
		return st.input
	}
	return nil
}

// SetOutput sets the result of the call to a copy of b, as output does. More than
// the limit ends the call.
func SetOutput(c *engine.Call, b []byte) {
	if st := of(c); st != nil {
		st.bound(c, uint64(len(b)))
		st.output = append(st.output[:0], b...)
	}
}

// Throw ends the call with the error of that kind that text describes, as throw
// does. While a guest initialises itself it does nothing.
func Throw(c *engine.Call, kind int32, text []byte) {
	if of(c) != nil {
		end(c, kind, func() []byte { return text })
	}
}

// Log writes a line to the plugin's log, as log does, or to initialising while
// there is no call.
func Log(c *engine.Call, initialising *slog.Logger, level slog.Level, text []byte) {
	line(c, initialising, level, text)
}
