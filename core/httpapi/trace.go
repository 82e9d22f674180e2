package httpapi

import (
	"strings"

	"armature/core/doctype"
	"armature/core/fault"
)

// generalMessage is all that is told of an error nobody foresaw.
const generalMessage = "Something went wrong on the server"

// mayTrace reports whether the caller may see what happened inside.
func (x *exchange) mayTrace() bool {
	return x.site != nil && !x.site.HideTraces && x.caller.Desk && !x.caller.IsGuest()
}

// appendTrace appends the keys exception and exc where this caller gets them: on
// methods always, as type and message without frames for those who may not see
// traces; elsewhere only for those who may, and never for what does not exist.
func (x *exchange) appendTrace(dst []byte, e *fault.Error) []byte {
	full := x.mayTrace() && !e.Quiet
	switch x.route.kind {
	case command:
	case collection, single:
		if !full || e.Kind == fault.NotFound {
			return dst
		}
	default:
		return dst
	}
	text := e.ExcType() + ": " + messageOf(e)
	if full {
		dst = append(dst, `,"exception":`...)
		dst = doctype.AppendString(dst, qualified(text))
		text = x.traceback(e, text)
	}
	dst = append(dst, `,"exc":`...)
	return doctype.AppendString(dst, string(appendStrings(nil, []string{text})))
}

// traceback writes an error the way clients print one: what ran, the guest's
// frames with the innermost last, the error.
func (x *exchange) traceback(e *fault.Error, text string) string {
	var b strings.Builder
	b.WriteString("Traceback (most recent call last):\n  in ")
	if x.path != "" {
		b.WriteString(x.path)
	} else {
		b.WriteString(x.r.Method + " " + x.r.URL.Path)
	}
	b.WriteByte('\n')
	for i := len(e.Trace) - 1; i >= 0; i-- {
		b.WriteString("  " + e.Trace[i] + "\n")
	}
	b.WriteString(qualified(text))
	return b.String()
}

// qualified puts the module before the type, unless the type names one itself.
func qualified(text string) string {
	if class, _, _ := strings.Cut(text, ":"); strings.Contains(class, ".") {
		return text
	}
	return "framework.exceptions." + text
}

func messageOf(e *fault.Error) string {
	if e.Kind == fault.Internal {
		return generalMessage
	}
	return e.Message
}

// appendStrings appends a JSON array of strings.
func appendStrings(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = doctype.AppendString(dst, s)
	}
	return append(dst, ']')
}
