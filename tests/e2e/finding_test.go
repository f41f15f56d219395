package e2e

import (
	"fmt"
	"html"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/contract"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// TestListsOfTheLastYear pages through lists of pastes of 9999-12-31, the last day that a time may have.
func TestListsOfTheLastYear(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		const pastes = 60
		program.Fixture(t, cfg)
		var documents []paste.Document
		for i := range pastes {
			at := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
			documents = append(documents, paste.Document{
				Paste: paste.Paste{ID: paste.ID(id36('y', i)), Owner: "epoxy001", CreatedAt: at},
				Content: paste.Content{
					Lifetime: paste.Never, Visibility: paste.Public, Edits: []paste.Edit{{ID: "e", At: at}},
					Pasties: []paste.Pasty{{ID: "p", Language: "Go", Code: "endoftime"}},
				},
			})
		}
		store := gormstore.NewPastes(database.Open(t, cfg))
		if _, err := store.Import(t.Context(), contract.Whole(documents...), paste.RefuseOrphans); err != nil {
			t.Fatal(err)
		}
		p := program.Serve(t, cfg.URL, "GLUEPOT_RECENT=true")
		next := regexp.MustCompile(`<a class="button" href="([^"]+)">Show (?:older pastes|more results)`)
		ids := regexp.MustCompile(`href="/(y[0-9a-z]{7})"`)
		for _, path := range []string{"/~epoxy", "/recent", "/search?q=endoftime"} {
			matches := map[string]bool{}
			for page := path; page != ""; {
				status, body := getAccepting(t, p, page, "text/html")
				if status != http.StatusOK {
					t.Errorf("%s: got %d, want 200", page, status)
				}
				for _, id := range ids.FindAllStringSubmatch(body, -1) {
					matches[id[1]] = true
				}
				page = ""
				if link := next.FindStringSubmatch(body); link != nil {
					page = html.UnescapeString(link[1])
				}
			}
			if len(matches) != pastes {
				t.Errorf("%s: got %d pastes on its pages, want %d", path, len(matches), pastes)
			}
		}
	})
}

// TestListContains searches the code of many pastes while others read. It prints how long that takes and how much it
// slows the readers, and checks the memory. Run it alone: -large -parallel 1.
func TestListContains(t *testing.T) {
	t.Parallel()
	if !*large {
		t.Skip("only with -large: it takes a minute")
	}
	const limit, pastes = 128, 100_000 // MiB
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		store := gormstore.NewPastes(database.Open(t, cfg))
		for first := 0; first < pastes; first += 1000 {
			var batch []paste.Document
			for i := first; i < first+1000; i++ {
				document := paste.Document{Paste: paste.Paste{ID: paste.ID(id36('p', i)),
					CreatedAt: time.Now().Add(-time.Duration(i) * time.Second)}}
				document.Lifetime = "never"
				code := fmt.Sprintf("%d %s", i, strings.Repeat("a line of code\n", 136))
				if i == pastes-1 {
					code += "casino"
				}
				document.Pasties = []paste.Pasty{{ID: "pasty001", Language: "Plain Text", Code: code}}
				batch = append(batch, document)
			}
			if _, err := store.Import(t.Context(), contract.Whole(batch...), paste.RefuseOrphans); err != nil {
				t.Fatal(err)
			}
		}
		if strings.HasPrefix(cfg.URL, "postgres") { // reads need statistics; autovacuum would collect them within a minute
			if _, err := database.SQL(t, cfg).Exec("ANALYZE"); err != nil {
				t.Fatal(err)
			}
		}
		p := program.StartShipped(t, []string{"GLUEPOT_DATABASE_URL=" + cfg.URL, "GLUEPOT_HTTP_ADDR=127.0.0.1:0"}, "serve")
		p.WaitForAddress()
		var alone, beside, lists []time.Duration
		var peak int
		for range 5 { // by turns, so that other load on the machine disturbs both alike
			alone = append(alone, timeReaders(t, p, pastes, func() { time.Sleep(3 * time.Second) })...)
			beside = append(beside, timeReaders(t, p, pastes, func() {
				start := time.Now()
				list := program.StartShipped(t, []string{"GLUEPOT_DATABASE_URL=" + cfg.URL}, "paste", "list", "--contains",
					"casino")
				peak = max(peak, peakMemory(t, list))
				lists = append(lists, time.Since(start).Round(time.Millisecond))
				if out := list.Stdout.String(); strings.Count(out, "\n") != 2 || !strings.Contains(out, id36('p', pastes-1)) {
					t.Errorf("got %s, want the oldest paste", out)
				}
			})...)
		}
		t.Logf("%d pastes of 2 KiB: %v, %d MiB; a reader waits %v at p99 alone, %v beside it (%d and %d requests)",
			pastes, lists, peak, percentile99(alone), percentile99(beside), len(alone), len(beside))
		if peak > limit || peak == 0 {
			t.Errorf("got %d MiB of memory, want at most %d", peak, limit)
		}
	})
}

// timeReaders lets clients read pastes while work runs, and returns how long each request took.
func timeReaders(t *testing.T, p *program.Process, pastes int, work func()) (durations []time.Duration) {
	t.Helper()
	const clients = 4
	done := make(chan struct{})
	var readers sync.WaitGroup
	var mutex sync.Mutex
	for range clients {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				case <-time.After(5 * time.Millisecond):
				}
				start := time.Now()
				answer, err := http.Get("http://" + p.Address + "/paste/" + id36('p', rand.IntN(pastes)))
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, answer.Body)
				_ = answer.Body.Close()
				mutex.Lock()
				durations = append(durations, time.Since(start))
				mutex.Unlock()
				if answer.StatusCode != http.StatusOK {
					t.Errorf("got %d, want 200", answer.StatusCode)
				}
			}
		})
	}
	work()
	close(done)
	readers.Wait()
	return durations
}

// percentile99 returns the 99th percentile of durations.
func percentile99(durations []time.Duration) time.Duration {
	slices.Sort(durations)
	if len(durations) == 0 {
		return 0
	}
	return durations[len(durations)*99/100].Round(10 * time.Microsecond)
}
