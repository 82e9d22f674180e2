package web

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"strings"
)

//go:embed pages/*.html
var sources embed.FS

//go:embed style.css
var style string

//go:embed favicon.svg
var favicon []byte

// templates are the pages by name, each inside the common layout.
type templates map[string]*template.Template

func parseTemplates() templates {
	layout := template.Must(template.New("layout.html").Funcs(template.FuncMap{"script": func() string { return scriptAddress }}).ParseFS(sources, "pages/layout.html"))
	set := templates{}
	files, err := sources.ReadDir("pages")
	if err != nil {
		panic(err) // it is part of the program
	}
	for _, file := range files {
		if name, _ := strings.CutSuffix(file.Name(), ".html"); name != "layout" {
			set[name] = template.Must(template.Must(layout.Clone()).ParseFS(sources, "pages/"+file.Name()))
		}
	}
	return set
}

// view is what the layout shows; Body is what the page itself does.
type view struct {
	Title string
	Site  string
	Style template.CSS
	Wide  bool
	// Script has the page run passkey.js.
	Script bool
	Nonce  string
	Body   any
}

// show sends a page. Nothing was written when it fails.
func (p *Pages) show(w http.ResponseWriter, status int, name string, v view) error {
	v.Site, v.Style = p.name(), template.CSS(style) // #nosec: a constant
	if v.Script {
		v.Nonce = nonce()
		w.Header().Set("Content-Security-Policy", p.policy+"; script-src 'nonce-"+v.Nonce+"'")
	}
	var page bytes.Buffer
	if err := p.templates[name].ExecuteTemplate(&page, "layout.html", v); err != nil {
		return err
	}
	p.guard(w.Header())
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(page.Bytes()) // the client is gone
	return nil
}

// nonce is what lets a script of this page run and no other: whatever else the site
// serves, a file that somebody has uploaded among it, is no script of a page
// (Content Security Policy Level 3 section 7.1).
func nonce() string {
	var raw [16]byte
	rand.Read(raw[:]) // never fails: it ends the program instead
	return base64.RawURLEncoding.EncodeToString(raw[:])
}

// sendOn leads the browser elsewhere. After a POST it makes that a GET, so that
// going back does not send the form again. The target is on this site.
func (p *Pages) sendOn(w http.ResponseWriter, to string) error {
	p.guard(w.Header())
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// guard keeps the page out of frames and caches, and scripts out of the page but for
// those that it names.
// What a page has set already stays. There is no Cross-Origin-Opener-Policy: an
// application may have the user log in in a window that it waits for.
func (p *Pages) guard(h http.Header) {
	for _, header := range [][2]string{
		{"Content-Security-Policy", p.policy},
		{"X-Frame-Options", "DENY"}, // for browsers older than frame-ancestors
		{"X-Content-Type-Options", "nosniff"},
		{"Referrer-Policy", "same-origin"}, // redirect-to may tell what was asked for
		{"Cache-Control", "no-store"},
	} {
		if h.Get(header[0]) == "" {
			h.Set(header[0], header[1])
		}
	}
}

// contentPolicy allows a page nothing but its own style and the site's icon.
// Where a form may lead is left open: browsers apply that to redirects too, and
// a login or a consent ends at an application on another host.
func contentPolicy() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'"
}

// serveIcon sends the picture that browsers show beside the title.
func serveIcon(w http.ResponseWriter) error {
	h := w.Header()
	h.Set("Content-Type", "image/svg+xml")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'")
	h.Set("Cache-Control", "public, max-age=86400")
	_, _ = w.Write(favicon)
	return nil
}
