//go:build unix

package pgbouncer

import (
	"os"
	"os/exec"
	"syscall"
)

// nobody is the user that has the least to say.
const nobody = 65534

// asNobody has a command of root's be another's: PgBouncer refuses to run as root.
func asNobody(cmd *exec.Cmd) {
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
}
