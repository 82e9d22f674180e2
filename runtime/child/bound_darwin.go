package child

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// bound sets the one limit that this system keeps, of processor time; memory the
// process watches by itself.
func (l Limits) bound() error {
	if l.CPU <= 0 {
		return nil
	}
	most := uint64((l.CPU + time.Second - 1) / time.Second)
	limit := unix.Rlimit{Cur: most, Max: most}
	if err := unix.Setrlimit(unix.RLIMIT_CPU, &limit); err != nil {
		return fmt.Errorf("bound this process: %w", err)
	}
	return nil
}
