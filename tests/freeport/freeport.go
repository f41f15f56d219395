// Package freeport finds addresses for programs that must know theirs before they start.
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

// Ports are from lowest to highest, below those that the kernel gives to outgoing connections and to listeners that ask
// for any port. Otherwise one of these could take a port before its use.
const (
	lowest  = 10_000
	highest = 30_000
	tries   = 1000
)

// reservations holds a UDP socket at each port that Find has returned, so that no other test program gets it.
var reservations struct {
	sync.Mutex
	sockets []net.PacketConn
}

// Find returns a TCP port of 127.0.0.1 at which nobody listens. It returns it to nobody else while this process runs.
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
		reservations.Lock()
		reservations.sockets = append(reservations.sockets, socket)
		reservations.Unlock()
		return port, listener.Close()
	}
	return 0, errors.New("no free port")
}

// Address returns 127.0.0.1 with a port from [Find].
func Address(t testing.TB) string {
	t.Helper()
	port, err := Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}
