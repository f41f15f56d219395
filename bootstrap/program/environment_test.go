package program

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/spf13/pflag"
)

func TestUnknownVariables(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"GLUEPOT_HTTP_ADDR", "GLUEPOT_DATABASE_URL_FILE", "GLUEPOT_DATABASE_READ_URL_FILE", "GLUEPOT_TEST_HTTP_ADR",
		"GLUEPOT_TEST_POSTGRES",
		"GLUEPOT_SERVER", "HTTP_ADR",
	} {
		if err := unknownVariables([]string{"PATH=/bin", name + "=hunter2"}); err != nil {
			t.Errorf("%s: got %v, want no error", name, err)
		}
	}
	const help = "See 'gluepot serve --help'"
	for name, hint := range map[string]string{
		"GLUEPOT_HTTP_ADR":           "Did you mean GLUEPOT_HTTP_ADDR?",
		"GLUEPOT_DATABSAE_URL":       "Did you mean GLUEPOT_DATABASE_URL?",
		"GLUEPOT_DATABASE_URL_FIEL":  "Did you mean GLUEPOT_DATABASE_URL_FILE?",
		"GLUEPOT_HTTP_PORT":          "Did you mean GLUEPOT_HTTP_ADDR?",
		"GLUEPOT_TRUSTED_PROXIES":    "Did you mean GLUEPOT_HTTP_TRUSTED_PROXIES?",
		"GLUEPOT_TOKN":               "Did you mean GLUEPOT_TOKEN?",
		"GLUEPOT_COLOUR":             help,
		"GLUEPOT_":                   help,
		"\ufeffGLUEPOT_DATABASE_URL": "Did you mean GLUEPOT_DATABASE_URL?", // of a file that begins with a byte order mark
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := strconv.Quote(name) + " is not a setting. " + hint
			if got := errorText(errors.Join(unknownVariables([]string{name + "=hunter2", name + "="})...)); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// settingOf returns the setting of a flag.
func settingOf(t *testing.T, flags *pflag.FlagSet, name string) *setting {
	t.Helper()
	s, ok := flags.Lookup(name).Value.(*setting)
	if !ok {
		t.Fatalf("got another flag %s, want a setting", name)
	}
	return s
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestVariablesOfKubernetes checks that the variables that Kubernetes injects for services cause no error.
func TestVariablesOfKubernetes(t *testing.T) {
	t.Parallel()
	var variables []string
	for _, service := range []string{"GLUEPOT", "GLUEPOT_HTTP", "GLUEPOT_LOG_LEVEL", "REDIS"} {
		variables = append(variables,
			service+"_SERVICE_HOST=10.0.0.11",
			service+"_SERVICE_PORT=8080",
			service+"_SERVICE_PORT_HTTP=8080",
			service+"_SERVICE_PORT_HTTP_ADMIN=9090",
			service+"_PORT=tcp://10.0.0.11:8080",
			service+"_PORT_8080_TCP=tcp://10.0.0.11:8080",
			service+"_PORT_8080_TCP_PROTO=tcp",
			service+"_PORT_8080_TCP_PORT=8080",
			service+"_PORT_8080_TCP_ADDR=10.0.0.11",
			service+"_PORT_53_UDP_ADDR=10.0.0.11")
	}
	if err := unknownVariables(variables); err != nil {
		t.Errorf("got %v, want no error", err)
	}
	for _, name := range variableNames() {
		if kubernetes.MatchString(name + "=x") {
			t.Errorf("%s: got a setting ignored as a variable of Kubernetes, want it read", name)
		}
	}
}

// TestRereading reads a URL again from a file that has changed.
func TestRereading(t *testing.T) {
	path := filepath.Join(t.TempDir(), "url")
	write := func(content string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("postgres://u:one@h/d\n")
	t.Setenv("GLUEPOT_DATABASE_URL_FILE", path)
	cfg, flags := defaultConfig(), pflag.NewFlagSet("", pflag.ContinueOnError)
	addSettings(flags, &cfg, databaseFlags)
	if err := complete(flags, cfg); err != nil {
		t.Fatal(err)
	}
	reread := settingOf(t, flags, "database-url").reread()
	write("postgres://u:two@h/d\n")
	url, err := reread()
	if err != nil || string(url) != "postgres://u:two@h/d" {
		t.Errorf("got %s and error %v, want the URL that is in the file now", string(url), err)
	}
	write("")
	if _, err := reread(); err == nil {
		t.Error("an empty file: got no error, want one")
	}
	t.Setenv("GLUEPOT_DATABASE_URL_FILE", "")
	cfg, flags = defaultConfig(), pflag.NewFlagSet("", pflag.ContinueOnError)
	addSettings(flags, &cfg, databaseFlags)
	if err := complete(flags, cfg); err != nil {
		t.Fatal(err)
	}
	if settingOf(t, flags, "database-url").reread() != nil {
		t.Error("without a file: got a function, want nil")
	}
}
