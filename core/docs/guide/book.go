package guide

import (
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"path"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
)

//go:embed pages/*.md
var files embed.FS

// index is the page that names all others.
const index = "README"

// Page is one page of the guide, read and turned into HTML.
type Page struct {
	Name     string // that of its file, without .md
	Title    string // its first heading
	Section  string // the heading of the index below which it stands; empty: the index itself
	Source   []byte // as it was written
	HTML     template.HTML
	Headings []*Heading
}

// Heading is a part of a page that can be found.
type Heading struct {
	Level  int
	Text   string
	Anchor string
	words  strings.Builder // what is said below it
}

// URL is where a site shows the page.
func (p *Page) URL() string { return address(p.Name) }

func address(name string) string {
	if name == index {
		return Path
	}
	return Path + "/" + name
}

// Book is the whole guide.
type Book struct {
	Pages  []*Page // in the order of the index, which is the first
	byName map[string]*Page
	search []byte // what the script of the pages looks through, as JSON
}

// Read reads the guide, once in a process: it is a constant of the program. An error is
// a mistake in a page, which a test finds.
var Read = sync.OnceValues(read)

// Find is the page of a name, or nil.
func (b *Book) Find(name string) *Page { return b.byName[name] }

func read() (*Book, error) {
	b := &Book{byName: map[string]*Page{}}
	first, err := b.add(index, "")
	if err != nil {
		return nil, err
	}
	for _, e := range first.entries() {
		if b.byName[e.name] != nil {
			return nil, fmt.Errorf("the index names %s twice", e.name)
		}
		if _, err := b.add(e.name, e.section); err != nil {
			return nil, err
		}
	}
	all, err := files.ReadDir("pages")
	if err != nil {
		return nil, err
	}
	for _, f := range all {
		if b.byName[strings.TrimSuffix(f.Name(), ".md")] == nil {
			return nil, fmt.Errorf("the index does not name %s", f.Name())
		}
	}
	b.search, err = json.Marshal(map[string]any{"places": b.found()})
	return b, err
}

func (b *Book) add(name, section string) (*Page, error) {
	source, err := files.ReadFile("pages/" + name + ".md")
	if err != nil {
		return nil, err
	}
	p := &Page{Name: name, Section: section, Source: source}
	if err := p.render(); err != nil {
		return nil, fmt.Errorf("%s.md: %w", name, err)
	}
	b.Pages, b.byName[name] = append(b.Pages, p), p
	return p, nil
}

// entry is a page that the index names.
type entry struct{ name, section string }

// entries are the links of the index that lead to other pages.
func (p *Page) entries() (all []entry) {
	section := ""
	_ = ast.Walk(parse(p.Source), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			section = words(n, p.Source)
		case *ast.Link:
			if name, anchor, ok := pageLink(string(n.Destination)); ok && anchor == "" && section != "" {
				all = append(all, entry{name, section})
			}
		}
		return ast.WalkContinue, nil
	})
	return all
}

// pageLink reads a link to another page, or to a place in it.
func pageLink(to string) (name, anchor string, ok bool) {
	file, anchor, _ := strings.Cut(to, "#")
	name, ok = strings.CutSuffix(file, ".md")
	return name, anchor, ok && path.Base(name) == name
}

// place is what a search may find.
type place struct {
	Page string `json:"page"`
	Head string `json:"head"`
	URL  string `json:"url"`
	Text string `json:"text"`
}

func (b *Book) found() (all []place) {
	for _, p := range b.Pages[1:] {
		for _, h := range p.Headings {
			one := place{Page: p.Title, Head: h.Text, URL: p.URL(), Text: h.words.String()}
			if h.Level > 1 {
				one.URL += "#" + h.Anchor
			}
			all = append(all, one)
		}
	}
	return all
}
