package wasmtest

import (
	"fmt"
	"strconv"
	"strings"
)

// node is a list, a word or a string of the text.
type node struct {
	line   int
	word   string // or the contents of a string
	quoted bool
	list   []node // nil unless it is a list
}

func (n node) isList() bool { return n.word == "" && !n.quoted }

// head is the first word of a list.
func (n node) head() string {
	if len(n.list) == 0 {
		return ""
	}
	return n.list[0].word
}

// failure is how the assembler leaves when the text is wrong.
type failure struct{ error }

func (n node) fail(format string, args ...any) {
	panic(failure{fmt.Errorf("line %d: %s", n.line, fmt.Sprintf(format, args...))})
}

// parse reads one list, the module.
func parse(src string) node {
	p := &parser{src: src, line: 1}
	p.space()
	n := p.node()
	p.space()
	if p.at < len(p.src) {
		p.fail("text behind the module")
	}
	return n
}

type parser struct {
	src  string
	at   int
	line int
}

func (p *parser) fail(what string) { node{line: p.line}.fail("%s", what) }

func (p *parser) space() {
	for p.at < len(p.src) {
		switch rest := p.src[p.at:]; {
		case strings.HasPrefix(rest, ";;"):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			p.at += end
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			if rest[0] == '\n' {
				p.line++
			}
			p.at++
		default:
			return
		}
	}
}

func (p *parser) node() node {
	if p.at == len(p.src) {
		p.fail("the text ends early")
	}
	n := node{line: p.line}
	switch p.src[p.at] {
	case '(':
		p.at++
		for p.space(); p.at < len(p.src) && p.src[p.at] != ')'; p.space() {
			n.list = append(n.list, p.node())
		}
		if p.at == len(p.src) {
			n.fail("the list does not end")
		}
		p.at++
	case ')':
		p.fail("a list ends that did not begin")
	case '"':
		n.word, n.quoted = p.text(), true
	default:
		end := strings.IndexAny(p.src[p.at:], " \t\r\n()\";")
		if end < 0 {
			end = len(p.src) - p.at
		}
		if end == 0 {
			p.fail("a character that begins nothing")
		}
		n.word = p.src[p.at : p.at+end]
		p.at += end
	}
	return n
}

// text reads a string; escapes are \n, \t, \\, \" and two hexadecimal digits.
func (p *parser) text() string {
	var b strings.Builder
	for p.at++; p.at < len(p.src) && p.src[p.at] != '"'; p.at++ {
		c := p.src[p.at]
		if c != '\\' {
			b.WriteByte(c)
			continue
		}
		p.at++
		if p.at+1 >= len(p.src) {
			break
		}
		if i := strings.IndexByte(`nt\"`, p.src[p.at]); i >= 0 {
			b.WriteByte("\n\t\\\""[i])
			continue
		}
		v, err := strconv.ParseUint(p.src[p.at:p.at+2], 16, 8)
		if err != nil {
			p.fail("an escape that is not known")
		}
		b.WriteByte(byte(v))
		p.at++
	}
	if p.at >= len(p.src) {
		p.fail("the string does not end")
	}
	p.at++
	return b.String()
}

// number reads an integer of 32 or 64 bits, signed or not.
func (n node) number() int64 {
	s := strings.ReplaceAll(n.word, "_", "")
	if v, err := strconv.ParseInt(s, 0, 64); err == nil {
		return v
	}
	v, err := strconv.ParseUint(s, 0, 64)
	if err != nil {
		n.fail("%q is not a number", n.word)
	}
	return int64(v)
}
