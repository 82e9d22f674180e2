package child

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// data is what counts as data of this process already: the program's own, what Go's
// runtime keeps, and where one is built in, the shadow of a race detector. Where that
// cannot be told it is as much as the program has at most.
func data() uint64 {
	const usual = 64 << 20
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return usual
	}
	_, rest, _ := strings.Cut(string(status), "\nVmData:")
	var kib uint64
	if _, err := fmt.Sscanf(rest, "%d kB", &kib); err != nil {
		return usual
	}
	return kib << 10
}

// niceness is how far behind the server a child stands in line for a processor.
const niceness = 10

// bound sets the system's limits. Memory that is only set aside, as Go does
// plentifully, does not count as data.
func (l Limits) bound() error {
	limits := map[int]uint64{unix.RLIMIT_CORE: 0}
	if l.CPU > 0 {
		limits[unix.RLIMIT_CPU] = uint64((l.CPU + time.Second - 1) / time.Second)
	}
	if l.Memory > 0 {
		limits[unix.RLIMIT_DATA] = l.Memory + data()
	}
	if l.File > 0 {
		limits[unix.RLIMIT_FSIZE] = l.File
	}
	for resource, most := range limits {
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
	yield()
	return nil
}

// yield puts the process behind others, for processors and, where memory runs out,
// for being spared. It is a courtesy: where it is not possible, the limits hold all
// the same.
func yield() {
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return
	}
	for _, t := range threads { // of which new ones inherit it
		if id, err := strconv.Atoi(t.Name()); err == nil {
			_ = unix.Setpriority(unix.PRIO_PROCESS, id, niceness)
		}
	}
}
