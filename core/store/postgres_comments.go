package store

import (
	"context"
	"net/url"
	"strings"

	"armature/core/trace"
)

// commented is a statement that says for whom it runs, in the form of sqlcommenter: at
// its end, by name, values as in a URL, in which neither a quote nor the end of the
// comment can stand. Such a text is another one for each request, so it is neither kept
// nor given a name; where nothing is known of the request it stays as it is.
func commented(ctx context.Context, st *statement) *statement {
	r, ok := trace.RequestOf(ctx)
	if !ok {
		return st
	}
	var b strings.Builder
	b.WriteString(st.text)
	b.WriteString(" /*action='" + url.QueryEscape(r.Action) + "',application='armature',request_id='" + url.QueryEscape(r.ID) + "'*/")
	return &statement{text: b.String(), dt: st.dt, cells: st.cells, list: st.list, planned: st.planned, fleeting: st.fleeting, passing: true}
}
