package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// maxAnswer bounds what is read of one answer, in bytes.
const maxAnswer = 16 << 20

// Run installs the plugin and runs every case, one after the other. A plugin
// that cannot be installed fails the first case, and no other is tried.
func Run(ctx context.Context, s Server) []Result {
	var results []Result
	for _, x := range cases() {
		if len(results) == 1 && results[0].Error != "" {
			break
		}
		c := &check{ctx: ctx, server: s}
		x.run(c)
		r := Result{Case: x.name, Proves: x.proves}
		if c.err != nil {
			r.Error = c.err.Error()
		}
		results = append(results, r)
	}
	return results
}

// testcase is one thing a guest has to be able to do.
type testcase struct {
	name, proves string
	run          func(*check)
}

// check is one case being run. It keeps the first thing that went wrong; what
// is asked of it after that is not done any more.
type check struct {
	ctx    context.Context
	server Server
	err    error
}

func (c *check) failf(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	text   []byte
	body   map[string]any // of a JSON object
}

// request asks the server as whoever auth is.
func (c *check) request(auth, verb, path string, args any) answer {
	return c.signed(auth, verb, path, args, nil)
}

// signed is request with more header fields.
func (c *check) signed(auth, verb, path string, args any, header map[string]string) (a answer) {
	if c.err != nil {
		return a
	}
	var body io.Reader
	if args != nil {
		text, err := json.Marshal(args)
		if err != nil {
			c.err = err
			return a
		}
		body = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(c.ctx, verb, c.server.URL+path, body)
	if err != nil {
		c.err = err
		return a
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("Authorization", auth)
	for name, value := range header {
		r.Header.Set(name, value)
	}
	if args != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		c.err = err
		return a
	}
	defer resp.Body.Close()
	a.status, a.header = resp.StatusCode, resp.Header
	if a.text, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer)); err != nil {
		c.err = err
		return a
	}
	d := json.NewDecoder(bytes.NewReader(a.text))
	d.UseNumber()
	_ = d.Decode(&a.body) // an answer that is no object is looked at as text
	return a
}

// method calls a method of the guest by POST as Administrator and returns its
// result.
func (c *check) method(name string, args any) any {
	return c.result(c.request(c.server.Admin, http.MethodPost, "/api/method/"+Plugin+"."+name, object(args)), name)
}

// framework calls a method of the server as Administrator.
func (c *check) framework(name string, args any) any {
	return c.result(c.request(c.server.Admin, http.MethodPost, "/api/method/framework."+name, object(args)), name)
}

// object is what is sent as JSON: no arguments are an empty object.
func object(args any) any {
	if args == nil {
		return fields{}
	}
	return args
}

func (c *check) result(a answer, name string) any {
	if c.err == nil && a.status != http.StatusOK {
		c.failf("%s: HTTP status %d, expected 200: %s", name, a.status, cut(a.text))
	}
	return a.body["message"]
}

// fails calls a method and expects an error of the HTTP status and the type.
func (c *check) fails(auth, verb, name string, args any, status int, excType string) answer {
	a := c.request(auth, verb, "/api/method/"+Plugin+"."+name, args)
	c.refused(name, a, status, excType)
	return a
}

func (c *check) refused(what string, a answer, status int, excType string) {
	if c.err == nil && (a.status != status || a.body["exc_type"] != excType) {
		c.failf("%s: HTTP status %d, exc_type %v; expected %d, %s: %s", what, a.status, a.body["exc_type"], status, excType, cut(a.text))
	}
}

// todo stores a ToDo and returns its name.
func (c *check) todo(values fields) string {
	a := c.request(c.server.Admin, http.MethodPost, "/api/resource/ToDo", values)
	if c.err == nil && a.status/100 != 2 {
		c.failf("insert a ToDo: HTTP status %d: %s", a.status, cut(a.text))
	}
	name, _ := member(a.body["data"], "name").(string)
	return name
}

// stored is a ToDo as the database has it.
func (c *check) stored(name string) any {
	a := c.request(c.server.Admin, http.MethodGet, "/api/resource/ToDo/"+name, nil)
	if c.err == nil && a.status != http.StatusOK {
		c.failf("read ToDo %s: HTTP status %d: %s", name, a.status, cut(a.text))
	}
	return a.body["data"]
}

// same compares two values as JSON.
func (c *check) same(what string, got, want any) {
	if c.err != nil {
		return
	}
	g, w := canonical(got), canonical(want)
	if !bytes.Equal(g, w) {
		c.failf("%s: got %s, expected %s", what, cut(g), cut(w))
	}
}

// fields are the members of a JSON object.
type fields = map[string]any

// member is a member of v, or nil.
func member(v any, name string) any {
	m, _ := v.(fields)
	return m[name]
}

// canonical is a value as JSON with the members in order and each number written
// the one way: 2, 2.0 and 2e0 are the same.
func canonical(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		return []byte(err.Error())
	}
	var plain any
	if err := json.Unmarshal(text, &plain); err != nil {
		return []byte(err.Error())
	}
	text, _ = json.Marshal(plain)
	return text
}

// cut shortens what is shown of an answer.
func cut(text []byte) string {
	const most = 300
	if len(text) <= most {
		return string(text)
	}
	return fmt.Sprintf("%q... (%d bytes)", text[:most], len(text))
}
