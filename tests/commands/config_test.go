package commands

import (
	"encoding/json"
	"strings"
	"testing"
)

// settingsInForce runs gluepot config --json and returns each setting's line without its name.
func settingsInForce(t *testing.T, settings []string, args ...string) map[string]string {
	t.Helper()
	got := runWith(t, settings, append([]string{"config", "--json"}, args...)...)
	if got.code != exitOK || got.stderr != "" || strings.Contains(got.stdout, "hunter2") {
		t.Fatalf("got %+v, want exit code 0, no standard error and no password", got)
	}
	lines := map[string]string{}
	for line := range strings.Lines(got.stdout) {
		var fields map[string]string
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		lines[fields["name"]] = strings.TrimSpace(fields["value"] + " | " + fields["source"] + " " + fields["path"])
	}
	return lines
}

func TestConfig(t *testing.T) {
	database := fileWith(t, "postgres://gluepot:hunter2@db/gluepot?sslpassword=hunter2\n")
	got := settingsInForce(t, []string{
		"GLUEPOT_DATABASE_URL_FILE=" + database,
		"GLUEPOT_DATABASE_READ_URL=postgres://u:hunter2@a/d",
		"GLUEPOT_HTTP_TRUSTED_PROXIES=10.0.0.0/8,::1", "GLUEPOT_HTTP_IDLE_TIMEOUT=90s", "GLUEPOT_LOG_LEVEL=debug",
	}, "--log-level=warn", "--paste-anonymous=false", "--database-max-connections", "3")
	for name, want := range map[string]string{
		"GLUEPOT_DATABASE_URL":             "postgres://gluepot@db:5432/gluepot | file " + database,
		"GLUEPOT_DATABASE_READ_URL":        "postgres://u@a:5432/d | environment",
		"GLUEPOT_DATABASE_MAX_CONNECTIONS": "3 | flag",
		"GLUEPOT_DATABASE_MIGRATE":         "true | default",
		"GLUEPOT_HTTP_TRUSTED_PROXIES":     "10.0.0.0/8,::1 | environment",
		"GLUEPOT_HTTP_IDLE_TIMEOUT":        "1m30s | environment",
		"GLUEPOT_HTTP_BASE_PATH":           "| default",
		"GLUEPOT_LOG_LEVEL":                "warn | flag",
		"GLUEPOT_PASTE_ANONYMOUS":          "false | flag",
		"GLUEPOT_SWEEP_INTERVAL":           "1m0s | default",
	} {
		if got[name] != want {
			t.Errorf("%s: got %q, want %q", name, got[name], want)
		}
	}
	if len(got) < 25 {
		t.Errorf("got %d settings, want all", len(got))
	}

	// What a flag says is not looked for anywhere else.
	got = settingsInForce(t, []string{"GLUEPOT_DATABASE_URL_FILE=" + database}, "--database-url=sqlite://a\nb")
	if want := "sqlite://a\nb | flag"; got["GLUEPOT_DATABASE_URL"] != want {
		t.Errorf("got %q, want %q", got["GLUEPOT_DATABASE_URL"], want)
	}

	text := runWith(t, []string{"GLUEPOT_DATABASE_URL_FILE=" + database, "GLUEPOT_HTTP_ADDR=:80"}, "config")
	lines := map[string]bool{}
	for line := range strings.Lines(text.stdout) {
		lines[strings.Join(strings.Fields(line), " ")] = true
	}
	for _, want := range []string{
		"SETTING VALUE SOURCE", "GLUEPOT_DATABASE_URL postgres://gluepot@db:5432/gluepot file " + database,
		"GLUEPOT_HTTP_ADDR :80 environment", "GLUEPOT_LOG_FORMAT json default",
	} {
		if !lines[want] {
			t.Errorf("got\n%swant the line %q", text.stdout, want)
		}
	}
	if strings.Contains(text.stdout, "hunter2") || text.stderr != "" {
		t.Errorf("got %+v, want no password", text)
	}
}

// What serve would refuse is not in force.
func TestConfigThatIsWrong(t *testing.T) {
	got := runWith(t, []string{"GLUEPOT_LOG_LEVEL=loud", "GLUEPOT_HTTP_ADR=:80"}, "config")
	wantRefusal(t, "config", got, exitUsage, `"GLUEPOT_HTTP_ADR" is no setting: did you mean GLUEPOT_HTTP_ADDR?`+
		"\n"+`gluepot: the log level "loud" is not debug, info, warn or error`)
}
