package gluepottest

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/modules/postgres"

	"github.com/gluepot/gluepot/bootstrap"
)

// Postgres is like PostgresAt, with a server in a container, which needs a Docker engine. GLUEPOT_TEST_POSTGRES_IMAGE
// names the image; the default is postgres:17-alpine. Tests that run at once share a server. It stops after the last of
// them, or with the process if testcontainers has its reaper.
func Postgres(tb testing.TB) bootstrap.Config {
	tb.Helper()
	server, release, err := shared.acquire(tb.Context())
	if err != nil {
		tb.Fatalf("gluepottest: cannot start PostgreSQL in a container; PostgresAt takes the URL of a server instead: %v",
			err)
	}
	tb.Cleanup(release)
	return PostgresAt(tb, server)
}

// container is a server that tests share.
type container struct {
	mu    sync.Mutex
	users int
	url   string // empty while the server does not run
	stop  func()
}

var shared container

// acquire returns the URL of the server, which it starts if necessary, and a function that gives it back.
func (c *container) acquire(ctx context.Context) (server string, release func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.url == "" {
		if c.url, c.stop, err = start(context.WithoutCancel(ctx)); err != nil {
			return "", nil, err
		}
	}
	c.users++
	return c.url, c.release, nil
}

func (c *container) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.users--; c.users == 0 && testcontainers.ReadConfig().Config.RyukDisabled {
		c.stop()
		c.url = ""
	}
}

// startTime includes fetching the image.
const startTime = 5 * time.Minute

func start(ctx context.Context) (url string, stop func(), err error) {
	defer func() {
		if r := recover(); r != nil { // testcontainers panics if it finds no engine
			err = fmt.Errorf("%v", r)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	image := cmp.Or(os.Getenv("GLUEPOT_TEST_POSTGRES_IMAGE"), "postgres:17-alpine")
	server, err := postgres.Run(ctx, image, postgres.BasicWaitStrategies())
	stop = func() { _ = testcontainers.TerminateContainer(server, testcontainers.StopTimeout(0)) }
	if err != nil {
		stop()
		return "", nil, err
	}
	url, err = server.ConnectionString(ctx, "sslmode=disable")
	if err != nil {
		stop()
	}
	return url, stop, err
}
