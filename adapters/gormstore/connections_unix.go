//go:build unix

package gormstore

import (
	"net"
	"syscall"
)

// isReadable reports whether something has arrived on a connection that nobody has asked anything over, which is its end or the
// reason for that, or whether that cannot be told.
func isReadable(conn net.Conn) bool {
	socket, ok := socketOf(conn).(syscall.Conn)
	if !ok {
		return true
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return true
	}
	readable := true
	// Not raw.Read: pgx may have a goroutine that waits in Read already, and this would wait for that.
	err = raw.Control(func(descriptor uintptr) {
		var one [1]byte
		_, _, err := syscall.Recvfrom(int(descriptor), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		readable = err != syscall.EAGAIN
	})
	return readable || err != nil
}
