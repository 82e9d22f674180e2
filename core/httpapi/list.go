package httpapi

import (
	"net/http"

	"armature/core/document"
	"armature/core/query"
)

// list answers GET /api/resource/:doctype. Rows go from the store into the
// answer as bytes.
func (x *exchange) list() error {
	if err := x.readArguments(); err != nil {
		return err
	}
	q, err := query.Parse(x.args.Get)
	if err != nil {
		return err
	}
	if x.heavyList(q) {
		if err := x.heavy(); err != nil {
			return err
		}
	}
	ctx, seen := x.observe(q.Debug)
	if !q.Debug { // which shows the statements of one run
		ctx = document.WithReplica(ctx)
	}
	buf := newBuffer()
	defer buf.free()
	err = x.look(ctx, q.Debug || len(q.Expand) > 0, func(tx document.Tx) (err error) {
		buf.b = append(buf.b[:0], `{"data":`...)
		buf.b, err = x.site.Documents.As(x.caller, tx).AppendList(ctx, buf.b, x.route.doctype, q)
		return err
	})
	if err != nil {
		return err
	}
	buf.b = seen.append(buf.b)
	buf.b = append(buf.b, '}')
	return x.sendJSON(http.StatusOK, buf.b)
}
