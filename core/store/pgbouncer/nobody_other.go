//go:build !unix

package pgbouncer

import "os/exec"

func asNobody(*exec.Cmd) {}
