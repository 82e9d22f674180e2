package route_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"armature/core/fault"
	"armature/core/identity"
	"armature/core/route"
)

// says is a handler that tells where a request came to.
func says(text string) route.Handler {
	return func(w http.ResponseWriter, _ *http.Request, call *route.Call) error {
		_, err := fmt.Fprintf(w, "%s for %s", text, call.Caller.User)
		return err
	}
}

func ExampleTable() {
	var t route.Table
	_ = t.Add(&route.Raw{Path: "login", Serve: says("login")})
	_ = t.AddPages(route.Page{Path: "/login", Serve: says("the page")})
	call := &route.Call{Caller: identity.Anonymous()}
	w := httptest.NewRecorder()
	_ = t.Raw("login").Serve(w, nil, call)
	fmt.Println(w.Body)
	w = httptest.NewRecorder()
	_ = t.Page(w, httptest.NewRequest("GET", "/login", nil), call)
	fmt.Println(w.Body)
	// Output:
	// login for Guest
	// the page for Guest
}

// TestRefusedRoutes: a mistake in wiring a site shows when the site is opened, not
// at a request.
func TestRefusedRoutes(t *testing.T) {
	var table route.Table
	if err := table.Add(&route.Raw{Path: "login", Serve: says("first")}); err != nil {
		t.Fatal(err)
	}
	for name, raw := range map[string]*route.Raw{
		"taken":         {Path: "login", Serve: says("second")},
		"no path":       {Serve: says("x")},
		"nobody serves": {Path: "logout"},
	} {
		if err := table.Add(raw); err == nil {
			t.Errorf("%s: it was registered", name)
		}
	}
}

// TestFoundRoutes: what is found at a request never stands before what is
// registered, and where nothing is found there is nothing.
func TestFoundRoutes(t *testing.T) {
	var table route.Table
	if err := table.Add(&route.Raw{Path: "login", Serve: says("registered")}); err != nil {
		t.Fatal(err)
	}
	table.AddFound(func(path string) *route.Raw {
		if path == "other" {
			return nil
		}
		return &route.Raw{Path: path, Serve: says("found")}
	})
	for path, want := range map[string]string{"login": "registered for Guest", "upload": "found for Guest"} {
		w := httptest.NewRecorder()
		if err := table.Raw(path).Serve(w, nil, &route.Call{Caller: identity.Anonymous()}); err != nil || w.Body.String() != want {
			t.Errorf("%s: %q, %v; want %q", path, w.Body, err, want)
		}
	}
	if table.Raw("other") != nil {
		t.Error("something answers where nothing is")
	}
	err := table.Page(httptest.NewRecorder(), httptest.NewRequest("GET", "/nowhere", nil), &route.Call{})
	if f := fault.From(err); f.Kind != fault.NotFound || f.Type != "PageDoesNotExistError" {
		t.Errorf("a page that there is not: %v", err)
	}
}

// TestPages: a page answers its path and, with a slash at the end, what is below;
// nothing else comes between the platform's pages.
func TestPages(t *testing.T) {
	var table route.Table
	if err := table.AddPages(route.Page{Path: "/login", Serve: says("login")}, route.Page{Path: "/app/users", Serve: says("users")}, route.Page{Path: "/files/", Serve: says("file")}); err != nil {
		t.Fatal(err)
	}
	table.AddRest(func(path string) route.Handler {
		if path == "/nowhere" {
			return nil
		}
		return says("rest")
	})
	for path, want := range map[string]string{
		"/login": "login", "/app/users": "users", "/files/x": "file", "/files/x/y": "file", "/files/": "file",
		"/": "rest", "/loginx": "rest", "/app/other": "rest", "/app": "rest", "/x/login": "rest", "/filesx": "rest", "/x/files/y": "rest",
		"/login/": "", "/login/x": "", "/app/users/x": "", "/files": "", "/nowhere": "",
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", "http://site.test"+path, nil)
		err := table.Page(w, r, &route.Call{Caller: identity.Anonymous()})
		if got := w.Body.String(); want == "" && err == nil || want != "" && got != want+" for Guest" {
			t.Errorf("%s: %q %v, want %q", path, got, err, want)
		}
		if reserved := table.Reserved(path); reserved != (want != "rest" && path != "/nowhere") {
			t.Errorf("%s: reserved %v", path, reserved)
		}
	}
	if err := table.AddPages(route.Page{Path: "/login", Serve: says("second")}); err == nil {
		t.Error("a path is taken twice")
	}
	if err := table.AddPages(route.Page{Path: "login", Serve: says("x")}); err == nil {
		t.Error("a path without a slash is registered")
	}
}
