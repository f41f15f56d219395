// Command serve serves the twins at two free ports of 127.0.0.1, which it prints.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"

	"github.com/gluepot/gluepot/tests/bench/twin"
)

func main() {
	constant := []byte(os.Getenv("TWIN_CONSTANT"))
	handler, _, err := twin.New(context.Background(), os.Getenv("TWIN_DATABASE_URL"), constant)
	if err != nil {
		log.Fatal(err)
	}
	_, _ = fmt.Println(serve(handler), serve(twin.NewGin(constant)))
	select {}
}

// serve serves in the background and returns the address.
func serve(handler http.Handler) net.Addr {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go func() { log.Fatal(twin.Server(handler).Serve(listener)) }()
	return listener.Addr()
}
