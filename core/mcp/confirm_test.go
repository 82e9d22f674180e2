package mcp_test

import (
	"context"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"armature/core/document"
	"armature/core/sites/sitetest"
)

const phrase = "a long enough pass phrase"

// person is a user with a browser, and with an API key that an agent has.
type person struct {
	t       testing.TB
	s       *sitetest.Server
	email   string
	key     string
	browser *http.Client
}

func newPerson(t testing.TB, s *sitetest.Server, email string, roles ...string) *person {
	t.Helper()
	rows := []map[string]any{}
	for _, role := range roles {
		rows = append(rows, map[string]any{"role": role})
	}
	s.Admin.On(t).Post("/api/resource/User", map[string]any{"email": email, "first_name": "Ada", "new_password": phrase, "roles": rows}).OK(t)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &person{t, s, email, s.As(t, email).Authorization, &http.Client{Jar: jar}}
	if status, text := p.post("/api/method/login", url.Values{"usr": {email}, "pwd": {phrase}}); status != 200 {
		t.Fatalf("login: %d %s", status, text)
	}
	return p
}

func (p *person) post(path string, form url.Values) (int, string) {
	p.t.Helper()
	res, err := p.browser.PostForm(p.s.URL+strings.TrimPrefix(path, p.s.URL), form)
	return p.read(res, err)
}

func (p *person) get(path string) (int, string) {
	p.t.Helper()
	res, err := p.browser.Get(p.s.URL + strings.TrimPrefix(path, p.s.URL))
	return p.read(res, err)
}

func (p *person) read(res *http.Response, err error) (int, string) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

var csrf = regexp.MustCompile(`name="csrf_token" value="([^"]*)"`)

// decide looks at a confirmation and says yes or no.
func (p *person) decide(address any, decision string) (page string) {
	p.t.Helper()
	status, page := p.get(fmt.Sprint(address))
	token := csrf.FindStringSubmatch(page)
	if status != 200 || token == nil {
		p.t.Fatalf("the page to confirm on: %d %s", status, page)
	}
	if status, text := p.post(fmt.Sprint(address), url.Values{"decision": {decision}, "csrf_token": {html.UnescapeString(token[1])}}); status != 200 {
		p.t.Fatalf("%s: %d %s", decision, status, text)
	}
	return page
}

// TestConfirmation: what an agent writes waits until its user has seen it in the browser
// and said yes; then exactly that happens, once.
func TestConfirmation(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		s.Configure(t, "mcp_confirm", `"all"`)
		p := newPerson(t, s, "ada@example.com", "System Manager")
		for _, version := range generations {
			t.Run(version, func(t *testing.T) {
				a := connect(t, s, p.key, version)
				count := func() float64 {
					return s.Admin.On(t).Get("/api/method/framework.client.get_count?doctype=ToDo").Message(t).(float64)
				}
				before := count()
				hostile := `<script>alert(1)</script><img src=x onerror=alert(1)>` + version
				args := map[string]any{"doctype": "ToDo", "values": map[string]any{"description": hostile}}
				asked := a.refused("ConfirmationRequiredError", "create", args)
				if !strings.Contains(fmt.Sprint(asked["next"]), "same arguments") || !strings.Contains(fmt.Sprint(asked["would"]), "created") {
					t.Errorf("the agent is told %v", asked)
				}
				again := a.refused("ConfirmationRequiredError", "create", args)
				if again["url"] != asked["url"] || count() != before {
					t.Fatalf("asked again: %v, %v documents more", again, count()-before)
				}
				a.refused("ConfirmationRequiredError", "create", map[string]any{"doctype": "ToDo", "values": map[string]any{"description": hostile, "confirmed": true, "confirm": "allow"}})
				page := p.decide(asked["url"], "allow")
				if strings.Contains(page, "<script") || strings.Contains(page, "<img src=x") || !strings.Contains(page, html.EscapeString("onerror=alert(1)>"+version)) || !strings.Contains(page, "ToDo") {
					t.Errorf("the page: %s", page)
				}
				if count() != before {
					t.Error("confirming does it")
				}
				made := a.ok("create", args)
				if count() != before+1 {
					t.Errorf("%v documents more", count()-before)
				}
				a.refused("ConfirmationRequiredError", "create", args) // it counts once

				change := map[string]any{"doctype": "ToDo", "name": made["name"], "values": map[string]any{"priority": "High"}}
				asked = a.refused("ConfirmationRequiredError", "update", change)
				if page := p.decide(asked["url"], "allow"); !strings.Contains(page, "Medium") || !strings.Contains(page, "High") || !strings.Contains(page, fmt.Sprint(made["name"])) {
					t.Errorf("the difference: %s", page)
				}
				s.Admin.On(t).Put(fmt.Sprint("/api/resource/ToDo/", made["name"]), map[string]any{"status": "Closed"}).OK(t)
				a.refused("TimestampMismatchError", "update", change) // it is not the document that was shown
				if got := s.Admin.On(t).Get(fmt.Sprint("/api/resource/ToDo/", made["name"])).Data(t)["priority"]; got != "Medium" {
					t.Errorf("priority %v", got)
				}
				remove := map[string]any{"doctype": "ToDo", "name": made["name"]}
				asked = a.refused("ConfirmationRequiredError", "delete", remove)
				p.decide(asked["url"], "deny")
				a.refused("PermissionError", "delete", remove)
				method := map[string]any{"method": "framework.client.set_value", "arguments": map[string]any{"doctype": "ToDo", "name": made["name"], "fieldname": "priority", "value": "Low"}}
				asked = a.refused("ConfirmationRequiredError", "call_method", method)
				if page := p.decide(asked["url"], "allow"); !strings.Contains(page, "Low") {
					t.Errorf("the difference of a method: %s", page)
				}
				a.ok("call_method", method)
				if got := s.Admin.On(t).Get(fmt.Sprint("/api/resource/ToDo/", made["name"])).Data(t)["priority"]; got != "Low" {
					t.Errorf("priority %v", got)
				}
				// What fails anyhow is not asked for.
				a.refused("DoesNotExistError", "delete", map[string]any{"doctype": "ToDo", "name": "nothing"})
				// What may do more than write documents is not tried out.
				asked = a.refused("ConfirmationRequiredError", "call_method", map[string]any{"method": "framework.core.doctype.user.user.generate_keys", "arguments": map[string]any{"user": p.email, "for": version}})
				if page := p.decide(asked["url"], "deny"); !strings.Contains(page, "cannot be shown beforehand") {
					t.Errorf("the page: %s", page)
				}
				a.ok("read", remove)
			})
		}
	})
}

// TestWhoConfirms: nobody but the user, by a session and from the page itself.
func TestWhoConfirms(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		s.Configure(t, "mcp_confirm", `"all"`)
		p := newPerson(t, s, "ada@example.com", "System Manager")
		other := newPerson(t, s, "eve@example.com", "System Manager")
		a := connect(t, s, p.key, generations[0])
		args := map[string]any{"doctype": "ToDo", "values": map[string]any{"description": "x"}}
		address := fmt.Sprint(a.refused("ConfirmationRequiredError", "create", args)["url"])
		if !strings.HasPrefix(address, s.URL+"/app/confirm/") {
			t.Fatalf("the address %s", address)
		}
		if status, text := other.get(address); status != http.StatusNotFound {
			t.Errorf("somebody else sees it: %d %s", status, text)
		}
		for _, by := range []string{p.key, s.Admin.Authorization} {
			for _, verb := range []string{http.MethodGet, http.MethodPost} {
				r, _ := http.NewRequestWithContext(t.Context(), verb, address, strings.NewReader("decision=allow"))
				r.Header.Set("Authorization", by)
				r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				res, err := http.DefaultClient.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				_ = res.Body.Close()
				if res.StatusCode != http.StatusForbidden {
					t.Errorf("%s by a key: %d", verb, res.StatusCode)
				}
			}
		}
		if status, _ := p.post(address, url.Values{"decision": {"allow"}}); status == 200 {
			t.Errorf("without the token of the page: %d", status)
		}
		if status, _ := p.post(address, url.Values{"decision": {"allow"}, "csrf_token": {"guessed"}}); status == 200 {
			t.Errorf("with a guessed token: %d", status)
		}
		a.refused("ConfirmationRequiredError", "create", args)
		// Rows of confirmations are nobody's to read or to write.
		id := address[strings.LastIndexByte(address, '/')+1:]
		own := *s.Guest
		own.Authorization = p.key
		if got := own.On(t).Put("/api/resource/Agent%20Confirmation/"+id, map[string]any{"status": "Allowed"}); got.Status == 200 {
			t.Error("a row is written by its user")
		}
		// One who may write everything confirms nothing by it.
		written := map[string]any{"doctype": "ToDo", "values": map[string]any{"description": "written"}}
		second := fmt.Sprint(a.refused("ConfirmationRequiredError", "create", written)["url"])
		s.Admin.On(t).Put("/api/resource/Agent%20Confirmation/"+second[strings.LastIndexByte(second, '/')+1:], map[string]any{"status": "Allowed"})
		a.refused("ConfirmationRequiredError", "create", written)
		p.decide(address, "allow")
		if _, failed := connect(t, s, other.key, generations[0]).call("create", args); !failed {
			t.Error("it counts for somebody else")
		}
		// Of many at once one is made.
		var made, wg = make(chan bool, 8), sync.WaitGroup{}
		for range 8 {
			wg.Go(func() {
				_, text := raw(t, s, http.Header{"Authorization": {p.key}}, toolCall("create", args))
				made <- !strings.Contains(text, `"isError":true`)
			})
		}
		wg.Wait()
		close(made)
		n := 0
		for ok := range made {
			if ok {
				n++
			}
		}
		if n != 1 {
			t.Errorf("made %d times", n)
		}
	})
}

// TestOnlyWhatWasShown: a hook that does another thing the second time does nothing.
func TestOnlyWhatWasShown(t *testing.T) {
	var tricks trick
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		s.Configure(t, "mcp_confirm", `"all"`)
		p := newPerson(t, s, "ada@example.com", "System Manager")
		a := connect(t, s, p.key, generations[0])
		victim := s.Admin.On(t).Post("/api/resource/ToDo", map[string]any{"description": "victim"}).Data(t)["name"].(string)
		tricks.do(func(ctx trickContext) error { return nil })
		args := map[string]any{"doctype": "ToDo", "values": map[string]any{"description": "x"}}
		asked := a.refused("ConfirmationRequiredError", "create", args)
		p.decide(asked["url"], "allow")
		tricks.do(func(c trickContext) error {
			if c.ev.Doc.Text("description") == "x" {
				doc, err := c.ev.Tx.Get(c.ctx, nil, c.ev.Doc.Type, victim, true)
				if err != nil {
					return err
				}
				was := doc.Modified()
				doc.Put("description", "changed")
				_, err = c.ev.Tx.Update(c.ctx, nil, doc, doc.Type.Columns, nil, was)
				_ = err // a guest may catch it
			}
			return nil
		})
		a.refused("TimestampMismatchError", "create", args)
		tricks.do(nil)
		if got := s.Admin.On(t).Get("/api/resource/ToDo/" + victim).Data(t)["description"]; got != "victim" {
			t.Errorf("the victim has %v", got)
		}
		if rows := s.Admin.On(t).Get(`/api/resource/ToDo?filters=[["description","=","x"]]`).List(t); len(rows) != 0 {
			t.Errorf("made: %v", rows)
		}
	}, sitetest.WithHooks(&tricks))
}

// TestWhoWaits: with the setting as it comes, what a machine writes does not wait.
func TestWhoWaits(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		p := newProgram(t, s, "robot@example.com", "System Manager")
		args := map[string]any{"doctype": "ToDo", "values": map[string]any{"description": "x"}}
		connect(t, s, p.token("all", s.URL+"/mcp"), generations[0]).ok("create", args)
		connect(t, s, s.Admin.Authorization, generations[0]).ok("create", args)
		s.Configure(t, "mcp_confirm", `"all"`)
		connect(t, s, p.token("all", s.URL+"/mcp"), generations[0]).refused("ConfirmationRequiredError", "create", args)
		s.Configure(t, "mcp_confirm", `"none"`)
		connect(t, s, p.token("all", s.URL+"/mcp"), generations[0]).ok("create", args)
	})
}

// TestElicitation: a client that opens pages for its user is asked to open this one, and
// what it answers counts for nothing.
func TestElicitation(t *testing.T) {
	sitetest.Each(t, func(t *testing.T, s *sitetest.Server) {
		s.Configure(t, "mcp_confirm", `"all"`)
		p := newPerson(t, s, "ada@example.com", "System Manager")
		confirms := false
		client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
			Capabilities: &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{URL: &sdk.URLElicitationCapabilities{}}},
			ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
				if r.Params.Mode != "url" || !strings.HasPrefix(r.Params.URL, s.URL+"/app/confirm/") {
					t.Errorf("asked %+v", r.Params)
				}
				if confirms {
					p.decide(r.Params.URL, "allow")
				}
				return &sdk.ElicitResult{Action: "accept"}, nil
			},
		})
		session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{
			Endpoint: s.URL + "/mcp", HTTPClient: &http.Client{Transport: authorized(p.key)}, MaxRetries: -1, DisableStandaloneSSE: true,
		}, &sdk.ClientSessionOptions{ProtocolVersion: generations[0]})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = session.Close() })
		a := &agent{t, session}
		a.refused("ConfirmationRequiredError", "create", map[string]any{"doctype": "ToDo", "values": map[string]any{"description": "no"}})
		confirms = true
		a.ok("create", map[string]any{"doctype": "ToDo", "values": map[string]any{"description": "yes"}})
	})
}

type trickContext struct {
	ctx context.Context
	ev  *document.Event
}

// trick is a hook that tests set.
type trick struct {
	mu sync.Mutex
	fn func(trickContext) error
}

func (h *trick) do(fn func(trickContext) error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fn = fn
}

// Handles implements document.Hooks.
func (*trick) Handles(typeName string) bool { return typeName == "ToDo" }

// RunsPlugins implements document.Hooks.
func (*trick) RunsPlugins(typeName string) bool { return typeName == "ToDo" }

// Run implements document.Hooks.
func (h *trick) Run(ctx context.Context, ev *document.Event) error {
	h.mu.Lock()
	fn := h.fn
	h.mu.Unlock()
	if fn == nil || ev.Name != document.AfterInsert {
		return nil
	}
	return fn(trickContext{ctx, ev})
}
