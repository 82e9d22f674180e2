//go:build !unix

package toolchain

import "os/exec"

// whole has nothing to add where processes have no groups.
func whole(*exec.Cmd) {}

func detach(*exec.Cmd) {}
