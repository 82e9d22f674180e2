//go:build !linux

package processor

import "time"

// threadTime is not known here.
func threadTime() (thread int, used time.Duration, ok bool) { return 0, 0, false }
