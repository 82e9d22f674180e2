package guide

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"strings"
	"time"

	"armature/core/fault"
	"armature/core/route"
)

// Path is where the index is; the other pages are below it.
const Path = "/app/docs"

// llms is where programs look for what there is to read.
const llms = "/llms.txt"

//go:embed page.html
var source string

//go:embed page.css
var style string

//go:embed page.js
var script string

var page = template.Must(template.New("page").Parse(source))

// policy lets run and be seen what is in the page, by its digest; what the script finds
// it writes as text, which Trusted Types hold it to.
var policy = "default-src 'none'; script-src 'sha256-" + digest(script) + "'; style-src 'sha256-" + digest(style) +
	"'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types 'none'"

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// Config is what the guide of a site is made with.
type Config struct {
	Name func() string // what the site is called on its pages
}

// Guide serves the guide on one site.
type Guide struct{ c Config }

// New makes the guide of a site.
func New(c Config) *Guide { return &Guide{c: c} }

// Pages are the guide's.
func (g *Guide) Pages() []route.Page {
	return []route.Page{{Path: Path, Serve: g.serve}, {Path: Path + "/", Serve: g.serve}}
}

// ForPrograms serves /llms.txt, and nothing else.
func (g *Guide) ForPrograms(path string) route.Handler {
	if path != llms {
		return nil
	}
	return g.serve
}

// serve answers whoever asks. The handler writes the same whoever that is.
func (g *Guide) serve(w http.ResponseWriter, r *http.Request, _ *route.Call) error {
	h := w.Header()
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		return fault.New(fault.MethodNotAllowed, "", "%s is not allowed on this path", r.Method)
	}
	book, err := Read()
	if err != nil {
		return err
	}
	media, body, err := g.answer(book, r.URL.Path)
	if err != nil {
		return err
	}
	for name, value := range map[string]string{
		"Content-Type": media, "Content-Security-Policy": policy, "X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff",
		"Referrer-Policy": "same-origin", "Cache-Control": "no-cache", "Cross-Origin-Opener-Policy": "same-origin", "ETag": `"` + digest(string(body)) + `"`,
	} {
		h.Set(name, value)
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
	return nil
}

// answer is what is at a path.
func (g *Guide) answer(book *Book, path string) (media string, body []byte, err error) {
	if path == llms {
		return "text/plain; charset=utf-8", book.forPrograms(), nil
	}
	name := strings.TrimPrefix(strings.TrimPrefix(path, Path), "/")
	switch {
	case name == "":
		name = index
	case name == index:
		name = "" // one address for each page
	case name == "search.json":
		return "application/json", book.search, nil
	}
	plain, isPlain := strings.CutSuffix(name, ".md")
	p := book.Find(plain)
	switch {
	case p == nil:
		return "", nil, fault.New(fault.NotFound, "PageDoesNotExistError", "There is no such page in the guide")
	case isPlain:
		return "text/markdown; charset=utf-8", p.Source, nil
	}
	var out bytes.Buffer
	err = page.Execute(&out, g.view(book, p))
	return "text/html; charset=utf-8", out.Bytes(), err
}

// forPrograms is the index, with links to the pages as they were written.
func (b *Book) forPrograms() []byte {
	text := b.Pages[0].Source
	for _, p := range b.Pages[1:] {
		text = bytes.ReplaceAll(text, []byte("]("+p.Name+".md"), []byte("]("+Path+"/"+p.Name+".md"))
	}
	return text
}

// view is what the template is filled with.
type view struct {
	Site           string
	Page           *Page
	Sections       []section
	Before, After  *Page
	Style          template.CSS
	Script         template.JS
	Home, Plain    string
	Contents       []*Heading
	ContentsNeeded bool // the page is long
}

// section is a part of the list of all pages.
type section struct {
	Title string
	Pages []*Page
}

func (g *Guide) view(book *Book, p *Page) view {
	v := view{Site: g.c.Name(), Page: p, Home: Path, Plain: Path + "/" + p.Name + ".md", Style: template.CSS(style), Script: template.JS(script)} // #nosec: constants
	for i, other := range book.Pages {
		if other == p {
			if i > 0 {
				v.Before = book.Pages[i-1]
			}
			if i+1 < len(book.Pages) {
				v.After = book.Pages[i+1]
			}
		}
		if i == 0 {
			continue
		}
		if n := len(v.Sections); n == 0 || v.Sections[n-1].Title != other.Section {
			v.Sections = append(v.Sections, section{Title: other.Section})
		}
		last := &v.Sections[len(v.Sections)-1]
		last.Pages = append(last.Pages, other)
	}
	for _, h := range p.Headings {
		if h.Level == 2 {
			v.Contents = append(v.Contents, h)
		}
	}
	v.ContentsNeeded = len(v.Contents) > 2 && p.Name != index
	return v
}
