package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a server that runs beside us.
type process struct {
	cmd     *exec.Cmd
	address string
	started time.Duration // from exec until it answers
	done    chan error
}

// start runs a server whose first line of output ends in http://address.
func start(ctx context.Context, env []string, name string, args ...string) (*process, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), env...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	// A file, as a service has: a pipe would wake this process for every line of
	// the access log, on the cores that are measured.
	log, err := os.CreateTemp("", "armature-bench-*.log")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	defer os.Remove(log.Name()) // the server goes on writing to it
	cmd.Stderr = log
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(stdout)
	line, err := lines.ReadString('\n')
	p := &process{cmd: cmd, started: time.Since(begin), done: make(chan error, 1)}
	go func() {
		_, _ = io.Copy(io.Discard, lines)
		p.done <- cmd.Wait()
	}()
	if err != nil {
		<-p.done
		said, _ := os.ReadFile(log.Name())
		return nil, fmt.Errorf("%s did not start: %w\n%s", name, err, said)
	}
	_, p.address, _ = strings.Cut(strings.TrimSpace(line), "http://")
	return p, nil
}

// stop ends the server and waits for it.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return <-p.done
}

// forgetPeak makes VmHWM begin anew; where the system cannot, it goes on from
// what was before.
func (p *process) forgetPeak() {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.cmd.Process.Pid), []byte("5"), 0)
}

// memory reads a field of /proc/<pid>/status, such as VmRSS (now) or VmHWM (the
// most so far), in bytes; 0 where the system has no such file.
func (p *process) memory(field string) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, field+":"); ok {
			kib, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return kib << 10
		}
	}
	return 0
}
