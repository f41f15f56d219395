//go:build !linux

package httpapi

// hungUp is for Linux only.
func (*connection) hungUp() bool { return false }
