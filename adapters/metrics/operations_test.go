package metrics

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/domain/stats"
)

var figureName = regexp.MustCompile(`\b(http_server|db_client|gluepot|go|process)_[a-z_]+\b`)

// TestOperations checks that every figure in the alerts, the dashboard and the operators' page is served, and that the
// page explains every one of Gluepot's own.
func TestOperations(t *testing.T) {
	t.Parallel()
	m := New("", []string{"requests"}, func() Snapshot {
		return Snapshot{Totals: stats.Totals{Largest: make([]stats.Holder, 1), Days: make([]stats.Day, 1)}}
	})
	m.Begin("GET", "/healthz")(200)
	names := make(map[string]bool)
	for line := range strings.Lines(figures(t, m)) {
		name, _, _ := strings.Cut(strings.TrimPrefix(line, "# TYPE "), " ")
		name, _, _ = strings.Cut(name, "{")
		names[name] = true
	}
	texts := make(map[string]string)
	for _, file := range []string{"alerts.yaml", "alerts_test.yaml", "dashboard.json", "watching.md"} {
		text, err := os.ReadFile("../../docs/operations/" + file)
		if err != nil {
			t.Fatal(err)
		}
		texts[file] = string(text)
		for _, name := range figureName.FindAllString(string(text), -1) {
			if !names[name] && !label[name] {
				t.Errorf("%s: got %s, want only figures that are served", file, name)
			}
		}
	}
	for name := range names {
		if strings.HasPrefix(name, "gluepot_") && !explains(texts["watching.md"], name) {
			t.Errorf("watching.md: got no explanation of %s, want one", name)
		}
	}
}

// TestDashboard checks that each row has three panels, with no gap, and none twice.
func TestDashboard(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/operations/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	type place struct{ H, W, X, Y int }
	var dashboard struct {
		Panels []struct {
			ID      int
			GridPos place
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	for i, panel := range dashboard.Panels {
		if want := (place{8, 8, i % 3 * 8, i / 3 * 8}); panel.ID != i+1 || panel.GridPos != want {
			t.Errorf("panel %d: got the id %d at %+v, want it at %+v", i+1, panel.ID, panel.GridPos, want)
		}
	}
}

var label = map[string]bool{"db_client_connection_state": true}

func explains(page, name string) bool {
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return strings.Contains(page, "`"+name+"`")
}
