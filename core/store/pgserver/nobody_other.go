//go:build !unix

package pgserver

import "os/exec"

func giveToNobody(string) error { return nil }

// AsNobody does nothing here.
func AsNobody(*exec.Cmd) {}
