package httpapi

import (
	"errors"
	"log/slog"
	"net/http"

	"armature/core/doctype"
	"armature/core/fault"
)

// fail answers with an error. This is the only place where errors become HTTP.
func (x *exchange) fail(err error) {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		err = tooLarge(large.Limit)
	}
	e := fault.From(err)
	x.logFailure(e, err)
	if x.w.begun() {
		// What was sent cannot be taken back; breaking the connection tells the
		// client that the answer is not whole.
		panic(http.ErrAbortHandler)
	}
	x.setErrorHeaders(e)
	x.hearOut(e)
	if x.raw != nil && x.raw.Fail != nil && x.raw.Fail(&x.w, x.request(), e) {
		return
	}
	if x.app != nil {
		x.app.Guard(x.w.Header())
	}
	if !x.route.api() && wantsHTML(x.r) {
		x.sendErrorPage(e)
		return
	}
	buf := newBuffer()
	defer buf.free()
	buf.b = x.appendError(buf.b, e)
	_ = x.sendJSON(e.Status(), buf.b)
}

// appendError appends the body of an error (reference section 3.2): what happened, in
// exc_type and as one plain message, and where that may be shown the guest's trace.
// The same message stands in _server_messages for clients that only look there.
func (x *exchange) appendError(dst []byte, e *fault.Error) []byte {
	dst = append(dst, `{"exc_type":`...)
	dst = doctype.AppendString(dst, e.ExcType())
	dst = append(dst, `,"message":`...)
	dst = doctype.AppendString(dst, x.told(e))
	if x.caller.IsGuest() && unexpected(e.Kind) {
		return append(dst, '}')
	}
	dst = x.appendTrace(dst, e)
	if e.Kind == fault.Internal || e.Message == "" {
		return append(dst, '}')
	}
	dst = append(dst, ',')
	dst = raised{e.Message, e.Title}.append(dst)
	if e.Kind == fault.Permission {
		dst = append(dst, `,"_error_message":`...)
		dst = doctype.AppendString(dst, e.Message)
	}
	return append(dst, '}')
}

// unexpected reports whether errors of a kind are nobody's intention: of them a
// Guest learns the type and nothing else, neither which plugin died nor of what.
func unexpected(kind fault.Kind) bool {
	return kind == fault.Internal || kind == fault.Trap || kind == fault.Exhausted
}

// setErrorHeaders adds what clients need to know beside the body.
func (x *exchange) setErrorHeaders(e *fault.Error) {
	h := x.w.Header()
	switch e.Kind {
	case fault.Authentication:
		if h.Get("Www-Authenticate") == "" {
			h.Set("Www-Authenticate", x.challenge())
		}
		x.clearSession()
	case fault.Permission:
		var scoped interface{ NeededScope() string }
		if errors.As(e, &scoped) {
			h.Set("Www-Authenticate", insufficientScope(scoped.NeededScope()))
		}
	case fault.TooManyRequests, fault.Unavailable:
		var limited interface{ SetHeaders(http.Header) }
		if errors.As(e, &limited) {
			limited.SetHeaders(h)
		}
	case fault.TooLarge:
		// The rest of the body is not read.
		h.Set("Connection", "close")
	}
}

// logFailure notes the cause of a failure that is the server's, with the id the
// client was given. Refusals are not failures: the access log has their status.
func (x *exchange) logFailure(e *fault.Error, err error) {
	if x.w.begun() && x.ctx.Err() != nil {
		return // the client left in the middle of the answer
	}
	level := slog.LevelError
	switch e.Kind {
	case fault.Internal:
	case fault.Trap, fault.Exhausted, fault.Timeout, fault.Unavailable:
		level = slog.LevelWarn
	default:
		return
	}
	x.server.log.LogAttrs(x.ctx, level, "request failed",
		slog.String("id", x.id), slog.String("site", x.siteName()), slog.String("user", x.caller.User),
		slog.String("method", x.r.Method), slog.String("path", x.loggedPath()), slog.String("error", err.Error()))
}
