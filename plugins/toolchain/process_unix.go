//go:build unix

package toolchain

import (
	"os/exec"
	"syscall"
)

// whole has a tool end together with what it has started: a compiler that is
// called off leaves no linker behind.
func whole(cmd *exec.Cmd) {
	detach(cmd)
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// detach keeps the terminal's Ctrl-C from a process that we end ourselves.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
