package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Error is what is wrong with a manifest, and where. Lines and columns count from
// 1, columns in characters; line 0 is an unknown place.
type Error struct {
	Field        string // such as methods[0].path; empty: the text as a whole
	Text         string
	Line, Column int
	Path         string // the field whose place it is, if it is another
}

// Error begins with the place.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.what()
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.what())
}

// In is the error as compilers write it, file:line:column: text.
func (e *Error) In(file string) string {
	if e.Line == 0 {
		return file + ": " + e.what()
	}
	return fmt.Sprintf("%s:%d:%d: %s", file, e.Line, e.Column, e.what())
}

func (e *Error) what() string {
	if e.Field == "" {
		return e.Text
	}
	return e.Field + ": " + e.Text
}

// InFile names the file that a manifest was read from in an error about it; any
// other error stays as it is.
func InFile(file string, err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	return errors.New(e.In(file))
}

// Place finds a field in the text of a manifest, or what it is missing in.
func Place(text []byte, field string) (line, column int) {
	c := newChecker(text)
	_ = c.value(nil, "", 0) // what cannot be read has no fields
	return c.position(c.find(field))
}

// start is where a value begins.
type start struct {
	path   string
	offset int
}

// placed adds the place of its field to an error.
func (c *checker) placed(err error) error {
	var e *Error
	if !errors.As(err, &e) || e.Line > 0 {
		return err
	}
	out := *e
	out.Line, out.Column = c.position(c.find(e.place()))
	return &out
}

func (e *Error) place() string {
	if e.Path != "" {
		return e.Path
	}
	return e.Field
}

// Translate is the error about another text of the same manifest: rename turns
// the names of fields, place finds them.
func (e *Error) Translate(rename func(string) string, place func(field string) (line, column int)) *Error {
	out := Error{Field: rename(e.Field), Text: rename(e.Text), Path: rename(e.Path)}
	out.Line, out.Column = place(out.place())
	return &out
}

// find is the offset of a field, or of what it would be in.
func (c *checker) find(field string) int {
	field = strings.NewReplacer(`["`, ".", `"]`, "").Replace(field)
	for {
		for _, s := range c.starts {
			if s.path == field {
				return s.offset
			}
		}
		if field == "" {
			return 0
		}
		field = field[:max(strings.LastIndexAny(field, ".["), 0)]
	}
}

// around is the innermost value that begins before an offset.
func (c *checker) around(offset int64) start {
	found := start{}
	for _, s := range c.starts {
		if int64(s.offset) < offset && s.offset >= found.offset {
			found = s
		}
	}
	return found
}

// next is where the token after the latest one begins.
func (c *checker) next() int {
	at := int(c.dec.InputOffset())
	for at < len(c.text) && strings.IndexByte(" \t\r\n:,", c.text[at]) >= 0 {
		at++
	}
	return at
}

func (c *checker) position(offset int) (line, column int) {
	before := c.text[:min(offset, len(c.text))]
	line = bytes.Count(before, []byte("\n")) + 1
	column = utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return line, column
}
