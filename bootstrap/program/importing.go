package program

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
)

// importMemory makes the collector work harder rather than let an import grow: large documents otherwise
// leave large garbage. An operator who sets GOMEMLIMIT decides instead.
const importMemory = 60 << 20

// beginImport is the cli.BeginImport of the program: SIGINT, SIGTERM and SIGHUP end the import in order, the second one
// ends the process at once, as it would have without this.
func beginImport(ctx context.Context) (context.Context, context.CancelFunc) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(importMemory)
	}
	ctx, stop := signal.NotifyContext(ctx, stopSignals()...)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
