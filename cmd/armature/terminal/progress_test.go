package terminal

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// Progress is for a terminal: a line that is written over, and gone at the end.
// Nothing of it is written anywhere else.
func TestProgress(t *testing.T) {
	var out bytes.Buffer
	p := &Progress{out: &out}
	tell := p.Tell()
	tell("write", 5_000_000, 0)
	tell("write", 5_100_000, 0) // too soon
	tell("check", 2_000_000, 2_000_000)
	p.End()
	got := strings.Split(out.String(), "\r")
	want := []string{"", "writing: 5.0 MB", "checking: 100 % of 2.0 MB", strings.Repeat(" ", 25), ""}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("shown: %q", got)
	}
	out.Reset()
	stop := p.Work("compiling")
	if _, err := p.Beside(&out).Write([]byte("a warning\n")); err != nil {
		t.Fatal(err)
	}
	stop()
	if want := "\rcompiling ...\r             \ra warning\n"; out.String() != want {
		t.Errorf("shown: %q", out.String())
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for _, a := range []*Terminal{{Stderr: &out}, {Stderr: null}} {
		p := a.Progress()
		if p.Tell() != nil {
			t.Errorf("progress is shown to %T, which is no terminal", a.Stderr)
		}
		p.Work("compiling")()
		p.End()
	}
}
