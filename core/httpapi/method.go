package httpapi

import (
	"io"
	"net/http"
	"slices"

	"armature/core/fault"
	"armature/core/method"
	"armature/core/ratelimit"
	"armature/core/route"
)

// command serves a call of a method: a raw one, or one that core/method runs.
func (x *exchange) command(path string) (func() error, error) {
	x.path = x.site.Methods.Canonical(path)
	if x.site.Raw != nil {
		x.raw = x.site.Raw(x.path)
	}
	if x.raw == nil || x.raw.For != nil && !x.raw.For(x.request()) {
		x.raw = nil
		return x.runMethod, nil
	}
	if x.raw.Verbs != nil && !slices.Contains(x.raw.Verbs, x.verb()) {
		return nil, fault.Denied("Not permitted")
	}
	if x.raw.Streams && x.whole != nil && !x.argsRead {
		x.r.Body = x.whole
	}
	return func() error {
		setAPIHeaders(x.w.Header())
		if x.raw.Streams {
			x.work.Give() // it waits for the client, or for where the bytes are kept
		}
		return x.raw.Serve(&x.w, x.request(), x.call())
	}, nil
}

// leavesCredentials reports whether the method reads them itself.
func (x *exchange) leavesCredentials() bool { return x.raw != nil && x.raw.NoCredentials }

func (x *exchange) call() *route.Call {
	return &route.Call{Caller: x.caller, RequestID: x.id, Path: x.path, Exchange: x}
}

// Names implements route.Exchange.
func (x *exchange) Names(user string) { x.named = user }

// Admit implements route.Exchange.
func (x *exchange) Admit(path, verb string, argument func(name string) string) error {
	x.light()
	return x.budget.AdmitMethod(x.ctx, x.w.Header(), ratelimit.Subject{
		User: x.caller.User, Client: x.caller.Client, Method: path, Verb: verb, IP: x.address(), Argument: argument,
	})
}

// Args implements route.Exchange.
func (x *exchange) Args() (method.Args, error) {
	if err := x.readArguments(); err != nil {
		return method.Args{}, err
	}
	x.light()
	return x.args.methodArgs(), nil
}

// Body implements route.Exchange.
func (x *exchange) Body(most int64) ([]byte, error) {
	if x.r.ContentLength > most {
		return nil, tooLarge(most)
	}
	if x.r.Body != nil && x.r.Body != http.NoBody {
		x.r.Body = io.NopCloser(io.LimitReader(x.r.Body, most+1)) // what is left, the server's own request knows of
	}
	body, err := x.readBody()
	switch {
	case err != nil:
		return nil, err
	case int64(len(body)) > most:
		return nil, tooLarge(most)
	}
	return body, x.admitDecoding(body, true)
}

// oldCommand is the dotted path of a call in the old form, / with the argument
// cmd; empty when there is none. A body is only looked into where it can hold
// arguments.
func (x *exchange) oldCommand() (string, error) {
	if x.r.URL.RawQuery == "" && x.r.ContentLength == 0 {
		return "", nil
	}
	if err := x.readArguments(); err != nil {
		return "", err
	}
	name, _ := x.args.Get("cmd").(string)
	return name, nil
}

// runMethod calls the method and answers with its value.
func (x *exchange) runMethod() error {
	if err := x.readArguments(); err != nil {
		return err
	}
	if name, _ := x.args.Get("doctype").(string); name != "" {
		if err := x.freshen(name); err != nil {
			return err
		}
	}
	x.light() // guests have slots of their own, and may wait for anything
	res, err := x.site.Methods.Run(x.ctx, method.Invocation{
		Path: x.route.method, Verb: x.verb(), Caller: x.caller,
		Args: x.args.methodArgs(), Request: x.methodRequest(),
	})
	if err != nil {
		return err
	}
	return x.sendResult("message", res)
}

// sendResult answers with a result, its value under key.
func (x *exchange) sendResult(key string, res method.Result) error {
	if res.Reply != nil {
		return x.sendReply(res.Reply, guardReply)
	}
	if err := x.admitAnswer(len(res.Message) + len(res.Extra)); err != nil {
		return err
	}
	buf := newBuffer()
	defer buf.free()
	buf.b = append(buf.b, '{')
	if res.Message != nil {
		buf.b = append(append(append(buf.b, '"'), key...), `":`...)
		buf.b = append(append(buf.b, res.Message...), ',')
	}
	if res.Extra != nil {
		buf.b = append(append(buf.b, res.Extra[1:len(res.Extra)-1]...), ',')
	}
	if len(res.Messages) > 0 {
		buf.b = append(appendServerMessages(buf.b, res.Messages), ',')
	}
	if last := len(buf.b) - 1; buf.b[last] == ',' {
		buf.b = buf.b[:last]
	}
	buf.b = append(buf.b, '}')
	return x.sendJSON(http.StatusOK, buf.b)
}

// methodRequest is what a method may see of the request: no credentials.
func (x *exchange) methodRequest() *method.Request {
	return &method.Request{
		ID: x.id, Method: x.r.Method, Path: x.r.URL.Path, RawQuery: withoutSecrets(x.r.URL.RawQuery),
		Body: x.args.body, RemoteAddr: x.r.RemoteAddr, Head: head{x},
	}
}

// head is the head of the request as a method may see it.
type head struct{ x *exchange }

// Origin implements method.Head.
func (h head) Origin() string { return h.x.origin() }

// Header implements method.Head.
func (h head) Header() http.Header {
	header := make(http.Header, len(h.x.r.Header))
	for key, values := range h.x.r.Header {
		switch key {
		case "Authorization", "Proxy-Authorization", "Cookie", "X-Framework-Csrf-Token":
		default:
			header[key] = values
		}
	}
	return header
}
