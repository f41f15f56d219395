// Command postgres runs a command with a PostgreSQL server for tests, which stops when the command has ended:
//
//	go run ./tests/postgres go test ./...
//
// Packages that are tested at once share the server, and each has databases of its own.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/gluepot/gluepot/tests/database"
)

func main() { os.Exit(run(os.Args[1:])) }

// run returns the exit code of the command.
func run(args []string) int {
	if len(args) == 0 {
		return fail(errors.New("say which command to run: postgres COMMAND [ARGUMENT]"))
	}
	// A signal of the terminal also reaches the command. The server stops after it.
	ctx, release := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer release()
	variables, stop, err := database.Share()
	if err != nil {
		return fail(err)
	}
	defer stop()
	if err := ctx.Err(); err != nil {
		return fail(err)
	}
	// The command is the caller's own, and outlives a signal that it handles itself.
	command := exec.Command(args[0], args[1:]...)
	command.Env = append(os.Environ(), variables...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = command.Run()
	if exit, ended := errors.AsType[*exec.ExitError](err); ended && exit.Exited() {
		return exit.ExitCode()
	}
	if err != nil {
		return fail(err)
	}
	return 0
}

func fail(err error) int {
	_, _ = fmt.Fprintln(os.Stderr, "postgres:", err)
	return 1
}
