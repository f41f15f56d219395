package program

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
)

// beginLong is the cli.BeginLong of the program: SIGINT, SIGTERM and SIGHUP end the command in order, the second one
// ends the process at once, as it would have without this. An operator who sets GOMEMLIMIT decides about memory.
func beginLong(ctx context.Context, memory int64) (context.Context, context.CancelFunc) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memory)
	}
	ctx, stop := signal.NotifyContext(ctx, stopSignals()...)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
