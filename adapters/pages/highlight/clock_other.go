//go:build !(linux || darwin || freebsd)

package highlight

import "time"

var began = time.Now()

// threadTime returns the time since the start. This system does not report the processor time of a thread.
func threadTime() time.Duration { return time.Since(began) }
