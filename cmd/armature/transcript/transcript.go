// Package transcript reads what a README says to type and what comes back, so
// that a test can type it and compare.
//
// A step is a command and its answer in a fenced block marked console:
//
//	$ curl -s $URL/api/resource/ToDo/T1
//	{"data": {"name": "T1", "status": "Open", ...}}
//
// A command goes on over lines while a quote is open, a line ends with a backslash, or
// its here-document has not ended. An answer that begins with a brace or bracket is JSON, compared as
// JSON is: spaces and the order of members do not count. Three dots stand for
// what a reader need not know: among members or elements for any more of them,
// as a value for any value, in a string or in other text for any part of a line,
// as one line of several for any more lines.
//
// A block whose mark names a file beside its language, as in "ts data/plugins/shop.ts",
// is that file's text.
package transcript

import (
	"fmt"
	"regexp"
	"strings"
)

// Step is a command and what comes back, or a file and what is in it.
type Step struct {
	Line    int    // of the command, or the file's first, in the README, from 1
	Section string // the heading above it, without its marks
	Command string
	Want    string // empty: it prints nothing
	File    string // as the README names it; empty: the step is a command
	Text    string // of the file
}

// Read returns the steps of a README in their order. A console block that begins
// with anything but a command is an error, and so is one that never ends.
func Read(readme string) ([]Step, error) {
	var steps []Step
	section, fence := "", ""
	var open *Step // the command that is not complete
	for i, line := range strings.Split(readme, "\n") {
		switch {
		case fence == "" && strings.HasPrefix(line, "```"):
			fence = strings.TrimSpace(line[3:])
			if fence == "" {
				fence = "text"
			}
			if fence == "console" {
				steps = append(steps, Step{}) // what comes before the first command belongs nowhere
			} else if _, file, named := strings.Cut(fence, " "); named {
				steps = append(steps, Step{Line: i + 2, Section: section, File: file})
			}
		case fence == "" && strings.HasPrefix(line, "#"):
			section = strings.TrimSpace(strings.TrimLeft(line, "#"))
		case fence == "":
		case line == "```":
			if open != nil {
				return nil, fmt.Errorf("line %d: the command has no end: %s", open.Line, open.Command)
			}
			fence = ""
		case strings.Contains(fence, " "):
			steps[len(steps)-1].Text += line + "\n"
		case fence != "console":
		case open != nil:
			open.Command += "\n" + line
			if complete(open.Command) {
				open = nil
			}
		case strings.HasPrefix(line, "$ "):
			steps = append(steps, Step{Line: i + 1, Section: section, Command: line[2:]})
			if !complete(line[2:]) {
				open = &steps[len(steps)-1]
			}
		case steps[len(steps)-1].Command == "":
			return nil, fmt.Errorf("line %d: a console block begins with a command, after a dollar sign and a space", i+1)
		default:
			steps[len(steps)-1].Want += line + "\n"
		}
	}
	if fence != "" {
		return nil, fmt.Errorf("a block has no end")
	}
	return commands(steps), nil
}

// commands leaves out the marks between blocks.
func commands(all []Step) (steps []Step) {
	for _, s := range all {
		if s.Command != "" || s.File != "" {
			s.Want = strings.TrimRight(s.Want, "\n")
			steps = append(steps, s)
		}
	}
	return steps
}

// heredoc matches the end of a line whose command reads what follows.
var heredoc = regexp.MustCompile(`<<'?(\w+)'?$`)

// complete reports whether a shell would run the text, as far as quotes, a backslash at
// its end and a here-document say.
func complete(command string) bool {
	first, rest, more := strings.Cut(command, "\n")
	if end := heredoc.FindStringSubmatch(first); end != nil {
		return more && (rest == end[1] || strings.HasSuffix(rest, "\n"+end[1]))
	}
	var quote byte
	for i := 0; i < len(command); i++ {
		c := command[i]
		switch {
		case c == '\\' && quote != '\'':
			if i++; i >= len(command) {
				return false
			}
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == quote:
			quote = 0
		}
	}
	return quote == 0
}
