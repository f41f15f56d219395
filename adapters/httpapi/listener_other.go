//go:build !linux

package httpapi

import (
	"errors"
	"net"
)

// refuseNew is for Linux only.
func refuseNew(*net.TCPListener) error { return errors.ErrUnsupported }
