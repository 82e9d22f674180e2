package testbench

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"armature/core/document"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/method"
	"armature/core/tenant"
	"armature/runtime/abi"
	"armature/runtime/hostapi"
)

// running is the site of the test that runs, and who acts there.
func (b *Bench) running() (*tenant.Tenant, *identity.Caller, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.site == nil {
		return nil, nil, fault.New(fault.Unavailable, "", "There is no site yet: a test begins with one")
	}
	return b.site, b.caller, nil
}

// clientCall calls a method as a client does.
func (b *Bench) clientCall(ctx context.Context, request []byte) ([]byte, error) {
	res, err := b.run(ctx, request)
	if err != nil {
		return nil, err
	}
	answer := map[string]any{"result": res.Message}
	if res.Message == nil {
		answer["result"] = nil
	}
	if len(res.Messages) > 0 {
		var texts []string
		for _, n := range res.Messages {
			texts = append(texts, n.Text)
		}
		answer["messages"] = texts
	}
	if r := res.Reply; r != nil {
		reply := bodyOf(r.Body)
		reply["status"], reply["headers"] = max(r.Status, http.StatusOK), lowered(r.Header)
		answer["reply"] = reply
	}
	return json.Marshal(answer)
}

// methodCall is method_call of a test, which is no plugin's: a call of its own.
func (b *Bench) methodCall(ctx context.Context, request []byte) ([]byte, error) {
	res, err := b.run(ctx, request)
	if err != nil || res.Message == nil {
		return null, err
	}
	return res.Message, nil
}

func (b *Bench) run(ctx context.Context, request []byte) (method.Result, error) {
	var in struct {
		Method, Verb string
		Args         json.RawMessage
		httpBody
	}
	if err := json.Unmarshal(request, &in); err != nil {
		return method.Result{}, fault.Wrap(fault.BadRequest, "", err, "call: %v", err)
	}
	if string(in.Args) == "null" {
		in.Args = nil
	}
	body := []byte(in.Args)
	if raw := in.bytes(); raw != nil {
		// Of a body that is no object, the method sees what it asks request_get for.
		body = raw
		if in.Args = nil; json.Valid(raw) && bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
			in.Args = raw
		}
	}
	args, err := method.ArgsJSON(in.Args)
	if err != nil {
		return method.Result{}, err
	}
	t, caller, err := b.running()
	if err != nil {
		return method.Result{}, err
	}
	if in.Verb == "" {
		in.Verb = http.MethodPost
	}
	r := &method.Request{ID: "test", Method: in.Verb, Path: "/api/method/" + in.Method, Body: body, Head: in.head()}
	return t.Methods().Run(ctx, method.Invocation{Path: in.Method, Verb: in.Verb, Caller: caller, Args: args, Request: r})
}

// testHead is the headers that a test sends.
type testHead http.Header

// Origin is where a site of tests would be.
func (testHead) Origin() string { return "http://test" }

// Header is what the test has said.
func (h testHead) Header() http.Header { return http.Header(h) }

func (b httpBody) head() testHead {
	h := testHead{}
	for name, value := range b.Headers {
		http.Header(h).Set(name, value)
	}
	return h
}

// bytes is the body; nil: there is none.
func (b httpBody) bytes() []byte {
	if b.BodyBase64 != nil || b.Body == "" {
		return b.BodyBase64
	}
	return []byte(b.Body)
}

// perform does what a capability is for, in a transaction of its own.
func (b *Bench) perform(ctx context.Context, name string, request []byte) (answer []byte, err error) {
	t, caller, err := b.running()
	if err != nil {
		return nil, err
	}
	g := b.platform.Guests
	p := &hostapi.Plugin{
		Site: t.Site.Name, Name: b.plugin, Grants: hostapi.Grant(abi.Capabilities()...), Limits: hostapi.MaxLimits, KV: g.Site(t.Site.Name).KV(),
		Config: func(_ context.Context, key string) (json.RawMessage, error) {
			return g.Setting(t, b.plugin, key), nil
		},
		Connected: b.Connected,
		Fetch: func(_ context.Context, r *hostapi.HTTPRequest) (*hostapi.HTTPResponse, error) {
			return b.answered("", r)
		},
	}
	m := &method.Method{Path: "test", Writes: true}
	err = t.Store.Write(ctx, document.GroupedTx, func(tx document.Tx) error {
		call := &method.Call{Method: m, Verb: http.MethodPost, Caller: caller, Tx: tx, Documents: t.Documents, Methods: t.Methods()}
		st := hostapi.New(p, call, nil)
		defer st.Free()
		answer, err = st.Perform(ctx, name, request)
		return err
	})
	return answer, err
}

func lowered(h http.Header) map[string]string {
	all := map[string]string{}
	for name, values := range h {
		all[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	return all
}
