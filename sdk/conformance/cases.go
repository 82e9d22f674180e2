package conformance

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// difficult is text that a JSON codec may get wrong: quotes, control
// characters, line separators, two to four bytes a character.
const difficult = "\"quoted\" \\ / \b\f\n\r\t \u0001 é ß € \u2028\u2029 日本 😀 </script>"

// large is text longer than any buffer an SDK is likely to hold ready.
func large() string { return strings.Repeat("Zoë €😀 0123456789abcdef ", 8000) }

// maxOutput is the limit in armature.json, in bytes.
const maxOutput = 524288

func cases() []testcase {
	return slices.Concat(loading(), values(), documents(), errors(), services(), surroundings(), outside(), messengers(), isolation())
}

// loading comes first: without it there is nothing to call.
func loading() []testcase {
	return []testcase{{"load", "the module is accepted, with its imports and exports", func(c *check) {
		c.framework("plugins.install", fields{
			"wasm": base64.StdEncoding.EncodeToString(c.server.Module), "approve": "resource:ToDo:write,method:*,event:ToDo.validate",
		})
	}}}
}

// values are about what goes in and comes out.
func values() []testcase {
	return []testcase{
		{"echo", "input and output", func(c *check) {
			for _, args := range []fields{
				{}, {"a": nil}, {"a": []any{}}, {"a": fields{}},
				{"deep": []any{[]any{fields{"b": []any{1, -2, 0.5, 1e-7, true, false, nil}}}}},
				{"whole": json.Number("9007199254740991")},
			} {
				c.same("echo", c.method("echo", args), args)
			}
		}},
		{"unicode", "text of every kind survives", func(c *check) {
			args := fields{"text": difficult, difficult: "as a name"}
			c.same("echo", c.method("echo", args), args)
		}},
		{"large input", "input and output longer than a buffer", func(c *check) {
			args := fields{"text": large()}
			c.same("echo", c.method("echo", args), args)
		}},
		{"arguments", "arguments by type", func(c *check) {
			got := c.method("arguments", fields{
				"text": "Zoë", "count": 41, "ratio": 2.5, "flag": true, "list": []int{1, -2, 30}, "inner": fields{"text": "in\"side"},
			})
			c.same("arguments", got, fields{
				"text": "Zoë!", "count": 42, "ratio": 1.25, "flag": false, "sum": 29, "inner": "in\"side", "absent": true,
			})
		}},
	}
}

// documents are about the doc_ imports.
func documents() []testcase {
	return []testcase{
		{"list", "filters, fields, order, limit, count", func(c *check) {
			for _, d := range []string{"list c", "list a", "list \"b\""} {
				c.todo(fields{"description": d, "status": "Cancelled", "priority": "High"})
			}
			c.todo(fields{"description": "list 0", "status": "Cancelled", "priority": "Low"})
			want := fields{"count": 4, "descriptions": []string{"list \"b\"", "list a"}}
			c.same("find", c.method("find", fields{"status": "Cancelled", "limit": 2}), want)
			c.same("find nothing", c.method("find", fields{"status": "no \"such\" status", "limit": 2}), fields{"count": 0, "descriptions": []string{}})
		}},
		{"transaction", "insert and update in one transaction", func(c *check) {
			old := c.todo(fields{"description": "to be closed"})
			got := c.method("transfer", fields{"name": old, "text": difficultLine, "fail": false})
			made, _ := member(got, "made").(string)
			c.same("closed", member(got, "closed"), "Closed")
			c.same("the inserted ToDo", member(c.stored(made), "description"), difficultLine)
			c.same("the updated ToDo", member(c.stored(old), "status"), "Closed")
		}},
		{"rollback", "an error undoes what was written", func(c *check) {
			old := c.todo(fields{"description": "stays open"})
			before := c.count("rolled back")
			c.fails(c.server.Admin, http.MethodPost, "transfer", fields{"name": old, "text": "rolled back", "fail": true}, 417, "TransferError")
			c.same("the updated ToDo", member(c.stored(old), "status"), "Open")
			c.same("ToDos inserted", c.count("rolled back"), before)
		}},
		{"life of a document", "child tables, submit, cancel, delete", func(c *check) {
			c.same("order", c.method("order", fields{"title": "Zoë's"}), fields{
				"inserted": 0, "submitted": 1, "cancelled": 2, "items": 2, "qty": 7, "gone": 5,
			})
		}},
		{"large document", "an answer longer than a buffer, by take", func(c *check) {
			text := large()
			name := c.todo(fields{"description": text})
			got := c.method("show", fields{"doctype": "ToDo", "name": name})
			c.same("show", member(got, "description"), text)
			c.same("show", got, c.stored(name))
		}},
		{"GET", "a GET leaves nothing behind", func(c *check) {
			name := c.todo(fields{"description": "looked at"})
			path := "/api/method/" + Plugin + ".close?name=" + url.QueryEscape(name)
			got := c.result(c.request(c.server.Admin, http.MethodGet, path, nil), "close")
			c.same("close by GET", member(got, "status"), "Closed")
			c.same("after the GET", member(c.stored(name), "status"), "Open")
			c.same("close by POST", member(c.method("close", fields{"name": name}), "status"), "Closed")
			c.same("after the POST", member(c.stored(name), "status"), "Closed")
		}},
		{"event", "a hook refuses a document and changes one", func(c *check) {
			c.refused("insert", c.request(c.server.Admin, http.MethodPost, "/api/resource/ToDo", fields{"description": "refuse me"}), 417, "RefusedError")
			name := c.todo(fields{"description": "urgent: Zoë", "priority": "Low"})
			c.same("priority", member(c.stored(name), "priority"), "High")
			path := "/api/resource/ToDo/" + name
			c.request(c.server.Admin, http.MethodPut, path, fields{"status": "Closed"})
			c.refused("open again", c.request(c.server.Admin, http.MethodPut, path, fields{"status": "Open"}), 417, "ReopenError")
			c.same("status", member(c.stored(name), "status"), "Closed")
		}},
	}
}

// difficultLine is of what a document may hold.
const difficultLine = "\"quoted\" \\ \t é € 日本 😀"

// count is how many ToDos have the description.
func (c *check) count(description string) any {
	filters, _ := json.Marshal([][]string{{"description", "=", description}})
	a := c.request(c.server.Admin, http.MethodGet, "/api/resource/ToDo?limit_page_length=0&filters="+url.QueryEscape(string(filters)), nil)
	rows, ok := a.body["data"].([]any)
	if !ok {
		c.failf("list ToDos: HTTP status %d: %s", a.status, cut(a.text))
	}
	return len(rows)
}

// errors are about what the guest throws and what it catches.
func errors() []testcase {
	return []testcase{
		{"typed error", "kind, type and message reach the client", func(c *check) {
			for _, e := range []struct {
				kind           int
				given, excType string
				status         int
			}{
				{2, "", "ValidationError", 417}, {2, "DueDateError", "DueDateError", 417}, {4, "", "PermissionError", 403},
				{5, "", "DoesNotExistError", 404}, {6, "", "DuplicateEntryError", 409}, {12, "BrokenError", "BrokenError", 400},
				{11, "", "ServiceUnavailable", 503},
			} {
				args := fields{"kind": e.kind, "type": e.given, "message": "grüß \"dich\""}
				a := c.fails(c.server.Admin, http.MethodPost, "raise", args, e.status, e.excType)
				if c.err == nil && !strings.Contains(string(a.text), `grüß`) {
					c.failf("raise kind %d: the message is missing: %s", e.kind, cut(a.text))
				}
			}
		}},
		{"internal error", "the text of an internal error stays on the server", func(c *check) {
			a := c.fails(c.server.Admin, http.MethodPost, "raise", fields{"kind": 1, "type": "", "message": "the password is x"}, 500, "InternalError")
			if strings.Contains(string(a.text), "password") {
				c.failf("the client reads %s", cut(a.text))
			}
		}},
		{"caught error", "an error of a call is caught, with kind and type", func(c *check) {
			got := c.method("attempt", fields{"doctype": "ToDo", "name": "no \"such\" ToDo"})
			c.same("kind", member(got, "kind"), 5)
			c.same("type", member(got, "type"), "DoesNotExistError")
			if text, _ := member(got, "message").(string); text == "" {
				c.failf("the error has no message: %v", got)
			}
			name := c.todo(fields{"description": "there"})
			c.same("a document that is there", c.method("attempt", fields{"doctype": "ToDo", "name": name}), fields{"kind": 0, "name": name})
		}},
		{"permission", "a call that the caller may not make is refused", func(c *check) {
			order := c.order()
			c.fails(c.server.Reader, http.MethodPost, "show", fields{"doctype": "Conformance Order", "name": order}, 403, "PermissionError")
			a := c.request(c.server.Reader, http.MethodPost, "/api/method/"+Plugin+".attempt", fields{"doctype": "Conformance Order", "name": order})
			got := c.result(a, "attempt")
			c.same("kind", member(got, "kind"), 4)
			c.same("type", member(got, "type"), "PermissionError")
		}},
		{"elevated", "reading past the roles waits for an administrator", func(c *check) {
			args := fields{"doctype": "Conformance Order", "name": c.order()}
			attempt := func() any {
				return member(c.result(c.request(c.server.Reader, http.MethodPost, "/api/method/"+Plugin+".attempt", args), "attempt"), "kind")
			}
			c.same("before it is approved", attempt(), 4)
			c.framework("plugins.approve", fields{"plugin": Plugin, "grants": "elevated"})
			c.same("once it is approved", attempt(), 0)
			c.framework("plugins.revoke", fields{"plugin": Plugin, "grants": "elevated"})
			c.same("once it is taken back", attempt(), 4)
		}},
		{"grant", "a grant that is not approved is an error of the call", func(c *check) {
			got := c.method("reach", fields{"url": "https://example.com/"})
			c.same("kind", member(got, "kind"), 4)
			c.same("type", member(got, "type"), "PermissionError")
		}},
	}
}

// order stores a Conformance Order, which a user without roles may not read, and
// returns its name.
func (c *check) order() string {
	a := c.request(c.server.Admin, http.MethodPost, "/api/resource/Conformance%20Order", fields{"title": "secret"})
	name, _ := member(a.body["data"], "name").(string)
	if name == "" {
		c.failf("insert a Conformance Order: HTTP status %d: %s", a.status, cut(a.text))
	}
	return name
}

// services are about the other imports.
func services() []testcase {
	return []testcase{
		{"nested call", "another method in the same transaction, its error caught", func(c *check) {
			got := c.method("relay", fields{"method": Plugin + ".echo", "args": fields{"a": difficult}})
			c.same("relay", got, fields{"kind": 0, "result": fields{"a": difficult}})
			old := c.todo(fields{"description": "nested"})
			got = c.method("relay", fields{"method": Plugin + ".transfer", "args": fields{"name": old, "text": "x", "fail": true}})
			c.same("kind", member(got, "kind"), 2)
			c.same("type", member(got, "type"), "TransferError")
			c.same("what the nested call had written", member(c.stored(old), "status"), "Open")
		}},
		{"caller", "who is acting", func(c *check) {
			c.same("user", member(c.method("who", nil), "user"), "Administrator")
			got := c.result(c.request(c.server.Reader, http.MethodPost, "/api/method/"+Plugin+".who", fields{}), "who")
			roles, _ := member(got, "roles").([]any)
			if user, _ := member(got, "user").(string); !strings.Contains(user, "@") || slices.Contains(roles, any("System Manager")) || !slices.Contains(roles, any("All")) {
				c.failf("who: %v", got)
			}
		}},
		{"configuration", "the plugin's settings on the site", func(c *check) {
			c.same("limit", c.method("setting", fields{"key": "limit"}), 12)
			c.same("motto", c.method("setting", fields{"key": "motto"}), "grüß dich")
			c.same("a key that is not set", c.method("setting", fields{"key": "none"}), nil)
		}},
		{"store", "the plugin's own keys and values", func(c *check) {
			value := fields{"list": []any{1, "zwei", nil}, "text": difficult}
			c.same("keep", c.method("keep", fields{"key": "a \"key\"", "value": value, "ttl": 600}), value)
			c.same("recall", c.method("recall", fields{"key": "a \"key\""}), value)
			c.same("forget", c.method("forget", fields{"key": "a \"key\""}), nil)
			c.same("recall what is gone", c.method("recall", fields{"key": "a \"key\""}), nil)
		}},
		{"log", "a line with an attribute", func(c *check) {
			c.same("say", c.method("say", fields{"level": 2, "message": "over the \"limit\"", "n": 4711}), nil)
			text := c.server.Log()
			for _, want := range []string{`over the \"limit\"`, "4711", "WARN"} {
				if c.err == nil && !strings.Contains(text, want) {
					c.failf("the log lacks %s: %s", want, cut([]byte(text)))
				}
			}
		}},
	}
}

// surroundings are what a guest learns of the world around its call, and what it says to it.
func surroundings() []testcase {
	return []testcase{
		{"clock and randomness", "the host's, fresh in every call", func(c *check) {
			seen := map[string]bool{}
			for range 3 {
				got := c.method("clock", nil)
				number, _ := member(got, "now").(json.Number)
				micros, _ := number.Int64()
				if off := time.Since(time.UnixMicro(micros)).Abs(); off > time.Minute {
					c.failf("now is off by %v: %v", off, got)
				}
				random, _ := member(got, "random").(string)
				if b, err := hex.DecodeString(random); err != nil || len(b) != 16 || seen[random] {
					c.failf("random is not 16 new bytes in hex: %v", got)
				}
				seen[random] = true
			}
		}},
		{"request", "the HTTP request that made the call", func(c *check) {
			a := c.request(c.server.Admin, http.MethodGet, "/api/method/"+Plugin+".asked?a=%C3%A9", nil)
			c.same("asked", c.result(a, "asked"), fields{"method": "GET", "path": "/api/method/" + Plugin + ".asked", "query": "a=%C3%A9"})
		}},
		{"tell", "what the user is told beside the answer", func(c *check) {
			for _, e := range []struct{ args, want fields }{
				{fields{"message": "grüß \"dich\""}, fields{"message": "grüß \"dich\"", "indicator": "blue"}},
				{
					fields{"message": "rounded", "title": "Zoë's order", "indicator": "orange"},
					fields{"message": "rounded", "title": "Zoë's order", "indicator": "orange"},
				},
			} {
				a := c.request(c.server.Admin, http.MethodPost, "/api/method/"+Plugin+".tell", e.args)
				c.same("tell", c.result(a, "tell"), nil)
				told := messages(a)
				if c.err == nil && len(told) != 1 {
					c.failf("tell: told %v, expected one message: %s", told, cut(a.text))
				}
				for name, want := range e.want {
					if c.err == nil {
						c.same("tell, the "+name, told[0][name], want)
					}
				}
			}
			c.fails(c.server.Admin, http.MethodPost, "tell", fields{"message": "x", "title": "y", "indicator": "mauve"}, 417, "ValidationError")
		}},
		{"response", "an HTTP answer of the plugin's own", func(c *check) {
			a := c.request(c.server.Admin, http.MethodPost, "/api/method/"+Plugin+".reply", fields{"status": 202, "body": "plain \"é\""})
			if c.err == nil && (a.status != 202 || string(a.text) != "plain \"é\"" || a.header.Get("Content-Type") != "text/plain" || a.header.Get("X-Guest") != "yes") {
				c.failf("reply: %d %v %s", a.status, a.header, cut(a.text))
			}
		}},
	}
}

// messages are what an answer tells the user: objects as text, in an array as text.
func messages(a answer) (told []fields) {
	text, _ := a.body["_server_messages"].(string)
	var each []string
	if json.Unmarshal([]byte(text), &each) != nil {
		return nil
	}
	for _, one := range each {
		var message fields
		if json.Unmarshal([]byte(one), &message) != nil {
			return nil
		}
		told = append(told, message)
	}
	return told
}

// outside is about other services.
func outside() []testcase {
	return []testcase{
		{"fetch", "an HTTP request with headers and a body, and what comes back", func(c *check) {
			_, host, _ := strings.Cut(c.server.Far, "://")
			c.framework("plugins.approve", fields{"plugin": Plugin, "grants": "http_fetch,http_fetch:" + host})
			got := c.method("send", fields{"url": c.server.Far + "/mirror?status=404", "text": difficultLine})
			c.same("send", got, fields{"kind": 0, "status": 404, "type": "text/plain", "body": "POST yes " + difficultLine})
			got = c.method("send", fields{"url": c.server.Far + "/mirror?status=200", "text": large()})
			c.same("send much", member(got, "body"), "POST yes "+large())
			got = c.method("reach", fields{"url": "https://example.org/"})
			c.same("kind of a host that the manifest does not have", member(got, "kind"), 4)
		}},
		{"connected app", "an HTTP request with a token that the guest never sees", func(c *check) {
			c.framework("plugins.approve", fields{"plugin": Plugin, "grants": "connected_request"})
			_, host, _ := strings.Cut(c.server.Far, "://")
			a := c.request(c.server.Admin, http.MethodPost, "/api/resource/Connected%20App", fields{
				"provider_name": "Far", "authorization_uri": c.server.Far + "/authorize", "token_uri": c.server.Far + "/token",
				"client_id": "guest", "client_secret": "secret", "allowed_hosts": host,
			})
			app, _ := member(a.body["data"], "name").(string)
			if app == "" {
				c.failf("insert a Connected App: HTTP status %d: %s", a.status, cut(a.text))
			}
			args := fields{"app": app, "url": c.server.Far + "/who", "own": true}
			c.same("with the app's own token", c.method("connect", args), fields{"kind": 0, "status": 200, "body": "Bearer far"})
			args["own"] = false
			got := c.method("connect", args)
			c.same("kind without a connection", member(got, "kind"), 2)
			c.same("type without a connection", member(got, "type"), "NotConnectedError")
		}},
	}
}

// webhook is a request that is signed with a secret, beside a signature of something else,
// as Standard Webhooks says; sent is when, in seconds.
func (c *check) webhook(secret string, args fields, sent int64) any {
	text, err := json.Marshal(args)
	if err != nil {
		c.failf("%v", err)
		return nil
	}
	key, err := base64.StdEncoding.DecodeString(secret)
	if err != nil {
		c.failf("%v", err)
		return nil
	}
	id, at := "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W", strconv.FormatInt(sent, 10)
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + at + "."))
	mac.Write(text)
	header := map[string]string{
		"webhook-id": id, "webhook-timestamp": at,
		"webhook-signature": "v1,AAAA v1a,BBBB v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)),
	}
	return c.result(c.signed(c.server.Admin, http.MethodPost, "/api/method/"+Plugin+".verify", args, header), "verify")
}

// messengers are webhooks that come in and letters that go out.
func messengers() []testcase {
	return []testcase{
		{"webhook", "the signature of the request, by one of two secrets", func(c *check) {
			secret, other := "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
			args, now := fields{"secret": "whsec_" + secret, "other": other, "text": difficult}, time.Now().Unix()
			c.same("verify", c.webhook(secret, args, now), fields{"kind": 0, "id": "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W", "timestamp": now})
			for _, e := range []struct {
				what string
				got  any
				kind int
			}{
				{"signed by nobody", c.method("verify", args), 3},
				{"signed with another", c.webhook("AAAA", args, now), 3},
				{"signed long ago", c.webhook(secret, args, now-3600), 3},
				{"signed in an hour", c.webhook(secret, args, now+3600), 3},
				{"a secret that is none", c.webhook(secret, fields{"secret": "whsec_", "other": other}, now), 12},
			} {
				c.same(e.what+": kind", member(e.got, "kind"), e.kind)
			}
		}},
		{"letter", "a letter, once it is granted", func(c *check) {
			args := fields{"to": "ann@example.com", "subject": "grüß \"dich\"", "text": difficult}
			c.same("kind before it is approved", member(c.method("letter", args), "kind"), 4)
			c.framework("plugins.approve", fields{"plugin": Plugin, "grants": "sendmail"})
			c.same("letter", c.method("letter", args), fields{"kind": 0, "jobs": 1})
			c.same("kind of what is no address", member(c.method("letter", fields{"to": "ann", "subject": "x", "text": "y"}), "kind"), 2)
		}},
	}
}

// isolation is about what one call leaves to the next.
func isolation() []testcase {
	return []testcase{
		{"pristine", "no call sees what another left in memory", func(c *check) {
			for range 3 {
				c.same("tally", c.method("tally", nil), fields{"n": 1})
			}
		}},
		{"trap", "a guest that dies hurts only its call", func(c *check) {
			c.fails(c.server.Admin, http.MethodPost, "crash", fields{}, 500, "PluginTrapError")
			c.same("after the crash", c.method("tally", nil), fields{"n": 1})
		}},
		{"limits", "a guest that is over a limit ends, and hurts only its call", func(c *check) {
			c.fails(c.server.Admin, http.MethodPost, "spin", fields{}, 500, "ResourceExhaustedError")
			c.fails(c.server.Admin, http.MethodPost, "echo", fields{"text": strings.Repeat("x", maxOutput)}, 500, "ResourceExhaustedError")
			c.same("after the limits", c.method("tally", nil), fields{"n": 1})
		}},
	}
}
