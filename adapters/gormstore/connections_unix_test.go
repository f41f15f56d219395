//go:build unix

package gormstore

import (
	"io"
	"net"
	"testing"
	"time"
)

// TestPeekWaitsForNobody looks at a connection on which another goroutine waits for what never comes, as pgx may have one.
func TestPeekWaitsForNobody(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() //nolint:errcheck // the test is over
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close() //nolint:errcheck // the test is over
	server, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan error)
	go func() { _, err := client.Read(make([]byte, 1)); read <- err }()
	looked := make(chan bool)
	go func() { // again and again, so that the other one does wait in one of them
		for range 1000 {
			if isReadable(client) {
				looked <- true
				return
			}
		}
		looked <- false
	}()
	select {
	case readable := <-looked:
		if readable {
			t.Error("got a connection that something has arrived on, want none")
		}
	case <-time.After(time.Minute):
		t.Fatal("got no answer in a minute, want one")
	}
	_ = server.Close()
	if err := <-read; err != io.EOF { //nolint:errorlint // Read returns it as it is
		t.Errorf("got %v, want the end", err)
	}
	if !isReadable(client) {
		t.Error("got a connection that nothing has arrived on, want its end")
	}
}
