package httpapi

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/domain/fault"
)

// The paths of the health checks, which stand outside the base path.
const (
	PathAlive = "/healthz"
	PathReady = "/readyz"
)

func (a *API) alive(c *gin.Context) { writeJSON(c, okStatus) }

func (a *API) readiness(ctx context.Context, c *gin.Context) error {
	if a.draining.Load() {
		return errDraining
	}
	if err := a.ready(ctx); err != nil {
		return err
	}
	writeJSON(c, okStatus)
	return nil
}

var (
	okStatus    = []byte(`{"status":"ok"}`)
	errDraining = fault.New(fault.Unavailable, "This server is shutting down. Use another.")
)
