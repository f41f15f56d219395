package httpapi

import "golang.org/x/sys/unix"

// hungUp reports whether the client has closed its side of the connection, whatever it has sent before that nobody
// has read. It is asked of the kernel and does not wait.
func (c *connection) hungUp() bool {
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	ended := false
	_ = raw.Control(func(fd uintptr) { // an error means that it is closed, and not listed any more
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
		ready, err := unix.Poll(poll, 0)
		ended = err == nil && ready > 0
	})
	return ended
}
