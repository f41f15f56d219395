package program

import (
	"context"
	"os/signal"
)

// beginLong is the cli.BeginLong of the program: SIGINT, SIGTERM and SIGHUP end the command in order, the second one
// ends the process at once, as it would have without this.
func beginLong(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, stopSignals()...)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
