package dispatch

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"armature/core/doctype"
	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/method"
	"armature/plugins/grant"
	"armature/plugins/manifest"
	"armature/runtime/hostapi"
)

// handler runs an export at a moment in a document's life.
type handler struct {
	*export
	own     bool // of a DocType the plugin brings
	asSelf  bool // it runs as the plugin's own user
	may     document.Settable
	missing []string // what was taken from the plugin
}

func newHandler(g *guest, m *manifest.Manifest, h manifest.Handler, given grant.Given) *handler {
	name := h.DocType + "." + h.Event
	return &handler{
		export: g.export(name, h.Export), own: slices.Contains(m.Brings(), h.DocType), missing: given.Missing, asSelf: h.RunAs == manifest.RunAsPlugin,
		may: document.Settable{Plugin: m.Name, Handler: name, Fields: h.Sets, Platform: given.Frame.Has(manifest.Platform)},
	}
}

// elsewhere reports whether the document is of a DocType that the plugin calls its
// own and that belongs to somebody else: it hears nothing of those.
func (h *handler) elsewhere(ev *document.Event) bool {
	dt := ev.Doc.Type
	return h.own && !(dt.Custom && dt.Module == h.plugin.Name)
}

// refuse refuses what the handler would have to be asked about.
func (h *handler) refuse(_ context.Context, ev *document.Event) error {
	if h.elsewhere(ev) {
		return nil
	}
	return fault.Denied("%s %s cannot be changed now: the handler %s of the plugin %s has to be asked, and that waits for the approval of %s",
		ev.Doc.Type.Name, ev.Doc.Name(), h.label, h.plugin.Name, strings.Join(h.missing, ", "))
}

// run hands the guest {event, doc, before} and puts the fields it outputs into
// the document, before the write; after it there is nothing to set.
func (h *handler) run(ctx context.Context, ev *document.Event) error {
	if h.elsewhere(ev) {
		return nil
	}
	call, err := h.methodCall(ctx, ev)
	if err != nil {
		return err
	}
	seen := describe(call.Documents, call.Caller, ev)
	if h.asSelf {
		if err := h.become(ctx, call); err != nil {
			return err
		}
	}
	output, err := h.export.call(ctx, call, seen)
	if err != nil || output == nil || !slices.Contains(settable, ev.Name) {
		return err
	}
	return h.set(call, ev, output)
}

// become makes the plugin's own user the caller of what the handler does. The
// scopes of the token that the document is saved with are not that user's: they do
// not narrow what the handler does beside.
func (h *handler) become(ctx context.Context, call *method.Call) error {
	users := h.site.cfg.Services().Users
	if users == nil {
		return fault.New(fault.Unavailable, "", "The site is not open yet")
	}
	self, err := users.PluginCaller(ctx, call.Tx, h.plugin.Name)
	if err != nil {
		return err
	}
	call.Caller = self
	return nil
}

// methodCall is the method call that the handler counts as: nested in the guest's
// that writes the document, if one does. Its caller is who acts, without the
// elevation that another plugin may have written with.
func (h *handler) methodCall(ctx context.Context, ev *document.Event) (*method.Call, error) {
	call := &method.Call{Verb: http.MethodPost, Caller: plain(ev.Caller).In(nil), Tx: ev.Tx}
	if outer := hostapi.From(ctx); outer != nil {
		parent := outer.Call()
		call.Verb, call.Request, call.Parent = parent.Verb, parent.Request, parent
		call.Depth, call.Documents, call.Methods = parent.Depth+1, parent.Documents, parent.Methods
	} else {
		services := h.site.cfg.Services()
		call.Documents, call.Methods = services.Documents, services.Methods
	}
	switch {
	case call.Depth > method.MaxDepth:
		return nil, fault.New(fault.Exhausted, "", "Methods and events are nested more than %d deep", method.MaxDepth)
	case call.Documents == nil:
		return nil, fault.New(fault.Unavailable, "", "The site is not open yet")
	}
	return call, nil
}

func plain(caller *identity.Caller) *identity.Caller {
	if !caller.Elevated {
		return caller
	}
	c := *caller
	c.Elevated = false
	return &c
}

// describe is the handler's input: the document as the caller sees it.
func describe(documents *document.Service, caller *identity.Caller, ev *document.Event) []byte {
	b := append([]byte(nil), `{"event":`...)
	b = doctype.AppendString(b, ev.Name)
	b = append(b, `,"doc":`...)
	b = documents.AppendJSON(b, caller, ev.Doc, document.ReadOptions{})
	b = append(b, `,"before":`...)
	if ev.Before == nil {
		return append(b, "null}"...)
	}
	b = documents.AppendJSON(b, caller, ev.Before, document.ReadOptions{})
	return append(b, '}')
}

// settable are the events that come before the write.
var settable = []string{
	document.BeforeInsert, document.BeforeValidate, document.Validate, document.BeforeSave,
	document.BeforeSubmit, document.BeforeUpdateAfterSubmit, document.BeforeCancel,
}

// set puts the output of a handler into the document. What the platform itself
// keeps about a document is not the handler's to change.
func (h *handler) set(call *method.Call, ev *document.Event, output []byte) error {
	dec := json.NewDecoder(bytes.NewReader(output))
	dec.UseNumber()
	var values map[string]any
	if err := dec.Decode(&values); err != nil {
		return fault.Wrap(fault.Trap, "", err, "%s: the output of an event handler is an object of fields", h.name)
	}
	if names := call.Documents.Unknown(ev.Doc.Type, values); len(names) > 0 {
		last(call, func() {
			h.plugin.Logger.Warn("event handler sets fields that there are not", "site", h.plugin.Site, "plugin", h.plugin.Name, "event", h.label, "fields", names)
		})
	}
	return call.Documents.Assign(ev, values, h.may)
}
