package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"
)

// report is what was measured on one database.
type report struct {
	Database    string        `json:"database"`
	Connections int           `json:"connections"`
	Documents   int           `json:"documents"`
	Rows        []row         `json:"rows"`
	FirstStart  time.Duration `json:"first_start_ns"` // makes the site and compiles the plugin
	Start       time.Duration `json:"start_ns"`       // with both there
	IdleMemory  int64         `json:"idle_bytes"`
	PeakMemory  int64         `json:"peak_bytes"`
	Beside      []beside      `json:"beside"`
	Large       int           `json:"large"` // rows of the large table
	Growth      []growth      `json:"growth"`
	Rights      *rights       `json:"rights"`     // nil: left out
	Neighbours  *neighbours   `json:"neighbours"` // nil: left out
}

// row is one case.
type row struct {
	Name     string `json:"name"`
	Armature result `json:"armature"`
	Bare     result `json:"bare"`
}

func (r *report) print(w io.Writer) {
	fmt.Fprintf(w, "\n%s, %d connections, %d documents\n\n", r.Database, r.Connections, r.Documents)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\tarmature/s\tp50\tp99\tbare/s\tp50\tp99\tratio\t")
	for _, x := range r.Rows {
		fmt.Fprintf(t, "%s\t%.0f\t%s\t%s\t%.0f\t%s\t%s\t%.2f\t\n", x.Name,
			x.Armature.PerSecond, ms(x.Armature.P50), ms(x.Armature.P99),
			x.Bare.PerSecond, ms(x.Bare.P50), ms(x.Bare.P99), x.Armature.PerSecond/x.Bare.PerSecond)
	}
	t.Flush()
	fmt.Fprintf(w, "\nfirst start %s, later ones %s; memory idle %s, peak %s\n",
		ms(r.FirstStart), ms(r.Start), mib(r.IdleMemory), mib(r.PeakMemory))
	fmt.Fprintf(w, "\nread one, beside\n\n")
	fmt.Fprintln(t, "\talone/s\tbeside/s\tratio\tthe other/s\t\tpeak memory\t")
	for _, b := range r.Beside {
		sent := ""
		if b.Bytes > 0 {
			sent = mib(int64(b.Work*float64(b.Bytes))) + "/s"
		}
		fmt.Fprintf(t, "%s, %d connections\t%.0f\t%.0f\t%.2f\t%.1f\t%s\t%s\t\n", b.Name, b.Conns, b.Alone, b.Reads, b.ratio(), b.Work, sent, mib(b.Memory))
	}
	t.Flush()
	if len(r.Growth) == 0 {
		return
	}
	fmt.Fprintf(w, "\na list of 20, one connection: %d rows; %d, right after they came; once they are counted\n\n", r.Documents, r.Large)
	for _, g := range r.Growth {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%.2f\t%.2f\t\n", g.Name, ms(g.Small), ms(g.Fresh), ms(g.Large), float64(g.Fresh)/float64(g.Small), float64(g.Large)/float64(g.Small))
	}
	t.Flush()
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond)) }

func mib(bytes int64) string { return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20)) }

func writeJSON(path string, reports []*report) error {
	if path == "" {
		return nil
	}
	text, err := json.MarshalIndent(reports, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
