package toolchain

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// ascService is the AssemblyScript compiler, loaded once: starting it takes ten
// times as long as compiling a plugin does.
type ascService struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	answers chan ascAnswer // closed when the process has ended
	busy    bool           // a build that was called off has not been answered
}

// ascAnswer is what one compilation printed, and whether it failed.
type ascAnswer struct {
	Output string `json:"output"`
	Failed bool   `json:"failed"`
}

// ascScript serves compilations: a line of JSON in, the arguments, and one out.
//
//go:embed ascservice.mjs
var ascScript []byte

// assemblyScript compiles with the service; done is false where there is none.
func (c *cache) assemblyScript(ctx context.Context, j *job, compiler string, args []string) (done bool, err error) {
	if c.asc == nil {
		if c.asc, err = startASC(j, compiler); c.asc == nil {
			return false, err
		}
	}
	answer, err := c.asc.ask(ctx, args)
	if err != nil {
		if ctx.Err() == nil { // it has ended, and the next build begins another
			c.asc.close()
			c.asc = nil
		}
		return true, err
	}
	if _, err := io.WriteString(j.out, answer.Output); err != nil {
		return true, err
	}
	if answer.Failed {
		return true, errors.New("asc: the plugin does not compile")
	}
	return true, nil
}

// startASC starts the service; nil where the compiler is not what it is known to
// be, a script in a package.
func startASC(j *job, compiler string) (*ascService, error) {
	script, err := filepath.EvalSymlinks(compiler)
	if err != nil {
		return nil, err
	}
	library := filepath.Join(filepath.Dir(script), "..", "dist", "asc.js")
	node, nodeErr := exec.LookPath("node")
	if _, err := os.Stat(library); err != nil || nodeErr != nil {
		return nil, nil
	}
	file, err := j.write("ascservice.mjs", ascScript)
	if err != nil {
		return nil, err
	}
	// Not with a build's context: it lives longer, and ends with its input.
	s := &ascService{cmd: j.command(context.Background(), node, file, library), answers: make(chan ascAnswer)}
	s.cmd.Dir, s.cmd.Stderr = j.dir, os.Stderr
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	detach(s.cmd)
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("node: %w", err)
	}
	go s.read(out)
	return s, nil
}

func (s *ascService) read(out io.Reader) {
	defer close(s.answers)
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		var a ascAnswer
		if err != nil || json.Unmarshal(line, &a) != nil {
			return
		}
		s.answers <- a
	}
}

// ask waits for the answer to one compilation, after that of one that nobody
// waited for.
func (s *ascService) ask(ctx context.Context, args []string) (ascAnswer, error) {
	if s.busy {
		if _, err := s.answer(ctx); err != nil {
			return ascAnswer{}, err
		}
	}
	line, err := json.Marshal(args)
	if err != nil {
		return ascAnswer{}, err
	}
	if _, err := s.in.Write(append(line, '\n')); err != nil {
		return ascAnswer{}, fmt.Errorf("asc: %w", err)
	}
	s.busy = true
	return s.answer(ctx)
}

func (s *ascService) answer(ctx context.Context) (ascAnswer, error) {
	select {
	case a, ok := <-s.answers:
		if !ok {
			return a, errors.New("asc: the compiler has ended")
		}
		s.busy = false
		return a, nil
	case <-ctx.Done():
		return ascAnswer{}, ctx.Err()
	}
}

// close ends the service and waits for it.
func (s *ascService) close() {
	if s == nil {
		return
	}
	_ = s.in.Close()
	_ = s.cmd.Process.Kill()
	for range s.answers { // until the reader has ended
	}
	_ = s.cmd.Wait()
}
