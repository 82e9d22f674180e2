//go:build !wasip1

package raw

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
)

// pipe is a Host: armature plugin exec -, which answers for a real site. What goes
// through the pipe is in sdk/abi/abi.md.
type pipe struct {
	mu   sync.Mutex
	to   io.Writer
	from io.Reader
	rest []byte
}

// openPipe starts the program, which ends with this one: its input ends then.
func openPipe() *pipe {
	program := os.Getenv("ARMATURE")
	if program == "" {
		program = "armature"
	}
	cmd := exec.Command(program, "plugin", "exec", "-")
	cmd.Stderr = os.Stderr
	to, err := cmd.StdinPipe()
	var from io.Reader
	if err == nil {
		from, err = cmd.StdoutPipe()
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		panic(fmt.Sprintf("armature: %v: a native test needs the program; ARMATURE names it, if it is not on the PATH", err))
	}
	return &pipe{to: to, from: from}
}

// ask sends a request and returns what came back, and the kind of an error.
func (p *pipe) ask(name string, request []byte) (int32, []byte) {
	message := append([]byte(name+"\n"), request...)
	head := binary.BigEndian.AppendUint32(nil, uint32(len(message)))
	_, err := p.to.Write(append(head, message...))
	var answer struct{ Length, Kind uint32 }
	if err == nil {
		err = binary.Read(p.from, binary.BigEndian, &answer)
	}
	body := make([]byte, answer.Length)
	if err == nil {
		_, err = io.ReadFull(p.from, body)
	}
	if err != nil {
		panic(fmt.Sprintf("armature: plugin exec - has ended: %v", err))
	}
	return int32(answer.Kind), body
}

func (p *pipe) Call(name string, in, out []byte) int32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	kind, answer := p.ask(name, in)
	if kind != 0 {
		p.rest = answer
		return -kind
	}
	p.rest = answer[copy(out, answer):]
	return int32(len(answer))
}

func (p *pipe) Take(b []byte) int32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	left := len(p.rest)
	p.rest = p.rest[copy(b, p.rest):]
	return int32(left)
}

func (p *pipe) Log(level int32, b []byte) {
	names := []string{"debug", "info", "warn", "error"}
	fmt.Fprintf(os.Stderr, "%s: %s\n", names[min(max(level, 0), 3)], bytes.TrimSpace(b))
}

func (p *pipe) Now() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, text := p.ask("armature1.now", nil)
	at, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		panic(err)
	}
	return at
}

func (p *pipe) Random(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, drawn := p.ask("armature1.random", strconv.AppendInt(nil, int64(len(b)), 10))
	copy(b, drawn)
}

// What follows is of exports, which a server calls; a test calls the functions
// behind them.

func (p *pipe) Input([]byte) int32 { return 0 }

func (p *pipe) Output([]byte) {}

func (p *pipe) Throw(kind int32, b []byte) { panic(fmt.Sprintf("thrown: kind %d: %s", kind, b)) }
