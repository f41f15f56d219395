package commands

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"time"

	gluepot "github.com/gluepot/gluepot/bootstrap/program"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// wantStats compares how many there are in an installation.
func wantStats(i installation, want string) {
	i.Helper()
	if got := i.do("stats --json"); !strings.HasPrefix(got, strings.TrimSuffix(want, "}")+",") {
		i.Errorf("stats --json: got %s, want %s", got, want)
	}
}

func TestStatsOfNothing(t *testing.T) {
	t.Parallel()
	wantStats(install(t), `{"users":0,"tokens":0,"activePastes":0,"expiredUnsweptPastes":0,"waitingStars":0}`)
}

func TestStats(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	i := installation{t, cfg.URL}
	i.do("user create glue")
	i.star("glue", "missing2") // beside one for missing1
	i.expire("oldest01")
	i.expire("tie0000a")
	wantStats(i, `{"users":5,"tokens":4,"activePastes":3,"expiredUnsweptPastes":3,"waitingStars":2}`)
	const want = `users                 5
tokens                4
activePastes          3
expiredUnsweptPastes  3
waitingStars          2
`
	if got := i.do("stats"); !strings.HasPrefix(got, want) ||
		!strings.Contains(got, time.Now().UTC().Format(time.DateOnly)+"  0\n") {
		t.Errorf("stats:\ngot\n%swant\n%sand today", got, want)
	}
	var got struct {
		ContentBytes, HistoryBytes, DatabaseBytes int64
		LargestUsers                              []struct{ Username string }
		CreatedPerDay                             []struct{ Day string }
	}
	if err := json.Unmarshal([]byte(i.do("stats --json")), &got); err != nil || got.DatabaseBytes < 4096 ||
		len(got.LargestUsers) == 0 ||
		len(got.CreatedPerDay) != 30 {
		t.Errorf("got %+v, %v, want the size of the database, the largest users and 30 days", got, err)
	}
}

// full is a standard output that takes nothing, and counts the attempts.
type full int

func (f *full) Write([]byte) (int, error) {
	*f++
	return 0, syscall.ENOSPC
}

// A table that could not be written ends the command: what followed would look like all there is.
func TestStatsOnFullDisk(t *testing.T) {
	t.Parallel()
	var stdout full
	var stderr program.Output
	args := []string{"--database-url=" + install(t).url, "stats"}
	if code := gluepot.Run(t.Context(), args, strings.NewReader(""), &stdout, &stderr); code != exitFailed || stdout != 1 {
		t.Errorf("got exit code %d after %d attempts to write, want %d after one", code, stdout, exitFailed)
	}
}
