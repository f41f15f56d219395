// Command serve serves the twins at free ports of 127.0.0.1, and prints their addresses: the twin on SQLite if
// TWIN_SQLITE_FILE is set, or else the two on PostgreSQL.
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
	if path := os.Getenv("TWIN_SQLITE_FILE"); path != "" {
		raw, err := twin.NewSQLite(path)
		if err != nil {
			log.Fatal(err)
		}
		_, _ = fmt.Println(serve(raw))
		select {}
	}
	url := os.Getenv("TWIN_DATABASE_URL")
	handler, err := twin.New(context.Background(), url)
	if err != nil {
		log.Fatal(err)
	}
	plain, err := twin.NewGORM(url, []byte(os.Getenv("TWIN_CONSTANT")))
	if err != nil {
		log.Fatal(err)
	}
	_, _ = fmt.Println(serve(handler), serve(plain))
	select {}
}

// serve serves in the background, and returns the address.
func serve(handler http.Handler) net.Addr {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go func() { log.Fatal(twin.Server(handler).Serve(listener)) }()
	return listener.Addr()
}
