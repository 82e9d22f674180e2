//go:build unix

package pgserver

import (
	"os"
	"os/exec"
	"syscall"
)

// nobody is the user that has the least to say.
const nobody = 65534

func giveToNobody(dir string) error {
	if os.Getuid() != 0 {
		return nil
	}
	return os.Chown(dir, nobody, nobody)
}

// AsNobody has a command of root's be another's: PostgreSQL and PgBouncer refuse to run as root.
func AsNobody(cmd *exec.Cmd) {
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
}
