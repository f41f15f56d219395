//go:build !(linux || darwin || freebsd)

package highlight

import "time"

var began = time.Now()

// threadTime returns the time that has passed, as this system does not say how long a thread has had a processor.
func threadTime() time.Duration { return time.Since(began) }
