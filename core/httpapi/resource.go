package httpapi

import (
	"context"
	"net/http"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/method"
	"armature/core/notice"
	"armature/core/query"
)

// read answers GET /api/resource/:doctype/:name.
func (x *exchange) read() error {
	if err := x.readArguments(); err != nil {
		return err
	}
	if x.args.Get("run_method") != nil {
		return x.runDocumentMethod()
	}
	opt := document.ReadOptions{ExpandLinks: query.Flag(x.args.Get("expand_links"), false)}
	opt.WithNull = opt.ExpandLinks // reference section 1.4
	buf := newBuffer()
	defer buf.free()
	err := x.look(document.WithReplica(x.ctx), !x.site.Documents.ReadsOnce(x.route.doctype, opt), func(tx document.Tx) (err error) {
		buf.b = append(buf.b[:0], `{"data":`...)
		buf.b, err = x.site.Documents.As(x.caller, tx).AppendDocument(x.ctx, buf.b, x.route.doctype, x.route.name, opt)
		return err
	})
	if err != nil {
		return err
	}
	buf.b = append(buf.b, '}')
	return x.sendJSON(http.StatusOK, buf.b)
}

// look reads, from a replica where ctx allows it: what takes several statements, as of
// one moment. fn may run more than once.
func (x *exchange) look(ctx context.Context, several bool, fn func(document.Tx) error) error {
	if err := x.freshen(x.route.doctype); err != nil {
		return err
	}
	if several {
		return x.site.Store.View(ctx, nil, fn)
	}
	return x.site.Store.Read(ctx, fn)
}

// freshen brings the schema up to date for a DocType that this process does not know:
// another process may have made it a moment ago. Before a transaction: one that waits
// for a second connection keeps its first from others.
func (x *exchange) freshen(typeName string) error {
	return x.site.Documents.Freshen(x.ctx, typeName, nil)
}

// create answers POST /api/resource/:doctype. The DocType is that of the path.
func (x *exchange) create() error {
	values, err := x.documentValues()
	if err != nil {
		return err
	}
	delete(values, "doctype")
	x.ctx = document.WithOrigin(x.ctx, x.origin())
	if err := x.site.Documents.Freshen(x.ctx, x.route.doctype, values); err != nil {
		return err
	}
	return x.write(func(ctx context.Context, tx document.Tx) (*doctype.Document, error) {
		return x.site.Documents.As(x.caller, tx).Insert(ctx, x.route.doctype, values)
	})
}

// update answers PUT /api/resource/:doctype/:name: only the fields sent change.
func (x *exchange) update() error {
	values, err := x.documentValues()
	if err != nil {
		return err
	}
	delete(values, "doctype")
	x.ctx = document.WithOrigin(x.ctx, x.origin())
	if err := x.site.Documents.Freshen(x.ctx, x.route.doctype, values); err != nil {
		return err
	}
	return x.write(func(ctx context.Context, tx document.Tx) (*doctype.Document, error) {
		return x.site.Documents.As(x.caller, tx).Update(ctx, x.route.doctype, x.route.name, values)
	})
}

// write runs a change, commits it, and answers with the document it left. fn
// may run more than once.
func (x *exchange) write(fn func(ctx context.Context, tx document.Tx) (*doctype.Document, error)) error {
	buf := newBuffer()
	defer buf.free()
	var told *notice.List
	docs := x.site.Documents
	err := x.site.Store.Write(document.WithParty(x.ctx, x.route.doctype), docs.WriteMode(x.route.doctype), func(tx document.Tx) error {
		told = &notice.List{}
		doc, err := fn(notice.With(x.ctx, told), tx)
		if err != nil {
			return err
		}
		buf.b = append(buf.b[:0], `{"data":`...)
		buf.b = append(docs.AppendWritten(buf.b, x.caller, doc, document.ReadOptions{}), '}')
		buf.b = document.AppendUnknown(buf.b, document.UnknownFields(tx))
		buf.b = buf.b[:len(buf.b)-1] // closed with what else is told
		return nil
	})
	if err != nil {
		return err
	}
	return x.sendJSON(http.StatusOK, appendTold(buf.b, told))
}

// appendTold closes an answer with what the user is told beside it.
func appendTold(dst []byte, told *notice.List) []byte {
	if list := told.All(); len(list) > 0 {
		dst = appendServerMessages(append(dst, ','), list)
	}
	return append(dst, '}')
}

// remove answers DELETE /api/resource/:doctype/:name.
func (x *exchange) remove() error {
	if err := x.freshen(x.route.doctype); err != nil {
		return err
	}
	docs := x.site.Documents
	var told *notice.List
	err := x.site.Store.Write(document.WithParty(x.ctx, x.route.doctype), docs.DeleteMode(x.route.doctype), func(tx document.Tx) error {
		told = &notice.List{}
		return docs.As(x.caller, tx).Delete(notice.With(x.ctx, told), x.route.doctype, x.route.name)
	})
	if err != nil {
		return err
	}
	return x.sendJSON(http.StatusAccepted, appendTold([]byte(`{"message":"ok"`), told))
}

// runDocumentMethod answers POST /api/resource/:doctype/:name, and GET with the
// argument run_method.
func (x *exchange) runDocumentMethod() error {
	if err := x.readArguments(); err != nil {
		return err
	}
	name, _ := x.args.Get("run_method").(string)
	if name == "" {
		return fault.Invalid("", "A POST to a document needs the argument run_method")
	}
	if err := x.freshen(x.route.doctype); err != nil {
		return err
	}
	args := x.args.methodArgs()
	x.light()
	res, err := x.site.Methods.RunOnDocument(x.ctx, method.OnDocument{
		DocType: x.route.doctype, Name: x.route.name, Method: name, Verb: x.verb(),
		Caller: x.caller, Args: args.Without("run_method"), Request: x.methodRequest(),
	})
	if err != nil {
		return err
	}
	return x.sendResult("data", res)
}
