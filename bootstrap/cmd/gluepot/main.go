// Command gluepot is the backend of a paste-sharing service.
package main

import (
	"context"
	"os"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/gluepot/gluepot/bootstrap/program"
)

func main() {
	_, _ = memlimit.Set() // nine tenths of the container's limit, if it has one and GOMEMLIMIT is not set
	os.Exit(program.Run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
