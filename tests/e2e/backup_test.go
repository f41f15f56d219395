package e2e

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// TestBackupOfServer backs up a database while a server writes to it, and checks that the backup has every write that
// was acknowledged before it began.
func TestBackupOfServer(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	server := program.Serve(t, cfg.URL)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	acknowledged, result := make(chan struct{}, 100_000), make(chan error, 1)
	go func() {
		client := server.Client()
		for ctx.Err() == nil {
			request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+server.Address+"/paste",
				strings.NewReader(`{"pasties":[{"code":"a"}]}`))
			if err != nil {
				result <- err
				return
			}
			response, err := client.Do(request)
			if err != nil {
				break
			}
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				acknowledged <- struct{}{}
			}
		}
		result <- nil
	}()
	program.Eventually(t, "pastes are created", func() bool { return len(acknowledged) > 10 })
	before := len(acknowledged)
	file := filepath.Join(t.TempDir(), "backup.db")
	if code, _, stderr := program.Run(t, []string{"GLUEPOT_DATABASE_URL=" + cfg.URL}, "backup", file); code != 0 ||
		stderr != "" {
		t.Fatalf("got exit code %d and %q, want 0 and no output", code, stderr)
	}
	after := len(acknowledged)
	program.Eventually(t, "pastes are created after the backup", func() bool { return len(acknowledged) > after })
	stop()
	if err := <-result; err != nil {
		t.Fatal(err)
	}
	target := gormstore.Config{URL: "sqlite://" + filepath.Join(t.TempDir(), "gluepot.db")}
	if code, _, stderr := program.Run(t, []string{"GLUEPOT_DATABASE_URL=" + target.URL}, "restore", file); code != 0 {
		t.Fatalf("got exit code %d and %q, want 0", code, stderr)
	}
	var pastes, contents int
	const counts = "SELECT (SELECT count(*) FROM pastes), (SELECT count(*) FROM pasties)"
	err := database.SQL(t, target).QueryRowContext(t.Context(), counts).
		Scan(&pastes, &contents)
	if err != nil || pastes < before || pastes > len(acknowledged)+1 || contents != pastes {
		t.Errorf("got %d pastes, %d with content, error %v, want %d to %d of both", pastes, contents, err, before,
			len(acknowledged)+1)
	}
}
