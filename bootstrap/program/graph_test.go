package program

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/fx"
	"go.uber.org/fx/fxevent"

	"github.com/gluepot/gluepot/bootstrap"
)

// servers returns graphs of servers, with all optional modules and with none.
func servers(t *testing.T) map[string]fx.Option {
	t.Helper()
	// A constructor that connects to the database, or listens, would reach this or fail because of it.
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			t.Error("got a connection to the database, want none before the start")
			_ = connection.Close()
		}
	}()
	folder := t.TempDir()
	t.Cleanup(func() {
		if files, err := os.ReadDir(folder); err != nil || len(files) > 0 {
			t.Errorf("got the files %v, %v, want none before the start", files, err)
		}
	})
	cfg := defaultConfig()
	cfg.Server.Addr = listener.Addr().String()
	cfg.AdminAddr, cfg.Pastes.MaxBytes, cfg.MCP = cfg.Server.Addr, 1<<30, true
	cfg.Database.URL = "sqlite://" + filepath.ToSlash(folder) + "/gluepot.db"
	postgres := cfg
	postgres.Database.URL = "postgres://gluepot@" + cfg.Server.Addr + "/gluepot"
	postgres.ReadURL = postgres.Database.URL
	minimal := postgres
	minimal.AdminAddr, minimal.ReadURL, minimal.Pages, minimal.MCP = "", "", false, false
	minimal.Dataloader, minimal.Database.Search = false, false
	return map[string]fx.Option{
		"everything on SQLite":     modules(cfg, true, io.Discard, io.Discard),
		"everything on PostgreSQL": modules(postgres, true, io.Discard, io.Discard),
		"the minimum":              modules(minimal, false, io.Discard, io.Discard),
	}
}

// build runs the constructors of a graph without starting it, and returns the events.
func build(t *testing.T, options ...fx.Option) *events {
	t.Helper()
	errBuilt := errors.New("the graph is built")
	var e *events
	_, err := bootstrap.Start(t.Context(), append(options,
		fx.WithLogger(func(log *closingLog) fxevent.Logger { e = &events{log: log}; return e }),
		fx.Invoke(func() error { return errBuilt }))...)
	if !errors.Is(err, errBuilt) {
		t.Fatalf("got %v, want the graph to be built", err)
	}
	return e
}

// events records what fx does.
type events struct {
	log          fxevent.Logger
	provided     []*fxevent.Provided
	constructors []string // those that ran
	stopHooks    []string // functions that ran
}

// LogEvent implements fxevent.Logger.
func (e *events) LogEvent(event fxevent.Event) {
	switch event := event.(type) {
	case *fxevent.Provided:
		e.provided = append(e.provided, event)
	case *fxevent.Run:
		e.constructors = append(e.constructors, event.Name)
	case *fxevent.OnStopExecuted:
		e.stopHooks = append(e.stopHooks, event.FunctionName)
	}
	e.log.LogEvent(event)
}

// TestGraphIsComplete checks that nothing is missing, that every constructor is needed, and that none opens anything.
func TestGraphIsComplete(t *testing.T) {
	t.Parallel()
	for name, server := range servers(t) {
		t.Run(name, func(t *testing.T) {
			if err := fx.ValidateApp(server); err != nil {
				t.Fatal(err)
			}
			e := build(t, server)
			for _, provided := range e.provided {
				if provided.ModuleName != "" && !slices.Contains(e.constructors, provided.ConstructorName) {
					t.Errorf("got %s in the module %s, which nothing needs, want only what is needed",
						provided.ConstructorName, provided.ModuleName)
				}
			}
			if len(e.constructors) < 20 {
				t.Errorf("got the constructors %q, want at least 20", e.constructors)
			}
		})
	}
}

// TestStopOrder checks that the server stops first, and the metrics last.
func TestStopOrder(t *testing.T) {
	t.Parallel()
	cfg := defaultConfig()
	cfg.Server.Addr, cfg.AdminAddr, cfg.Server.DrainDelay = "127.0.0.1:0", "127.0.0.1:0", 0
	cfg.Database.URL = "sqlite://" + filepath.ToSlash(t.TempDir()) + "/gluepot.db"
	var e *events
	stop, err := bootstrap.Start(t.Context(), modules(cfg, false, io.Discard, io.Discard),
		fx.WithLogger(func(log *closingLog) fxevent.Logger { e = &events{log: log}; return e }))
	if err != nil {
		t.Fatal(err)
	}
	if err := stop(t.Context()); err != nil {
		t.Error(err)
	}
	last := -1
	for _, function := range []string{
		"server.(*Server).Stop", "program.(*traces).send", "bootstrap.repeat", "bootstrap.storeUses",
		"bootstrap.closing", "program.(*traces).wait", "program.newAdmin",
	} {
		i := slices.IndexFunc(e.stopHooks, func(name string) bool { return strings.Contains(name, function) })
		if i <= last {
			t.Errorf("got %s at %d, want it after %d, in %q", function, i, last, e.stopHooks)
		}
		last = i
	}
	if n := len(e.stopHooks); last != n-1 {
		t.Errorf("got %q after the metrics, want nothing", e.stopHooks[last+1:])
	}
}
