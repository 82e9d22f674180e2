package dispatch

import (
	"context"
	"encoding/json"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/method"
)

// written is what the job of an after_commit handler is asked with.
type written struct {
	DocType string `json:"doctype"`
	Name    string `json:"name"`
}

// path is that of the handler as a method that no request calls.
func (h *handler) path() string { return "@" + h.plugin.Name + ":" + h.label }

// later keeps a job for the handler in the transaction that writes the document, so that
// it is there if and only if the document is. What cannot be kept fails no write.
func (h *handler) later(ctx context.Context, ev *document.Event) error {
	later := h.site.cfg.Services().Later
	if h.elsewhere(ev) || later == nil {
		return nil
	}
	w := written{ev.Doc.Type.Name, ev.Doc.Name()}
	args, err := json.Marshal(w)
	if err != nil {
		return err
	}
	_, err = later.Enqueue(ctx, ev.Tx, method.Deferred{Path: h.path(), Args: args, Caller: plain(ev.Caller).In(nil)})
	switch fault.KindOf(err) {
	case fault.Validation, fault.Unavailable:
		h.plugin.Logger.Error("what was written cannot be told after the commit", "site", h.plugin.Site, "plugin", h.plugin.Name, "event", h.label, "name", w.Name, "error", err)
		return nil
	}
	return err
}

// deferred is the handler as a method that its jobs call.
func (h *handler) deferred() *method.Method {
	return &method.Method{
		Path: h.path(), Plugin: h.plugin.Name, Powerful: h.powerful,
		Func: func(ctx context.Context, call *method.Call) (any, error) {
			w := written{call.Args.Text("doctype"), call.Args.Text("name")}
			seen, err := h.committed(ctx, call, w)
			if err != nil {
				return nil, err
			}
			if h.asSelf {
				if err := h.become(ctx, call); err != nil {
					return nil, err
				}
			}
			output, err := h.export.call(ctx, call, seen)
			if err != nil || output == nil {
				return nil, err
			}
			return json.RawMessage(output), nil
		},
	}
}

// committed is the handler's input: the document as it is now for whoever has written
// it; null where it is gone, or that user may not read it any more.
func (h *handler) committed(ctx context.Context, call *method.Call, w written) ([]byte, error) {
	b := append([]byte(nil), `{"event":"after_commit","doctype":`...)
	b = append(doctype.AppendString(b, w.DocType), `,"name":`...)
	b = append(doctype.AppendString(b, w.Name), `,"doc":`...)
	doc, err := call.Documents.As(call.Caller, call.Tx).Get(ctx, w.DocType, w.Name)
	switch fault.KindOf(err) {
	case fault.NotFound, fault.Permission:
		return append(b, "null}"...), nil
	}
	if err != nil {
		return nil, err
	}
	return append(call.Documents.AppendJSON(b, call.Caller, doc, document.ReadOptions{}), '}'), nil
}
