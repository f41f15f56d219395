package server

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
)

// socketPrefix begins an address that is the path of a Unix socket.
const socketPrefix = "unix:"

// socketMode lets the user and the group connect, but no others: peers on a socket are trusted proxies.
const socketMode = 0o660

// Socket returns the path of the Unix socket to listen on, and whether there is one.
func (c Config) Socket() (path string, ok bool) {
	if path, ok = strings.CutPrefix(c.Addr, socketPrefix); !ok {
		return "", false
	}
	return path, true
}

// listen opens the address. It replaces a socket that a killed server has left, but not one on which a server listens.
func (c Config) listen(ctx context.Context) (net.Listener, error) {
	path, isSocket := c.Socket()
	if !isSocket {
		return new(net.ListenConfig).Listen(ctx, "tcp", c.Addr)
	}
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSocket != 0 {
		if _, err := new(net.Dialer).DialContext(ctx, "unix", path); errors.Is(err, syscall.ECONNREFUSED) {
			_ = os.Remove(path) // if this fails, so does Listen, which says why
		}
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, socketMode); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}
