//go:build !unix

package gormstore

import "net"

// isReadable reports whether something has arrived on a connection that nobody has asked anything over. Here that is not told:
// connections are asked once they have idled for pingAfter.
func isReadable(net.Conn) bool { return false }
