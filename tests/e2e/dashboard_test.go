package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/freeport"
	"github.com/gluepot/gluepot/tests/program"
)

// TestDashboard checks that every expression of the dashboard in docs/operations has a result in a Prometheus that
// scrapes a busy server. With a wrong label the result would be empty, which Grafana would not report.
func TestDashboard(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("prometheus"); err != nil {
		t.Skip("Prometheus is not installed (Debian: apt-get install prometheus)")
	}
	cfg := database.Postgres(t)
	program.Fixture(t, cfg)
	p := program.Serve(t, cfg.URL, "GLUEPOT_ADMIN_ADDR=127.0.0.1:0", "GLUEPOT_LIMIT_RATE=1000")
	admin, _ := p.WaitForLog("serving metrics")["address"].(string)
	prometheus := startPrometheus(t, admin)
	text, err := os.ReadFile("../../docs/operations/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	variables := strings.NewReplacer("$instance", ".*", "$__rate_interval", "2s")
	silent := make(map[string]string) // expressions without a result, with their panels
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			silent[variables.Replace(target.Expr)] = panel.Title
		}
	}
	for deadline := time.Now().Add(program.Patience); len(silent) > 0 &&
		time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		p.Get("/data/numPastes", "")
		p.Get("/user/self", "no token")
		maps.DeleteFunc(silent, func(expression, _ string) bool { return evaluate(t, prometheus, expression) > 0 })
	}
	for expression, panel := range silent {
		t.Errorf("%s: got no numbers for %s, want some", panel, expression)
	}
}

// startPrometheus starts a Prometheus that scrapes a server until the test ends, and returns its address.
func startPrometheus(t *testing.T, admin string) string {
	t.Helper()
	folder := t.TempDir()
	config := filepath.Join(folder, "prometheus.yaml")
	if err := os.WriteFile(config, []byte("global: {scrape_interval: 100ms, scrape_timeout: 100ms}\n"+
		"scrape_configs: [{job_name: gluepot, static_configs: [{targets: ["+admin+"]}]}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	address := freeport.Address(t)
	var stderr bytes.Buffer
	command := exec.CommandContext(t.Context(), "prometheus", "--config.file="+config, "--storage.tsdb.path="+folder,
		"--web.listen-address="+address)
	command.Stderr = &stderr
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Wait()
		if t.Failed() {
			t.Logf("Prometheus logged %s", &stderr)
		}
	})
	program.Eventually(t, "Prometheus is ready", func() bool {
		answer, err := http.Get("http://" + address + "/-/ready")
		if err == nil {
			_ = answer.Body.Close()
		}
		return err == nil && answer.StatusCode == http.StatusOK
	})
	return address
}

// evaluate returns how many numbers an expression evaluates to.
func evaluate(t *testing.T, address, expression string) int {
	t.Helper()
	response, err := http.Get("http://" + address + "/api/v1/query?query=" + url.QueryEscape(expression))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it has been read
	var answer struct {
		Status, Error string
		Data          struct{ Result []struct{ Value [2]any } }
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || answer.Status != "success" {
		t.Fatalf("%s: got %v %s, want an answer", expression, err, fmt.Sprint(answer.Status, answer.Error))
	}
	numbers := 0
	for _, sample := range answer.Data.Result {
		if sample.Value[1] != "NaN" {
			numbers++
		}
	}
	return numbers
}
