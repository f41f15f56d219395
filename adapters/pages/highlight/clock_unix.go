//go:build linux || darwin || freebsd

package highlight

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime returns how long the current thread has had a processor.
func threadTime() time.Duration {
	var used unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &used) // it exists on these systems
	return time.Duration(used.Nano())
}
