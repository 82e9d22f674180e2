// Package explorer is the page at which a person looks at a site's API and tries it:
// what the reader may use, by the description that the API gives of itself, with a form
// for each operation and the same request as a command and as programs.
//
// All of the page is one answer, without any other file. Its policy lets run the script
// that is in it, and lets that ask this site alone.
package explorer

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"net/http"

	"armature/core/fault"
	"armature/core/route"
)

// Path is where the page is.
const Path = "/api/docs"

//go:embed page.html
var source string

//go:embed page.css
var style string

//go:embed page.js
var script string

// Config is what the page of a site is made with.
type Config struct {
	Name func() string // what the site is called on its pages
	// Token is the CSRF token of the request's session, without which it may try
	// nothing that changes something; empty: it has none.
	Token func(ctx context.Context, r *http.Request) (string, error)
}

// Explorer serves the page of one site.
type Explorer struct {
	c    Config
	page *template.Template
}

// New makes the page of a site.
func New(c Config) *Explorer {
	return &Explorer{c: c, page: template.Must(template.New("page").Parse(source))}
}

// Pages is the page.
func (e *Explorer) Pages() []route.Page { return []route.Page{{Path: Path, Serve: e.serve}} }

// policy lets run and be seen what is in the page, by its digest; what the script makes
// of a description it writes as text, which Trusted Types hold it to.
var policy = "default-src 'none'; script-src 'sha256-" + digest(script) + "'; style-src 'sha256-" + digest(style) +
	"'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types 'none'"

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// serve answers whoever asks: the page itself says nothing of the site, and its script
// asks with the credentials of the reader.
func (e *Explorer) serve(w http.ResponseWriter, r *http.Request, call *route.Call) error {
	h := w.Header()
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		return fault.New(fault.MethodNotAllowed, "", "%s is not allowed on this path", r.Method)
	}
	token := ""
	if !call.Caller.IsGuest() {
		var err error
		if token, err = e.c.Token(r.Context(), r); err != nil {
			return err
		}
	}
	var page bytes.Buffer
	err := e.page.Execute(&page, map[string]any{
		"Site": e.c.Name(), "User": call.Caller.User, "Guest": call.Caller.IsGuest(), "Token": token,
		"Style": template.CSS(style), "Script": template.JS(script), // #nosec: constants
	})
	if err != nil {
		return err
	}
	for name, value := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": policy, "X-Frame-Options": "DENY",
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cache-Control": "no-store", "Cross-Origin-Opener-Policy": "same-origin",
	} {
		h.Set(name, value)
	}
	_, _ = w.Write(page.Bytes()) // the client is gone
	return nil
}
