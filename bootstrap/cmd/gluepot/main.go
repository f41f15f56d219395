// Command gluepot is the backend of a paste-sharing service.
package main

import (
	"context"
	"os"

	"github.com/gluepot/gluepot/bootstrap/program"
)

func main() {
	os.Exit(program.Run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
