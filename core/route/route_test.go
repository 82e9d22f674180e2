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
	t.AddPages(func(path string) route.Handler {
		if path != "/login" {
			return nil
		}
		return says("the page")
	})
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
