package embedding_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/fx"
	"go.uber.org/zap"

	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/bootstrap"
	"github.com/gluepot/gluepot/domain/audit"
)

// TestModule runs the graph by fx alone, and wants its parts to be there, and nothing to be left.
func TestModule(t *testing.T) {
	for name, cfg := range map[string]bootstrap.Config{"sqlite": sqlite(t), "postgres": first(postgres(t))} {
		t.Run(name, func(t *testing.T) {
			log, _, waitFor := observed(t)
			cfg.Database.SlowStatement = time.Nanosecond
			leavesNothing(t, func() {
				var (
					own   *users.UseCases
					whole *bootstrap.Application
				)
				app := fx.New(bootstrap.Module(cfg), fx.Populate(&own, &whole), fx.Supply(log), fx.NopLogger)
				if err := app.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				if own != whole.Users {
					t.Error("got two sets of use cases, want one")
				}
				if _, err := own.Create.Do(t.Context(), audit.Operator(), users.CreateInput{Name: "Epoxy"}); err != nil {
					t.Error(err)
				}
				waitFor("a statement was slow") // in the graph's log
				if err := app.Stop(t.Context()); err != nil {
					t.Error(err)
				}
				if _, err := own.Show.Do(context.Background(), audit.Operator(), "epoxy"); err == nil {
					t.Error("after the stop: got an answer of the database, want an error")
				}
			})
		})
	}
}

// TestModuleRefusesConfig wants one error for all wrong values, and nothing to be opened.
func TestModuleRefusesConfig(t *testing.T) {
	cfg := sqlite(t)
	cfg.UseInterval, cfg.SweepInterval = 0, -1
	leavesNothing(t, func() {
		err := fx.New(bootstrap.Module(cfg), fx.NopLogger).Err()
		for _, want := range []string{"GLUEPOT_SWEEP_INTERVAL", "GLUEPOT_TOKEN_USE_INTERVAL"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want both wrong values", err)
			}
		}
	})
}

// TestGraphThatCannotBeBuilt closes what Gluepot's constructors have opened when one of the program's own fails.
func TestGraphThatCannotBeBuilt(t *testing.T) {
	failure := errors.New("it failed")
	for name, cfg := range map[string]bootstrap.Config{"sqlite": sqlite(t), "postgres": first(postgres(t))} {
		t.Run(name, func(t *testing.T) {
			leavesNothing(t, func() {
				_, err := bootstrap.Start(t.Context(), bootstrap.Module(cfg), fx.NopLogger,
					fx.Provide(zap.NewNop), fx.Invoke(func(*bootstrap.Application) error { return failure }))
				if !errors.Is(err, failure) {
					t.Errorf("got %v, want %v", err, failure)
				}
			})
		})
	}
}
