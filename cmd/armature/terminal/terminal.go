// Package terminal is where a command prints: for people or as JSON, how far it has
// come, and what went wrong.
package terminal

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"text/tabwriter"
)

// Terminal is where a command prints, and how.
type Terminal struct {
	Stdout, Stderr io.Writer
	JSON           bool // for a program that reads it
}

// Notices tells a person who runs a command what it does beside.
func (t *Terminal) Notices() *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Stderr, &slog.HandlerOptions{ReplaceAttr: func(_ []string, attr slog.Attr) slog.Attr {
		if attr.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return attr
	}}))
}

// PrintJSON writes a value as JSON, one line.
func (t *Terminal) PrintJSON(v any) error {
	enc := json.NewEncoder(t.Stdout)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// Say writes a line for a person, or v for a program.
func (t *Terminal) Say(v any, format string, args ...any) error {
	if t.JSON {
		return t.PrintJSON(v)
	}
	_, err := fmt.Fprintf(t.Stdout, format+"\n", args...)
	return err
}

// Table writes rows for a person, or v for a program.
func (t *Terminal) Table(v any, header string, rows [][]any) error {
	if t.JSON {
		return t.PrintJSON(v)
	}
	w := tabwriter.NewWriter(t.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, header)
	for _, row := range rows {
		for i, cell := range row {
			if i > 0 {
				fmt.Fprint(w, "\t")
			}
			fmt.Fprint(w, cell)
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}
