package serve

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// tracedError is one of a library that keeps the stack.
type tracedError struct{ error }

func (e tracedError) Format(f fmt.State, verb rune) {
	if f.Flag('+') {
		fmt.Fprint(f, "stack: main.go:1\n")
	}
	fmt.Fprint(f, e.error)
}

// TestErrorsInTheLog: a line has what an error says, in one line and without the
// stack that some of them carry.
func TestErrorsInTheLog(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		var text bytes.Buffer
		journal, err := openJournal(logging{format: format}, &text)
		if err != nil {
			t.Fatal(err)
		}
		journal.main.Error("away", "error", tracedError{errors.New("no answer")}, "n", 1)
		line := text.String()
		if strings.Contains(line, "stack") || !strings.Contains(line, "no answer") || strings.Count(line, "\n") != 1 {
			t.Errorf("%s: %s", format, line)
		}
	}
}
