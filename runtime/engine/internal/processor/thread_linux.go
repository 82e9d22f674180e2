package processor

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// threadTime is the time of processors that the thread has used, and which thread it
// is.
func threadTime() (thread int, used time.Duration, ok bool) {
	runtime.LockOSThread() // both are to be of one
	defer runtime.UnlockOSThread()
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0, 0, false
	}
	return unix.Gettid(), time.Duration(t.Nano()), true
}
