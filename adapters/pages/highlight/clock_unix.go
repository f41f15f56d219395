//go:build linux || darwin || freebsd

package highlight

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime returns the processor time of the current thread.
func threadTime() time.Duration {
	var used unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &used) // does not fail on these systems
	return time.Duration(used.Nano())
}
