package e2e

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// TestBurnOnce opens burning pastes on two nodes with fifty readers at the same instant, half of them with the page's
// button. Before that, link previews request the pastes; afterwards, two readers repeat their requests. Exactly one
// reader must get each paste.
func TestBurnOnce(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		program.Fixture(t, cfg)
		settings := []string{"GLUEPOT_HTTP_BASE_PATH=/api/v2"}
		nodes := []*program.Process{program.Serve(t, cfg.URL, settings...)}
		if !strings.HasPrefix(cfg.URL, "sqlite:") {
			nodes = append(nodes, program.Serve(t, cfg.URL, settings...))
		}
		for range 5 {
			id := createdID(t, nodes[0], `{"burn":true,"title":"s3cret","pasties":[{"code":"s3cret"}]}`)
			for _, userAgent := range []string{"Slackbot-LinkExpanding 1.0", "Mozilla/5.0 (prefetch)"} {
				for _, method := range []string{http.MethodGet, http.MethodHead} {
					status, page := send(t, nodes[0], method, "/"+id, "", "User-Agent", userAgent)
					if status != http.StatusOK || strings.Contains(page, "s3cret") {
						t.Fatalf("%s: got %d %s, want the page with the button", userAgent, status, page)
					}
				}
			}
			open := func(reader int) bool {
				path, header, value := "/api/v2/open/"+id, "Accept", "application/json"
				if reader%2 == 0 {
					path, header, value = "/"+id+"/open", "Content-Type", "application/x-www-form-urlencoded"
				}
				status, answer := send(t, nodes[reader/2%len(nodes)], http.MethodPost, path, "", header, value)
				hasText := strings.Contains(answer, "s3cret")
				if hasText != (status == http.StatusOK) || !hasText && status != http.StatusNotFound {
					t.Errorf("got %d %s, want 200 with the paste, or 404", status, answer)
				}
				return hasText
			}
			var readers sync.WaitGroup
			var hasText atomic.Int32
			begin := make(chan struct{})
			for reader := range 50 {
				readers.Go(func() {
					<-begin
					if open(reader) {
						hasText.Add(1)
					}
				})
			}
			close(begin)
			readers.Wait()
			if again := open(0) || open(1); hasText.Load() != 1 || again {
				t.Errorf("got the paste read by %d readers, and again later: %t, want 1 and false", hasText.Load(), again)
			}
			if status, _ := getAccepting(t, nodes[0], "/api/v2/paste/"+id, "*/*"); status != http.StatusNotFound {
				t.Errorf("got %d for a paste that has burnt, want 404", status)
			}
		}
	})
}
