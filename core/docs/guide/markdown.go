package guide

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"html/template"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// newMarkdown reads what code hosting pages read. HTML in a page is left out, as the
// library does unless it is told otherwise.
func newMarkdown() goldmark.Markdown {
	return goldmark.New(
		// An attribute and no style, which the policy of the page refuses.
		goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(blocks{}, 100))),
	)
}

func parse(source []byte) ast.Node {
	return newMarkdown().Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(&anchors{seen: map[string]int{}}))))
}

// render fills in what a page is beside its source.
func (p *Page) render() error {
	doc := parse(p.Source)
	if err := p.readHeadings(doc); err != nil {
		return err
	}
	if err := relink(doc); err != nil {
		return err
	}
	var out bytes.Buffer
	if err := newMarkdown().Renderer().Render(&out, p.Source, doc); err != nil {
		return err
	}
	p.HTML = template.HTML(out.String()) // #nosec: of our own files, without HTML of theirs
	return nil
}

// readHeadings finds the parts of a page and what is said in each.
func (p *Page) readHeadings(doc ast.Node) error {
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if ok {
			id, _ := h.AttributeString("id")
			anchor, _ := id.([]byte)
			p.Headings = append(p.Headings, &Heading{Level: h.Level, Text: words(h, p.Source), Anchor: string(anchor)})
			continue
		}
		if len(p.Headings) == 0 {
			return errors.New("a page begins with its title")
		}
		below := &p.Headings[len(p.Headings)-1].words
		below.WriteString(words(n, p.Source))
		below.WriteByte(' ')
	}
	if len(p.Headings) == 0 || p.Headings[0].Level != 1 {
		return errors.New("a page begins with its title")
	}
	p.Title = p.Headings[0].Text
	return nil
}

// words is the text of a node, without its marks.
func words(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(util.UnescapePunctuations(n.Segment.Value(source)))
				if n.SoftLineBreak() || n.HardLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.FencedCodeBlock:
			if entering {
				b.Write(n.Lines().Value(source))
			}
		case *ast.Paragraph, *ast.TextBlock, *east.TableCell:
			if !entering {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

// relink makes links to files links to the pages of a site. One that leads out of the
// guide leads nowhere there, so it is refused.
func relink(doc ast.Node) error {
	return ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		link, ok := n.(*ast.Link)
		if !ok || !entering {
			return ast.WalkContinue, nil
		}
		to := string(link.Destination)
		if strings.HasPrefix(to, "#") || strings.HasPrefix(to, "https://") {
			return ast.WalkContinue, nil
		}
		name, anchor, ok := pageLink(to)
		if !ok {
			return ast.WalkStop, fmt.Errorf("%s leads out of the guide", to)
		}
		to = address(name)
		if anchor != "" {
			to += "#" + anchor
		}
		link.Destination = []byte(to)
		return ast.WalkContinue, nil
	})
}

// anchors names headings as code hosting pages do, so that a link to one works there
// and here: small letters, words with dashes between them, the second of a name with -1.
type anchors struct{ seen map[string]int }

// Generate implements parser.IDs.
func (a *anchors) Generate(value []byte, _ ast.NodeKind) []byte {
	id := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, string(value))
	n := a.seen[id]
	if a.seen[id]++; n > 0 {
		id += fmt.Sprintf("-%d", n)
	}
	return []byte(id)
}

// Put implements parser.IDs.
func (a *anchors) Put(value []byte) { a.seen[string(value)]++ }

// blocks writes blocks of code: with the file that one is to be written to, and with
// prompts that are not copied.
type blocks struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (b blocks) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindFencedCodeBlock, b.code)
}

func (blocks) code(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	block := n.(*ast.FencedCodeBlock)
	lang, file := "", ""
	if block.Info != nil {
		lang, file, _ = strings.Cut(string(block.Info.Segment.Value(source)), " ")
	}
	if file != "" {
		_, _ = fmt.Fprintf(w, "<p class=\"file\"><code>%s</code></p>\n", html.EscapeString(file))
	}
	_, _ = w.WriteString("<pre><code>")
	for i := range block.Lines().Len() {
		line := block.Lines().At(i)
		code := string(line.Value(source))
		if command, ok := strings.CutPrefix(code, "$ "); ok && lang == "console" {
			_, _ = w.WriteString(`<span class="prompt">$ </span>`)
			code = command
		}
		_, _ = w.WriteString(html.EscapeString(code))
	}
	_, err := w.WriteString("</code></pre>\n")
	return ast.WalkSkipChildren, err
}
