package httpapi

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
	"slices"
	"strings"

	"armature/core/fault"
	"armature/core/method"
)

// maxArguments bounds how many arguments a query string or form may have.
const maxArguments = 2000

// arguments are the arguments of a request (reference section 0.2): those of a
// JSON body alone, or those of the query string and a form together. They are
// kept as they came and looked up one by one, so that a list costs no map.
type arguments struct {
	body   []byte // as received
	isJSON bool
	json   method.Args
	pairs  []pair // form fields before those of the query string: they win
	opaque bool   // there is a body in a form that holds no arguments
}

// Get returns one argument: text, or a JSON value; nil when it is absent.
func (a *arguments) Get(name string) any {
	if a.isJSON {
		return a.json.Get(name)
	}
	for i := range a.pairs {
		if a.pairs[i].key == name {
			return a.pairs[i].value
		}
	}
	return nil
}

// dropped are the arguments meant for the edge, or that no method may be given
// from outside.
var dropped = []string{"_", "cmd", "sid", "csrf_token", "ignore_permissions", "flags"}

// methodArgs are the arguments as a method gets them.
func (a *arguments) methodArgs() method.Args {
	if a.isJSON {
		return a.json.Without(dropped...)
	}
	if len(a.pairs) == 0 {
		return method.Args{}
	}
	texts := make([]method.Text, 0, len(a.pairs))
	for _, p := range a.pairs {
		if !slices.Contains(dropped, p.key) {
			texts = append(texts, method.Text{Name: p.key, Value: p.value})
		}
	}
	return method.ArgsTexts(texts)
}

// readArguments reads the arguments once.
func (x *exchange) readArguments() error {
	if !x.argsRead {
		x.argsRead = true
		x.argsError = x.parseArguments()
	}
	return x.argsError
}

func (x *exchange) parseArguments() error {
	body, err := x.readBody()
	if err != nil {
		return err
	}
	a := &x.args
	a.body = body
	if len(body) > 0 {
		if err := a.readBody(x.r.Header.Get("Content-Type"), x.admitDecoding); err != nil {
			return err
		}
		if a.isJSON {
			return nil
		}
	}
	a.pairs, err = appendPairs(a.pairs, x.r.URL.RawQuery)
	return err
}

// argument is one argument of the request, whose body is read for it unless it
// is a stream; nil when there is none, or it cannot be had. Authentication asks
// for it once it has found a session.
func (x *exchange) argument(name string) any {
	x.hasSession = true
	x.memory.Know()
	if x.raw != nil && x.raw.Streams || x.readArguments() != nil {
		return nil
	}
	return x.args.Get(name)
}

// readBody takes the arguments out of a body. One without a content type is
// JSON when it looks like JSON. admit is asked before it is decoded.
func (a *arguments) readBody(contentType string, admit func(body []byte, isJSON bool) error) (err error) {
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil && contentType != "" {
		return fault.New(fault.UnsupportedMedia, "", "The content type cannot be read")
	}
	switch {
	case media == "application/json" || strings.HasSuffix(media, "+json") || media == "" && looksLikeJSON(a.body):
		a.isJSON = true
		if err = admit(a.body, true); err == nil {
			a.json, err = method.ArgsJSON(a.body)
		}
	case media == "application/x-www-form-urlencoded":
		if err = admit(a.body, false); err == nil {
			a.pairs, err = appendPairs(a.pairs, string(a.body))
		}
	case media == "multipart/form-data":
		if err = admit(a.body, false); err == nil {
			err = a.readMultipart(params["boundary"])
		}
	default:
		a.opaque = true
		err = nil
	}
	return err
}

func looksLikeJSON(body []byte) bool {
	body = bytes.TrimLeft(body, " \t\r\n")
	return len(body) > 0 && (body[0] == '{' || body[0] == '[')
}

// readMultipart takes the fields out of a multipart body; files are left to the
// raw methods that want them.
func (a *arguments) readMultipart(boundary string) error {
	if boundary == "" {
		return invalidBody()
	}
	parts := multipart.NewReader(bytes.NewReader(a.body), boundary)
	for range maxArguments {
		part, err := parts.NextPart()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return invalidBody()
		}
		if part.FileName() != "" || part.FormName() == "" {
			continue
		}
		value, err := io.ReadAll(part)
		if err != nil {
			return invalidBody()
		}
		p := pair{part.FormName(), string(value)}
		if !p.clean() {
			return notText()
		}
		a.pairs = append(a.pairs, p)
	}
	return fault.Invalid("DataError", "The request has too many arguments")
}

func invalidBody() error { return fault.Invalid("DataError", "Invalid request body") }

// documentValues are the fields of a document that a create or an update sends:
// the arguments themselves, or the JSON object in the field "data", which older
// clients use.
func (x *exchange) documentValues() (map[string]any, error) {
	if err := x.readArguments(); err != nil {
		return nil, err
	}
	a := &x.args
	switch {
	case a.opaque:
		return nil, fault.New(fault.UnsupportedMedia, "", "A document is sent as JSON or as a form")
	case a.isJSON && isList(a.body):
		return nil, fault.Invalid("DataError", "The request body must be a JSON object")
	}
	args := a.methodArgs()
	if text, ok := args.Get("data").(string); ok && strings.HasPrefix(strings.TrimSpace(text), "{") {
		inner, err := method.ArgsJSON([]byte(text))
		if err != nil {
			return nil, err
		}
		args = inner.Without(dropped...)
	}
	return args.Map(), nil
}

func isList(body []byte) bool {
	body = bytes.TrimLeft(body, " \t\r\n")
	return len(body) > 0 && body[0] == '['
}
