package sandbox

import (
	"fmt"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// bound sets the limits of this process, or leaves stricter ones that it has.
// Memory that is only set aside, as Go does plentifully, does not count.
func bound() error {
	debug.SetMaxStack(maxStack)
	for resource, most := range map[int]uint64{unix.RLIMIT_CPU: maxCPU, unix.RLIMIT_DATA: maxMemory, unix.RLIMIT_CORE: 0} {
		var limit unix.Rlimit
		err := unix.Getrlimit(resource, &limit)
		if err == nil {
			limit.Cur, limit.Max = min(limit.Cur, most), min(limit.Max, most)
			err = unix.Setrlimit(resource, &limit)
		}
		if err != nil {
			return fmt.Errorf("bound this process: %w", err)
		}
	}
	return nil
}
