package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// envCopyPastes names the variable with the number of pastes that TestCopyMemory copies instead of a million.
const envCopyPastes = "GLUEPOT_TEST_COPY_PASTES"

// TestCopyMemory copies a million pastes without content, and 200 with 2 MiB each, to PostgreSQL and back. It checks
// that both processes stay below 128 MiB, and prints the rows per second, including the time to read them back.
func TestCopyMemory(t *testing.T) {
	t.Parallel()
	if !*large {
		t.Skip("only with -large: it takes minutes")
	}
	const limit, leastRate = 128, 1000 // MiB, rows a second
	pastes := 1_000_000
	if text := os.Getenv(envCopyPastes); text != "" {
		var err error
		if pastes, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name       string
		rows       int64 // in all tables
		statements []string
	}{
		{"without content", int64(pastes) + 1000, []string{
			`WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 1000)
				INSERT INTO users (id, username, avatar_url, default_language,
					public_profile, supporter_months, contributor, created_at)
				SELECT printf('u%07d', n), 'user' || n, '', 'Go', true, 0, false, n FROM n`,
			// The ids are in no order, as real ones.
			fmt.Sprintf(`WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < %d)
				INSERT INTO pastes (id, owner_id, created_at, expires_at, lifetime, visibility, title, encrypted,
					pasties, tags, edits, content_bytes, history_bytes) SELECT printf('%%09d', n * 104729 %% 1000000007),
				CASE WHEN n %% 3 > 0 THEN printf('u%%07d', n %% 1000 + 1) END, n * 1000000,
				CASE WHEN n %% 2 > 0 THEN 4000000000000000 + n END, 'never', 1, '', false, 0, 0, 0, 0, 0 FROM n`, pastes),
		}},
		{"with 2 MiB each", 400, []string{
			`WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 200)
				INSERT INTO pastes (id, owner_id, created_at, expires_at, lifetime, visibility, title, encrypted,
					pasties, tags, edits, content_bytes, history_bytes)
				SELECT printf('p%07d', n), NULL, n, NULL, 'never', 1, '', false, 1, 0, 0, 2097152, 0 FROM n`,
			`INSERT INTO pasties SELECT id, 0, 'pasty001', '', 'Go', hex(randomblob(1048576)) FROM pastes`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			source := database.SQLite(t)
			db := database.SQL(t, source)
			for _, statement := range c.statements {
				if _, err := db.ExecContext(t.Context(), statement); err != nil {
					t.Fatal(err)
				}
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			middle := database.EmptyPostgres(t)
			for _, pair := range [][2]gormstore.Config{{source, middle}, {middle, database.EmptySQLite(t)}} {
				start := time.Now()
				p := program.StartShipped(t, nil, "copy", "--json", "--from", pair[0].URL, "--to", pair[1].URL)
				peak := peakMemory(t, p)
				duration := time.Since(start)
				if code := p.Cmd.ProcessState.ExitCode(); code != 0 {
					t.Fatalf("got exit code %d, want 0", code)
				}
				var rows int64
				for decoder := json.NewDecoder(strings.NewReader(p.Stdout.String())); decoder.More(); {
					var c struct{ TargetRows int64 }
					if err := decoder.Decode(&c); err != nil {
						t.Fatal(err)
					}
					rows += c.TargetRows
				}
				rate := float64(rows) / duration.Seconds()
				t.Logf("to %.8s: %d rows in %v, %.0f a second, at most %d MiB of memory", pair[1].URL, rows,
					duration.Round(time.Second/10), rate, peak)
				if rows != c.rows || peak > limit || peak == 0 || (rows > 10_000 && rate < leastRate) {
					t.Errorf("got %d rows, %d MiB and %.0f rows a second, want %d, at most %d and at least %d", rows, peak, rate,
						c.rows, limit, leastRate)
				}
			}
		})
	}
}

// TestServerBesideACopy runs a server on the target of a killed copy. The server must refuse writes, which the next
// copy would delete, say why, and work once the copy is complete.
func TestServerBesideACopy(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, target gormstore.Config) {
		source := database.SQLite(t)
		if target.URL[:6] == "sqlite" { // the other direction
			source = database.Postgres(t)
		}
		program.Fixture(t, source)
		server := program.Serve(t, target.URL)
		post := func() (int, string) {
			t.Helper()
			response, err := server.Client().Post("http://"+server.Address+"/paste", "",
				strings.NewReader(`{"pasties":[{"code":"a"}]}`))
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close() //nolint:errcheck // it was only read
			body, err := io.ReadAll(response.Body)
			if err != nil {
				t.Fatal(err)
			}
			return response.StatusCode, string(body)
		}
		from, err := gormstore.NewCopies(database.Open(t, source)).Installation(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := gormstore.NewCopies(database.Open(t, target)).Begin(t.Context(), from.UID, "killed"); err != nil {
			t.Fatal(err)
		}
		const sentence = "The database is the target of an unfinished copy. Run 'gluepot copy' again."
		if status, body := post(); status != http.StatusServiceUnavailable || !strings.Contains(body, sentence) {
			t.Errorf("got %d %s, want 503 with %q", status, body, sentence)
		}
		if _, body := wantStatus(t, server, "/readyz", http.StatusServiceUnavailable); !strings.Contains(body, sentence) {
			t.Errorf("readiness: got %s, want %q", body, sentence)
		}
		code, stdout, stderr := program.Run(t, nil, "copy", "--from", source.URL, "--to", target.URL)
		if code != 0 {
			t.Fatalf("got exit code %d: %s%s", code, stdout, stderr)
		}
		wantStatus(t, server, "/readyz", http.StatusOK)
		wantStatus(t, server, "/user/epoxy", http.StatusOK)
		if status, body := post(); status != http.StatusOK {
			t.Errorf("got %d %s after the copy, want 200", status, body)
		}
	})
}
