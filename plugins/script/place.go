package script

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-sourcemap/sourcemap"
	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
)

// Place is a place in a source; lines and columns count from 1.
type Place struct {
	File         string
	Line, Column int
}

// Place finds a field of the manifest, such as methods.hello.verbs[0], in the
// source that the author wrote; of one that is not there what it would be in.
// There is none if the script has no manifest.
func (s *Script) Place(field string) (Place, bool) {
	if s.manifest == "" {
		return Place{}, false
	}
	// esbuild begins every declaration with a line of its own.
	begin := regexp.MustCompile(`(?m)^(?:var|let|const) ` + regexp.QuoteMeta(s.manifest) + ` = `).FindIndex(s.Code)
	if begin == nil {
		return Place{}, false
	}
	l := &literals{lexer: js.NewLexer(parse.NewInputBytes(bytes.Clone(s.Code[begin[1]:]))), at: begin[1], found: map[string]int{}}
	l.next()
	l.value("")
	field = strings.NewReplacer(`["`, ".", `"]`, "").Replace(field)
	for {
		if offset, ok := l.found[field]; ok {
			return s.source(offset)
		}
		if field == "" {
			return Place{}, false
		}
		field = field[:max(strings.LastIndexAny(field, ".["), 0)]
	}
}

// source finds a place of the code in the author's file.
func (s *Script) source(offset int) (Place, bool) {
	before := s.Code[:offset]
	column := 0 // source maps count as JavaScript does
	for rest := before[bytes.LastIndexByte(before, '\n')+1:]; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		column += len(utf16.AppendRune(nil, r))
		rest = rest[size:]
	}
	return s.Source(bytes.Count(before, []byte("\n"))+1, column+1)
}

// Source finds a place in the code, as a stack of JavaScript has it, in the
// author's file. Columns are those of JavaScript, in UTF-16.
func (s *Script) Source(line, column int) (Place, bool) {
	m, err := sourcemap.Parse("", s.Map)
	if err != nil {
		return Place{}, false
	}
	file, _, line, column, ok := m.Source(line, column-1)
	return Place{file, line, column + 1}, ok
}

// literals walks the tokens of a value that is written out, and notes where the
// values in it begin.
type literals struct {
	lexer *js.Lexer
	at    int // where the token begins
	size  int
	token js.TokenType
	text  []byte
	found map[string]int
	depth int
}

// next goes on to the next token that means something.
func (l *literals) next() {
	for {
		l.at += l.size
		l.token, l.text = l.lexer.Next()
		l.size = len(l.text)
		switch l.token {
		case js.WhitespaceToken, js.LineTerminatorToken, js.CommentToken, js.CommentLineTerminatorToken:
		default:
			return
		}
	}
}

// maxNesting is how deep a manifest is looked into.
const maxNesting = 64

func (l *literals) value(path string) {
	l.found[path] = l.at
	if l.depth++; l.depth > maxNesting {
		return
	}
	defer func() { l.depth-- }()
	switch l.token {
	case js.OpenBraceToken:
		for l.next(); l.token != js.CloseBraceToken && l.token != js.ErrorToken; {
			name := key(l.text)
			l.next()
			if l.token != js.ColonToken {
				return
			}
			l.next()
			if path != "" {
				name = path + "." + name
			}
			l.value(name)
			if l.token == js.CommaToken {
				l.next()
			}
		}
		l.next()
	case js.OpenBracketToken:
		l.next()
		for i := 0; l.token != js.CloseBracketToken && l.token != js.ErrorToken; i++ {
			l.value(fmt.Sprintf("%s[%d]", path, i))
			if l.token == js.CommaToken {
				l.next()
			}
		}
		l.next()
	default: // a literal, perhaps with a sign
		for l.token != js.CommaToken && l.token != js.CloseBraceToken && l.token != js.CloseBracketToken &&
			l.token != js.SemicolonToken && l.token != js.ErrorToken {
			l.next()
		}
	}
}

// key is a member's name: a word, or a string.
func key(text []byte) string {
	var name string
	if json.Unmarshal(text, &name) == nil {
		return name
	}
	return string(bytes.Trim(text, `'"`+"`"))
}
