package commands

import (
	"encoding/json"
	"os"
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
		lines[fields["name"]] = strings.TrimSpace(fields["value"] + " | " + fields["from"] + " " + fields["path"])
	}
	return lines
}

func TestConfig(t *testing.T) {
	database := fileWith(t, "postgres://gluepot:hunter2@db/gluepot?sslpassword=hunter2\n")
	settings := []string{
		"GLUEPOT_DATABASE_URL_FILE=" + database,
		"GLUEPOT_DATABASE_READ_URL=postgres://u:hunter2@a/d", "GLUEPOT_PUBLIC_URL=https://paste.example",
		"GLUEPOT_GITHUB_CLIENT_ID=abc", "GLUEPOT_GITHUB_CLIENT_SECRET=hunter2",
		"GLUEPOT_HTTP_TRUSTED_PROXIES=10.0.0.0/8,::1", "GLUEPOT_HTTP_IDLE_TIMEOUT=90s", "GLUEPOT_LOG_LEVEL=debug",
	}
	got := settingsInForce(t, settings, "--log-level=warn", "--paste-anonymous=false", "--database-max-connections", "3")
	for name, want := range map[string]string{
		"GLUEPOT_DATABASE_URL":             "postgres://gluepot@db:5432/gluepot | file " + database,
		"GLUEPOT_DATABASE_READ_URL":        "postgres://u@a:5432/d | variable",
		"GLUEPOT_DATABASE_MAX_CONNECTIONS": "3 | flag",
		"GLUEPOT_DATABASE_MIGRATE":         "true | default",
		"GLUEPOT_GITHUB_CLIENT_SECRET":     "[redacted] | variable",
		"GLUEPOT_GITLAB_CLIENT_SECRET":     "| default",
		"GLUEPOT_HTTP_TRUSTED_PROXIES":     "10.0.0.0/8,::1 | variable",
		"GLUEPOT_HTTP_IDLE_TIMEOUT":        "1m30s | variable",
		"GLUEPOT_HTTP_BASE_PATH":           "| default",
		"GLUEPOT_LOG_LEVEL":                "warn | flag",
		"GLUEPOT_PASTE_ANONYMOUS":          "false | flag",
		"GLUEPOT_REMOVED_RETENTION":        "30d | default",
	} {
		if got[name] != want {
			t.Errorf("%s: got %q, want %q", name, got[name], want)
		}
	}
	if len(got) < 60 {
		t.Errorf("got %d settings, want all", len(got))
	}

	text := runWith(t, append(settings, "GLUEPOT_HTTP_ADDR=:80"), "config")
	lines := map[string]bool{}
	for line := range strings.Lines(text.stdout) {
		lines[strings.Join(strings.Fields(line), " ")] = true
	}
	for _, want := range []string{
		"SETTING VALUE FROM", "GLUEPOT_DATABASE_URL postgres://gluepot@db:5432/gluepot file " + database,
		"GLUEPOT_HTTP_ADDR :80 variable", "GLUEPOT_LOG_FORMAT json default",
	} {
		if !lines[want] {
			t.Errorf("got\n%swant the line %q", text.stdout, want)
		}
	}
	if strings.Contains(text.stdout, "hunter2") || text.stderr != "" {
		t.Errorf("got %+v, want no password", text)
	}
}

// TestSettingsOfOtherLineEnds reads settings from a file with Windows line endings, or with quotation marks.
func TestSettingsOfOtherLineEnds(t *testing.T) {
	const crlf = " ends with a carriage return: the file that sets it has " +
		"Windows line endings (CRLF). Convert it to LF"
	folder := t.TempDir()
	for _, c := range []struct{ setting, command, want string }{
		{"GLUEPOT_DATABASE_URL=sqlite://" + folder + "/new/g.db\r", "serve", "GLUEPOT_DATABASE_URL" + crlf},
		{"GLUEPOT_DATABASE_URL=sqlite://" + folder + "/new/g.db\r", "migrate up", "GLUEPOT_DATABASE_URL" + crlf},
		{"GLUEPOT_HTTP_ADDR=127.0.0.1:8080\r", "serve", "GLUEPOT_HTTP_ADDR" + crlf},
		{"GLUEPOT_HTTP_ADDR=127.0.0.1:8080\r", "health", "GLUEPOT_HTTP_ADDR" + crlf},
		{"GLUEPOT_PASTE_ANONYMOUS=false\r", "serve", "GLUEPOT_PASTE_ANONYMOUS" + crlf},
		{"GLUEPOT_DATABASE_URL_FILE=/run/secrets/url\r", "serve", "GLUEPOT_DATABASE_URL_FILE" + crlf},
		{"GLUEPOT_TOKEN=abc\r", "list --server http://127.0.0.1:1", "GLUEPOT_TOKEN" + crlf},
		{"GLUEPOT_SERVER=http://127.0.0.1:1\r", "list", "GLUEPOT_SERVER" + crlf},
		{
			`GLUEPOT_PUBLIC_URL="https://paste.example"`, "serve",
			"GLUEPOT_PUBLIC_URL has quotation marks around its value, which become part of it: remove them",
		},
		{
			"GLUEPOT_DATABASE_URL_FILE=" + fileWith(t, `"postgres://u:hunter2@h/d"`+"\n"), "serve",
			"GLUEPOT_DATABASE_URL_FILE has quotation marks around its value, which become part of it: remove them",
		},
	} {
		t.Run(c.command+" with "+c.setting, func(t *testing.T) {
			wantRefusal(t, c.command, runWith(t, []string{c.setting}, strings.Fields(c.command)...), exitUsage, c.want)
		})
	}
	wantRefusal(t, "a flag", run(t, "serve", "--database-url", "sqlite://"+folder+"/new/g.db\r"), exitUsage,
		"--database-url"+crlf)
	if files, err := os.ReadDir(folder); err != nil || len(files) > 0 {
		t.Errorf("got %v, error %v, want no database to be created", files, err)
	}
}
