// Package freeport finds addresses for programs that must be told theirs before they start.
package freeport

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
)

// Ports are chosen from lowest to highest, below those that the kernel gives to outgoing connections and to listeners
// that ask for any port: otherwise one of these could take a port between its choice and its use.
const (
	lowest  = 10_000
	highest = 30_000
	tries   = 1000
)

// reserved holds a UDP socket at each port that this process has chosen, so that no other test program chooses it.
var reserved struct {
	sync.Mutex
	sockets []net.PacketConn
}

// Find returns a TCP port of 127.0.0.1 at which nobody listens, and which Find returns to nobody else while this
// process runs.
func Find(ctx context.Context) (int, error) {
	for range tries {
		port := lowest + rand.IntN(highest-lowest)
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		socket, err := new(net.ListenConfig).ListenPacket(ctx, "udp", address)
		if err != nil {
			continue
		}
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
		if err != nil {
			_ = socket.Close()
			continue
		}
		reserved.Lock()
		reserved.sockets = append(reserved.sockets, socket)
		reserved.Unlock()
		return port, listener.Close()
	}
	return 0, errors.New("found no free port")
}

// Address returns 127.0.0.1 with a port of [Find].
func Address(t testing.TB) string {
	t.Helper()
	port, err := Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}
