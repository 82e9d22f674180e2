package main

import (
	"encoding/json"
	"fmt"
	"text/tabwriter"
)

// printJSON writes a value as JSON, one line.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.stdout)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// say writes a line for a person, or v for a program.
func (a *app) say(v any, format string, args ...any) error {
	if a.json {
		return a.printJSON(v)
	}
	_, err := fmt.Fprintf(a.stdout, format+"\n", args...)
	return err
}

// table writes rows for a person, or v for a program.
func (a *app) table(v any, header string, rows [][]any) error {
	if a.json {
		return a.printJSON(v)
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
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
