package program

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/pflag"
)

func TestUnknownVariables(t *testing.T) {
	t.Parallel()
	for _, known := range []string{
		"GLUEPOT_HTTP_ADDR", "GLUEPOT_DATABASE_URL_FILE", "GLUEPOT_DATABASE_READ_URL_FILE", "GLUEPOT_TEST_HTTP_ADR", "GLUEPOT_TEST_POSTGRES",
		"GLUEPOT_SERVER", "HTTP_ADR",
	} {
		if err := unknownVariables([]string{"PATH=/bin", known + "=hunter2"}); err != nil {
			t.Errorf("%s: got %v, want no error", known, err)
		}
	}
	err := unknownVariables([]string{
		"GLUEPOT_HTTP_PORT=8080", "GLUEPOT_DATABSAE_URL=hunter2", "GLUEPOT_HTTP_ADDR_FILE=x", "GLUEPOT_HTTP_ADR=", "GLUEPOT_=x",
	})
	want := ""
	for _, name := range []string{"GLUEPOT_", "GLUEPOT_DATABSAE_URL", "GLUEPOT_HTTP_ADDR_FILE", "GLUEPOT_HTTP_PORT"} {
		want += `"` + name + `" is no setting. See 'gluepot serve --help'` + "\n"
	}
	if got := errorText(err) + "\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestWrongList wants a list that cannot be read to be named once, and left as it was: it is not judged as well.
func TestWrongList(t *testing.T) {
	t.Setenv("GLUEPOT_HTTP_TRUSTED_PROXIES", `10.0.0.1,"10.0.0.2`)
	cfg, flags := defaultConfig(), pflag.NewFlagSet("", pflag.ContinueOnError)
	addSettings(flags, &cfg, allSettings...)
	const want = `GLUEPOT_HTTP_TRUSTED_PROXIES is "10.0.0.1,\"10.0.0.2": it takes values, separated by commas`
	if got := errorText(fillFromEnvironment(flags)); got != want || len(cfg.HTTP.TrustedProxies) > 0 {
		t.Errorf("got %s and %q, want %s and none", got, cfg.HTTP.TrustedProxies, want)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestVariablesOfKubernetes has what it injects for the services gluepot and gluepot-http, and for others.
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
	for _, known := range knownVariables() {
		if kubernetes.MatchString(known + "=x") {
			t.Errorf("%s: got a setting taken for Kubernetes' own, want it read", known)
		}
	}
}

// TestRereading has one of the two URLs in a file, which changes.
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
	if err := fillFromEnvironment(flags); err != nil {
		t.Fatal(err)
	}
	reread := rereading(flags.Lookup("database-url"))
	write("postgres://u:two@h/d\n")
	url, err := reread()
	if err != nil || string(url) != "postgres://u:two@h/d" {
		t.Errorf("got %s and error %v, want the URL that is in the file now", string(url), err)
	}
	write("")
	if _, err := reread(); err == nil {
		t.Error("got no error of an empty file, want one")
	}
	t.Setenv("GLUEPOT_DATABASE_URL_FILE", "")
	cfg, flags = defaultConfig(), pflag.NewFlagSet("", pflag.ContinueOnError)
	addSettings(flags, &cfg, databaseFlags)
	if err := fillFromEnvironment(flags); err != nil {
		t.Fatal(err)
	}
	if rereading(flags.Lookup("database-url")) != nil {
		t.Error("got a function although no URL is in a file, want nil")
	}
}
