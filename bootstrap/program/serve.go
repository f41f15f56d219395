package program

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"go.uber.org/fx"
	"go.uber.org/zap"

	"github.com/gluepot/gluepot/adapters/httpapi/server"
	"github.com/gluepot/gluepot/adapters/webhook"
	"github.com/gluepot/gluepot/bootstrap"
)

// serve runs the server until it fails or ctx ends, and returns when it has stopped. An unclean stop is logged and is
// no failure.
func serve(ctx context.Context, cfg config, demo bool, stdout, stderr io.Writer) error {
	// A closed pipe on standard error must not end the process: the log's writer handles the error.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	var (
		log *zap.Logger
		srv *server.Server
	)
	stop, err := bootstrap.Start(ctx, modules(cfg, demo, stdout, stderr), fx.Populate(&log, &srv))
	if err != nil {
		if ctx.Err() != nil { // harmless: migrations are transactions
			return fmt.Errorf("stopped before the start was complete: %w", context.Cause(ctx))
		}
		return err
	}
	var failure error
	select {
	case <-ctx.Done():
		log.Info("stopping", zap.String("cause", context.Cause(ctx).Error()))
	case failure = <-srv.Failed():
	}
	_ = stop(ctx) // the log has the error
	return failure
}

// modules are the graph of a server. A module starts after those that it depends on and those that are listed before
// it, and stops before them.
func modules(cfg config, demo bool, stdout, stderr io.Writer) fx.Option {
	list := []fx.Option{fx.Supply(cfg), logModule(stderr)}
	if demo {
		list = append(list, demoModule)
	}
	if cfg.AdminAddr != "" {
		list = append(list, metricsModule)
	}
	useCases := cfg.serverConfig()
	if cfg.Webhook.URL != "" {
		sender := webhook.New(cfg.Webhook)
		useCases.Notify = sender.Notify
		list = append(list, webhookModule(sender))
	}
	list = append(list, tracingModule, bootstrap.Module(useCases), signInModule)
	if cfg.Pages {
		list = append(list, pagesModule, gitModule)
	}
	if cfg.MCP {
		list = append(list, mcpModule)
	}
	list = append(list, httpModule)
	if cfg.Pages && (cfg.Passwords || cfg.Accounts.Passkeys != nil) && !cfg.ReadOnly {
		list = append(list, setupModule)
	}
	if demo {
		list = append(list, announcementModule(stdout))
	}
	return fx.Options(list...)
}
