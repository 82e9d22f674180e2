// Package console is the page at /app/d: lists and forms of documents, and where DocTypes
// are made, for who is logged in.
//
// The page is a program in the browser. Its sources are in src, what is built of them in
// built, and that is part of this package. It asks the API as any client does, with the
// session of who looks at it. Nothing here decides who may do what.
package console

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"

	"armature/core/coding"
	"armature/core/fault"
	"armature/core/identity"
	"armature/core/proxy"
	"armature/core/route"
)

const (
	// Path is where the page begins.
	Path = "/app/d"
	// assets is where the program's files are, whoever asks for them.
	assets = "/app/assets/"
	// sessionPath answers who is logged in, for a page whose session has ended.
	sessionPath = "/app/session.json"
)

// views are the addresses at which the page is sent; the program shows what belongs there.
var views = []string{Path, Path + "/", "/app/new/", "/app/types", "/app/types/", "/app/new-type"}

//go:embed built
var built embed.FS

//go:embed page.html
var source string

var page = template.Must(template.New("page").Parse(source))

// Config is what the page of a site is made with.
type Config struct {
	Name func() string // what the site is called on its pages
	// Token is the CSRF token of the request's session; empty: it has none.
	Token func(ctx context.Context, r *http.Request) (string, error)
	Login string // the path of the login page, which takes redirect-to
}

// Console serves the page of one site.
type Console struct{ c Config }

// New makes the page of a site.
func New(c Config) *Console { return &Console{c: c} }

// Pages is the page, whatever view of it is asked for, and its files.
func (c *Console) Pages() []route.Page {
	pages := []route.Page{{Path: assets, Serve: serveAsset}, {Path: sessionPath, Serve: c.serveSession}}
	for _, view := range views {
		pages = append(pages, route.Page{Path: view, Serve: c.serve})
	}
	return pages
}

// session is what the program is told of whoever looks at it.
type session struct {
	Site     string `json:"site"`
	User     string `json:"user"`
	FullName string `json:"full_name"`
	Token    string `json:"csrf_token"`
	Manager  bool   `json:"manager"` // may make DocTypes
}

func (c *Console) session(r *http.Request, caller *identity.Caller) (s session, err error) {
	s = session{Site: c.c.Name(), User: caller.User, FullName: caller.FullName, Manager: caller.HasRole(identity.SystemManager)}
	if !caller.IsGuest() {
		s.Token, err = c.c.Token(r.Context(), r)
	}
	return s, err
}

// serve sends the page to who is logged in, and others to the login and back.
func (c *Console) serve(w http.ResponseWriter, r *http.Request, call *route.Call) error {
	if err := onlyRead(w, r); err != nil {
		return err
	}
	if call.Caller.IsGuest() {
		guard(w.Header(), "default-src 'none'; frame-ancestors 'none'")
		w.Header().Set("Location", c.c.Login+"?"+url.Values{"redirect-to": {r.URL.RequestURI()}}.Encode())
		w.WriteHeader(http.StatusSeeOther)
		return nil
	}
	if call.Caller.Narrowed() {
		return fault.Denied("This page is for people, not for applications") // their tokens reach what was agreed to, which is no page
	}
	s, err := c.session(r, call.Caller)
	if err != nil {
		return err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	var body bytes.Buffer
	if err := page.Execute(&body, map[string]any{"Site": s.Site, "Session": string(text), "Language": language(r)}); err != nil {
		return err
	}
	guard(w.Header(), policy(r))
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(body.Bytes()) // the client is gone
	return nil
}

// language is that which the user has chosen, as the login has said it; empty: the browser's.
func language(r *http.Request) string {
	c, err := r.Cookie("user_lang")
	if err != nil {
		return ""
	}
	return c.Value
}

// serveSession says who is logged in. A page of another site is not told: it is not among
// the paths that allow_cors opens, and answers with what a person may see of themselves.
func (c *Console) serveSession(w http.ResponseWriter, r *http.Request, call *route.Call) error {
	if err := onlyRead(w, r); err != nil {
		return err
	}
	if from := r.Header.Get("Sec-Fetch-Site"); from != "" && from != "same-origin" {
		return fault.Denied("This is for the site's own page")
	}
	if call.Caller.Narrowed() {
		return fault.Denied("This page is for people, not for applications")
	}
	s, err := c.session(r, call.Caller)
	if err != nil {
		return err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	guard(w.Header(), "default-src 'none'; frame-ancestors 'none'")
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text) // the client is gone
	return nil
}

// kinds are what the files of the program are.
var kinds = map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}

// serveAsset sends a file of the program. Their names stay the same from version to
// version, so a browser asks each time whether it has the right one.
func serveAsset(w http.ResponseWriter, r *http.Request, _ *route.Call) error {
	if err := onlyRead(w, r); err != nil {
		return err
	}
	files, err := packed()
	if err != nil {
		return err
	}
	f, there := files[strings.TrimPrefix(r.URL.Path, assets)]
	if !there {
		return fault.New(fault.NotFound, "PageDoesNotExistError", "There is no such file")
	}
	h := w.Header()
	guard(h, "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cache-Control", "no-cache")
	h.Set("Content-Type", f.kind)
	h.Set("ETag", f.tag)
	h.Set("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("If-None-Match"), strings.TrimPrefix(f.tag, "W/")) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	body := f.plain
	if how := coding.Best(r.Header.Get("Accept-Encoding"), coding.Gzip); how != "" {
		h.Set("Content-Encoding", how)
		body = f.gzip
	}
	_, _ = w.Write(body) // the client is gone
	return nil
}

// policy lets run the program's own files and no other script, and lets them ask this
// site alone. svelte-trusted-html is the policy by which the compiler's own templates,
// which are constants, become elements; the program makes none. Style attributes are
// let be: the library of dialogs hides labels by them, and no value becomes markup.
func policy(r *http.Request) string {
	own := "'self'"
	if u, err := url.Parse("http://" + r.Host); err == nil && u.Host == r.Host && !strings.ContainsAny(r.Host, " ,;'\"") {
		scheme := "http"
		if proxy.Secure(r) {
			scheme = "https"
		}
		own = scheme + "://" + r.Host + assets
	}
	return "default-src 'none'; script-src " + own + "; style-src " + own + "; style-src-attr 'unsafe-inline'; connect-src 'self'; img-src 'self' data: blob:; " +
		"base-uri 'none'; form-action 'self'; frame-ancestors 'none'; " +
		"require-trusted-types-for 'script'; trusted-types svelte-trusted-html"
}

func guard(h http.Header, policy string) {
	for name, value := range map[string]string{
		"Content-Security-Policy": policy, "X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff",
		"Referrer-Policy": "same-origin", "Cache-Control": "no-store",
	} {
		h.Set(name, value)
	}
}

func onlyRead(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	w.Header().Set("Allow", "GET, HEAD")
	return fault.New(fault.MethodNotAllowed, "", "%s is not allowed on this path", r.Method)
}

// names lists the files of the program.
func names() ([]string, error) {
	var all []string
	err := fs.WalkDir(built, "built", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && kinds[path.Ext(name)] != "" {
			all = append(all, name)
		}
		return err
	})
	return all, err
}
