package program

import (
	"context"

	"go.uber.org/zap"

	"github.com/gluepot/gluepot/adapters/httpapi"
	"github.com/gluepot/gluepot/adapters/httpapi/limit"
	"github.com/gluepot/gluepot/adapters/metrics"
	"github.com/gluepot/gluepot/bootstrap"
)

// serveMetrics serves metrics at an address, and has cfg report requests to them. Without an address it returns nil.
func serveMetrics(
	ctx context.Context, address string, cfg *httpapi.Config, statistics func() bootstrap.Statistics, log *zap.Logger,
) (*metrics.Server, error) {
	if address == "" {
		return nil, nil //nolint:nilnil // there is none, and that is right
	}
	figures := metrics.New(Version(), func() metrics.Snapshot { return snapshot(statistics()) })
	cfg.Observe, cfg.OnLimited = figures.Began, figures.Limited(limit.Names())
	server, err := metrics.Listen(ctx, address, figures.Handler(), log)
	if err == nil {
		log.Info("serving metrics", zap.Stringer("address", server.Addr()))
	}
	return server, err
}

func snapshot(now bootstrap.Statistics) metrics.Snapshot {
	return metrics.Snapshot{
		Totals: now.Totals, StoreMaxBytes: now.StoreMaxBytes,
		PastesCreated: now.PastesCreated, PastesSwept: now.PastesSwept, FailedSweeps: now.FailedSweeps,
		RejectedSignIns: now.RejectedSignIns, PendingUses: now.PendingUses,
		Pool: now.Connections,
	}
}
