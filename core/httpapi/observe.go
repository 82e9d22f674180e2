package httpapi

import (
	"context"
	"fmt"
	"time"

	"armature/core/doctype"
)

// statements are those a list executed, for debug=True.
type statements struct {
	texts []string
	spent time.Duration
}

// observe makes a context in which the executed statements are noted, when the
// caller asks for it and may see traces.
func (x *exchange) observe(asked bool) (context.Context, *statements) {
	if !asked || x.site.Observe == nil || !x.mayTrace() {
		return x.ctx, nil
	}
	seen := &statements{}
	return x.site.Observe(x.ctx, func(sql string, _ []any, d time.Duration) {
		seen.texts = append(seen.texts, sql)
		seen.spent += d
	}), seen
}

// append adds the key exc to an answer: the statements and the time they took,
// in the form errors have (SPEC: debug).
func (s *statements) append(dst []byte) []byte {
	if s == nil {
		return dst
	}
	lines := append(s.texts, fmt.Sprintf("Execution time: %.6f sec", s.spent.Seconds()))
	dst = append(dst, `,"exc":`...)
	return doctype.AppendString(dst, string(appendStrings(nil, lines)))
}
