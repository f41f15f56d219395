package e2e

import (
	"context"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// TestMetrics reads the metrics of a server after a few requests, and while it drains.
func TestMetrics(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		p := program.Serve(t, cfg.URL, "GLUEPOT_ADMIN_ADDR=127.0.0.1:0", "GLUEPOT_HTTP_DRAIN_DELAY=10s")
		admin, _ := p.WaitForLog("serving metrics")["address"].(string)
		p.Get("/user/nobody/exists", "")
		p.Get("/user/self", "no token")
		p.Get("/user/nothing/here", "")
		const get = `http_request_method="GET",http_response_status_code=`
		metrics := scrape(t, admin, "/metrics")
		for _, want := range []string{
			`http_server_request_duration_seconds_count{` + get + `"404",http_route="/user/:username/exists"} 1`,
			`http_server_request_duration_seconds_count{` + get + `"401",http_route="/user/self"} 1`,
			`http_server_request_duration_seconds_count{` + get + `"404",http_route=""} 1`,
			"gluepot_sign_ins_rejected_total 1", "gluepot_pastes_created_total 0", "gluepot_build_info{version=",
		} {
			if !strings.Contains(metrics, "\n"+want) {
				t.Errorf("got\n%s\nwant a line %q", metrics, want)
			}
		}
		if profile := scrape(t, admin, "/debug/pprof/goroutine?debug=1"); !strings.Contains(profile, "goroutine profile:") {
			t.Errorf("got %q, want a profile", profile)
		}
		if status, _ := p.Get("/metrics", ""); status != http.StatusNotFound {
			t.Errorf("got %d for /metrics at the public address, want 404", status)
		}
		p.Signal(syscall.SIGTERM)
		p.WaitForLog("stopping")
		scrape(t, admin, "/metrics")
		if code := p.Wait(); code != 0 {
			t.Errorf("got exit code %d, want 0", code)
		}
	})
}

// TestMetricsAddressTaken checks that a server does not start if it cannot serve metrics, and says so.
func TestMetricsAddressTaken(t *testing.T) {
	t.Parallel()
	url := "GLUEPOT_DATABASE_URL=" + database.SQLite(t).URL
	p := program.Serve(t, database.SQLite(t).URL)
	code, _, stderr := program.Run(t, []string{url, "GLUEPOT_HTTP_ADDR=127.0.0.1:0",
		"GLUEPOT_ADMIN_ADDR=" + p.Address}, "serve")
	want := "gluepot: Cannot listen on " + p.Address + ". Choose another address with --admin-addr or GLUEPOT_ADMIN_ADDR."
	if code != 1 || !strings.Contains(stderr, want) {
		t.Errorf("got exit code %d and %q, want 1 and %q", code, stderr, want)
	}
}

func scrape(t *testing.T, address, path string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), program.Patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // it has been read
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: got %d and %v, want 200", path, answer.StatusCode, err)
	}
	return string(body)
}
