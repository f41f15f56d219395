package program

import (
	"testing"
	"time"
)

// TestSweepGraceFollowsTheTimeouts checks that expired pastes stay for as long as an answer that counts them may take.
func TestSweepGraceFollowsTheTimeouts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ write, request, want time.Duration }{
		{30 * time.Second, 5 * time.Second, 90 * time.Second},
		{time.Hour, 5 * time.Second, time.Hour + time.Minute},
		{time.Second, time.Minute, 2 * time.Minute},
	} {
		cfg := defaultConfig()
		cfg.Server.WriteTimeout, cfg.HTTP.RequestTimeout = c.write, c.request
		if got := cfg.serverConfig().Pastes.SweepGrace; got != c.want {
			t.Errorf("write timeout %v, request timeout %v: got a grace of %v, want %v", c.write, c.request, got, c.want)
		}
	}
	if got, want := defaultConfig().Pastes.SweepGrace, defaultConfig().serverConfig().Pastes.SweepGrace; got != want {
		t.Errorf("got a default of %v for embedders, want %v as for the default server", got, want)
	}
}

func TestCommandsNeitherSweepNorMigrateUnlessTold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ configured, migrates, want bool }{
		{true, true, true}, {true, false, false}, {false, true, false}, {false, false, false},
	} {
		cfg := defaultConfig()
		cfg.Migrate = c.configured
		got := cfg.commandConfig(c.migrates)
		if got.Migrate != c.want || got.SweepInterval != 0 || got.Logger != nil {
			t.Errorf("configured %v, command %v: got migrate %v, sweep interval %v, logger %v; want migrate %v and nothing else",
				c.configured, c.migrates, got.Migrate, got.SweepInterval, got.Logger, c.want)
		}
	}
}
