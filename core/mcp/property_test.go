package mcp_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"armature/core/sites/sitetest"
)

// twins are documents and callers, of which each is there twice: what REST does to
// documents whose names begin with r, a tool does to those that begin with t.
type twins struct {
	t   *testing.T
	s   *sitetest.Server
	r   *rand.Rand
	who []twin
	new int
}

// twin is one caller: how REST is asked, and how the tools are.
type twin struct{ name, rest, tools string }

type m = map[string]any

func newTwins(t *testing.T, s *sitetest.Server) *twins {
	t.Helper()
	manager := m{"role": "System Manager", "read": 1, "write": 1, "create": 1, "delete": 1, "submit": 1, "cancel": 1}
	doctype := func(name string, submittable int, permissions ...m) {
		t.Helper()
		fields := []m{
			{"fieldname": "title", "fieldtype": "Data", "reqd": 1}, {"fieldname": "state", "fieldtype": "Select", "options": "open\nclosed"},
			{"fieldname": "qty", "fieldtype": "Int"}, {"fieldname": "secret", "fieldtype": "Data", "permlevel": 1}, {"fieldname": "fixed", "fieldtype": "Data", "set_only_once": 1},
		}
		if submittable == 0 {
			permissions = append(permissions, m{"role": "System Manager", "permlevel": 1, "read": 1, "write": 1})
			manager := m{"role": "System Manager", "read": 1, "write": 1, "create": 1, "delete": 1}
			permissions = append(permissions, manager)
		} else {
			permissions = append(permissions, manager)
		}
		s.Admin.On(t).Post("/api/resource/DocType", m{"name": name, "module": "Shop", "custom": 1, "autoname": "Prompt", "is_submittable": submittable, "fields": fields, "permissions": permissions}).OK(t)
	}
	for _, role := range []string{"Reader", "Writer"} {
		s.Admin.On(t).Post("/api/resource/Role", m{"role_name": role}).OK(t)
	}
	doctype("Case", 0,
		m{"role": "Reader", "read": 1, "condition": `[["state","=","open"]]`},
		m{"role": "Writer", "read": 1, "write": 1, "create": 1, "delete": 1, "condition": `[["owner","=","$user"]]`},
		m{"role": "Writer", "read": 1, "write": 1, "condition": `[["qty",">",5]]`})
	doctype("Paper", 1, m{"role": "Reader", "read": 1}, m{"role": "Writer", "read": 1, "write": 1, "create": 1, "submit": 1})
	w := &twins{t: t, s: s, r: rand.New(rand.NewPCG(27, 4))}
	for i, roles := range [][]string{{"System Manager"}, {"Reader"}, {"Writer"}, {"Reader", "Writer"}} {
		p := newProgram(t, s, fmt.Sprintf("robot%d@example.com", i), roles...)
		for _, scopes := range []string{"all", "all", "resource:*:write method:*", "resource:*:read", "resource:Case:read resource:Paper:write"} {
			w.who = append(w.who, twin{fmt.Sprint(roles, " ", scopes), p.token(scopes, ""), p.token(scopes, s.URL+"/mcp")})
		}
	}
	return w
}

func pick[T any](w *twins, from ...T) T { return from[w.r.IntN(len(from))] }

// values are those of a document, of which one may be wrong: which of several is told
// first is nobody's promise.
func (w *twins) values() m {
	v := m{"title": pick(w, "a", "b"), "state": pick(w, "open", "closed"), "qty": w.r.IntN(12)}
	for _, name := range []string{"title", "state", "qty"} {
		if w.r.IntN(4) == 0 {
			delete(v, name)
		}
	}
	if w.r.IntN(4) == 0 {
		name := pick(w, "title", "long", "state", "qty", "secret", "fixed", "none", "docstatus", "modified")
		v[name] = m{"title": "", "state": "lost", "qty": "many", "secret": "hidden", "fixed": pick(w, "once", "again"), "none": 1, "docstatus": 1, "modified": "2001-01-01 00:00:00"}[name]
		if name == "long" {
			delete(v, name)
			v["title"] = strings.Repeat("x", 200)
		}
	}
	return v
}

// rest is what REST answers: a status and an exc_type, or data.
func (w *twins) rest(c twin, verb, path string, body any) string {
	client := *w.s.Guest
	client.Authorization = c.rest
	text, err := json.Marshal(body)
	if err != nil {
		w.t.Fatal(err)
	}
	if body == nil {
		text = nil
	}
	got := client.On(w.t).Do(verb, path, "application/json", text)
	if got.Status >= 400 {
		return fmt.Sprint(got.Status, " ", got.Body["exc_type"])
	}
	data := got.Body["data"]
	if verb == "DELETE" {
		data = "deleted"
	}
	if unknown := got.Body["_unknown_fields"]; unknown != nil {
		data.(m)["_unknown_fields"] = unknown
	}
	if data == nil {
		data = got.Body["message"]
	}
	return w.plain(data)
}

// tool is what a tool answers, in the same words.
func (w *twins) tool(c twin, name string, args m) string {
	res, text := raw(w.t, w.s, http.Header{"Authorization": {c.tools}}, toolCall(name, args))
	var said struct {
		Result struct {
			IsError bool
			Data    m `json:"structuredContent"`
		}
	}
	if err := json.Unmarshal([]byte(text), &said); err != nil || said.Result.Data == nil {
		w.t.Fatalf("%s %v: %d %s", name, args, res.StatusCode, text)
	}
	got := said.Result.Data
	switch {
	case said.Result.IsError:
		return fmt.Sprint(got["status"], " ", got["exc_type"])
	case name == "delete":
		return w.plain("deleted")
	case name == "list":
		return w.plain(got["rows"])
	}
	return w.plain(got)
}

var (
	moments = regexp.MustCompile(`"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+"`)
	twinned = regexp.MustCompile(`"[rt]-`)
)

func (w *twins) plain(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		w.t.Fatal(err)
	}
	return twinned.ReplaceAllString(moments.ReplaceAllString(string(text), `"then"`), `"x-`)
}

// one asks both sides the same, and compares.
func (w *twins) one() (kind string) {
	c, doctype, name := pick(w, w.who...), pick(w, "Case", "Paper", "Case", "Paper", "Case", "Paper", "User", "Nothing"), fmt.Sprint("-", w.r.IntN(20))
	path := "/api/resource/" + doctype
	var rest, tool string
	var asked any
	switch kind = pick(w, "read", "list", "list", "create", "update", "update", "delete", "submit"); kind {
	case "read":
		rest, tool = w.rest(c, "GET", path+"/r"+name, nil), w.tool(c, "read", m{"doctype": doctype, "name": "t" + name})
	case "list":
		args := m{"fields": pick(w, []string{"name", "state"}, []string{"name", "qty", "secret"}, []string{"name", "none"}), "order_by": "name asc", "limit": pick(w, 1, 5, 20)}
		if f := pick(w, "", `[["state","=","open"]]`, `[["qty",">",2]]`, `[["secret","=","hidden"]]`, `[["odd"]]`); f != "" {
			args["filters"] = json.RawMessage(f)
		}
		asked = args
		q := url.Values{}
		for key, v := range args {
			text, _ := json.Marshal(v)
			q.Set(key, strings.Trim(string(text), `"`))
		}
		both := m{"doctype": doctype}
		for key, v := range args {
			both[key] = v
		}
		rest, tool = w.rest(c, "GET", path+"?"+q.Encode(), nil), w.tool(c, "list", both)
	case "create":
		asked = w.values()
		w.new++
		own := func(prefix string) m {
			v := m{"name": fmt.Sprint(prefix, "-", 20+w.new)}
			if w.new%2 == 0 {
				v["name"] = fmt.Sprint(prefix, "-", w.new%20) // there is one perhaps
			}
			for key, value := range asked.(m) {
				v[key] = value
			}
			return v
		}
		rest, tool = w.rest(c, "POST", path, own("r")), w.tool(c, "create", m{"doctype": doctype, "values": own("t")})
	case "update":
		asked = w.values()
		rest, tool = w.rest(c, "PUT", path+"/r"+name, asked), w.tool(c, "update", m{"doctype": doctype, "name": "t" + name, "values": asked})
	case "delete":
		rest, tool = w.rest(c, "DELETE", path+"/r"+name, nil), w.tool(c, "delete", m{"doctype": doctype, "name": "t" + name})
	case "submit":
		action := pick(w, "submit", "submit", "cancel", "discard")
		asked = action
		rest, tool = w.rest(c, "POST", path+"/r"+name, m{"run_method": action}), w.tool(c, "submit", m{"doctype": doctype, "name": "t" + name, "action": action})
	}
	if !reflect.DeepEqual(rest, tool) {
		w.t.Errorf("%s %s%s %v as %s:\nREST %s\ntool %s", kind, doctype, name, asked, c.name, rest, tool)
	}
	if rest[0] >= '4' && rest[0] <= '5' {
		return "refused " + kind
	}
	return kind
}

// TestToolsAreREST: what a tool shows and does is what REST shows and does for the same
// caller, whoever that is, whatever its token may and whatever is asked; and afterwards
// the documents of both are the same.
func TestToolsAreREST(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		w := newTwins(t, s)
		for i := range 20 {
			for _, side := range []string{"r", "t"} {
				for _, doctype := range []string{"Case", "Paper"} {
					s.Admin.On(t).Post("/api/resource/"+doctype, m{"name": fmt.Sprint(side, "-", i), "title": "first", "state": []string{"open", "closed"}[i%2], "qty": i}).OK(t)
				}
			}
		}
		count := map[string]int{}
		for range 600 {
			count[w.one()]++
			if t.Failed() {
				break
			}
		}
		for _, kind := range []string{"read", "list", "create", "update", "delete", "submit"} {
			if count[kind] < 3 || count["refused "+kind] < 3 {
				t.Errorf("too little of %s: %v", kind, count)
			}
		}
		for _, doctype := range []string{"Case", "Paper"} {
			rows := func(side string) string {
				q := url.Values{"filters": {`[["name","like","` + side + `-%"]]`}, "fields": {`["name","title","state","qty","secret","fixed","docstatus","owner"]`}, "order_by": {"name asc"}, "limit": {"1000"}}
				return w.plain(s.Admin.On(t).Get("/api/resource/" + doctype + "?" + q.Encode()).OK(t).Body["data"])
			}
			if r, tl := rows("r"), rows("t"); r != tl {
				t.Errorf("%s afterwards:\nREST %s\ntool %s", doctype, r, tl)
			}
		}
	})
}
