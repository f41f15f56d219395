package program

import (
	"cmp"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

// TestEverySettingIsDescribed compares the table of docs/CONFIGURATION.md with the declarations.
func TestEverySettingIsDescribed(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/CONFIGURATION.md")
	if err != nil {
		t.Fatal(err)
	}
	cfg, flags := defaultConfig(), pflag.NewFlagSet("", pflag.ContinueOnError)
	addSettings(flags, &cfg, allSettings...)
	rows := 0
	for line := range strings.SplitSeq(string(page), "\n") {
		if !strings.HasPrefix(line, "| `"+environmentPrefix) {
			continue
		}
		rows++
		cells := strings.Split(line, "|")
		name, documented := strings.Trim(cells[1], " `"), strings.Trim(cells[2], " `")
		ok := false
		flags.VisitAll(func(flag *pflag.Flag) {
			if environmentName(flag.Name) != name {
				return
			}
			ok = true
			if value := flag.DefValue; value != documented {
				t.Errorf("%s: got the default %q in docs/CONFIGURATION.md, want %q", name, documented, value)
			}
		})
		if !ok {
			t.Errorf("%s: got a row in docs/CONFIGURATION.md, want rows only for settings", name)
		}
	}
	total := 0
	flags.VisitAll(func(*pflag.Flag) { total++ })
	if rows != total {
		t.Errorf("got %d settings in docs/CONFIGURATION.md, want %d", rows, total)
	}
}

// parseSettings returns the settings of a command line and the environment, and one error for all mistakes.
func parseSettings(t *testing.T, args ...string) (config, error) {
	t.Helper()
	cfg, flags := defaultConfig(), pflag.NewFlagSet("", pflag.ContinueOnError)
	addSettings(flags, &cfg, allSettings...)
	flags.Bool("demo", false, "")
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	err := complete(flags, &cfg)
	if demo, _ := flags.GetBool("demo"); demo {
		t.Error("got a flag set by the environment that is not a setting, want it unset")
	}
	return cfg, err
}

func TestFillFromEnvironment(t *testing.T) {
	t.Setenv("GLUEPOT_HTTP_ADDR", "127.0.0.1:1")
	t.Setenv("GLUEPOT_LOG_LEVEL", "debug")
	t.Setenv("GLUEPOT_PASTE_MAX_LIFETIME", "1month")
	t.Setenv("GLUEPOT_DATABASE_URL", "")
	t.Setenv("GLUEPOT_HTTP_TRUSTED_PROXIES", "10.0.0.0/8,::1")
	cfg, err := parseSettings(t, "--http-addr", "127.0.0.1:2", "--pages=false", "--recent")
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Server.Addr != "127.0.0.1:2" || cfg.LogLevel != "debug" || cfg.Database.URL != defaultConfig().Database.URL {
		t.Errorf("got %+v, want the address of the flag, the level of the environment and the default URL", cfg)
	}
	if cfg.Pastes.Lifetimes.Longest != "1m" {
		t.Errorf("got the lifetime %q, want 1m as in the API", cfg.Pastes.Lifetimes.Longest)
	}
	if cfg.Pages || !cfg.Site.Recent || !slices.Equal(cfg.HTTP.TrustedProxies, []string{"10.0.0.0/8", "::1"}) {
		t.Errorf("got %v, %v and %q, want the values of the flags and the variable", cfg.Pages, cfg.Site.Recent,
			cfg.HTTP.TrustedProxies)
	}
}

// TestWrongValuesNameTheirSetting gives each setting that can be wrong a wrong value, by its variable and by its flag.
func TestWrongValuesNameTheirSetting(t *testing.T) {
	values := map[string]string{ // wrong for the setting
		"database-url": "mysql://hunter2", "database-read-url": "sqlite://a", "database-dataloader": "perhaps",
		"database-max-connections": "0", "database-connect-timeout": "0s", "database-connection-max-lifetime": "-1s",
		"database-slow-statement": "-1s", "search": "perhaps", "database-migrate": "perhaps", "paste-max-pasties": "0",
		"paste-max-edits": "-1", "notify-url": "nowhere", "notify-secret": "hunter2",
		"public-url": "paste.example", "registration": "sometimes", "passwords": "perhaps", "passkeys": "perhaps",
		"github-client-id":     "1",
		"github-client-secret": "hunter2", "github-url": "x", "gitlab-client-id": "1", "gitlab-client-secret": "hunter2",
		"gitlab-url":     "x",
		"oidc-client-id": "1", "oidc-client-secret": "hunter2", "oidc-issuer": "x", "oidc-required-claim": "groups",
		"http-addr": "nowhere", "http-tls-cert-file": "a.pem", "http-tls-key-file": "a.pem", "log-level": "loud",
		"log-format":     "xml",
		"sweep-interval": "-1s", "removed-retention": "-1s", "origin-retention": "-1s", "token-use-interval": "0s",
		"paste-anonymous": "perhaps", "paste-default-lifetime": "3d", "paste-max-lifetime": "3d",
		"anonymous-default-lifetime": "3d",
		"anonymous-max-lifetime":     "3d", "recent": "perhaps", "reports": "perhaps", "pages": "perhaps", "mcp": "perhaps",
		"read-only":  "perhaps",
		"admin-addr": "nowhere", "paste-max-body": "0", "contact": "javascript:x", "terms-url": "terms",
		"http-base-path":       "api/",
		"http-request-timeout": "0s", "http-read-timeout": "0s", "http-write-timeout": "0s", "http-idle-timeout": "0s",
		"http-max-connections": "-1", "http-max-client-connections": "-1", "http-max-memory": "1", "http-drain-delay": "-1s",
		"http-drain-timeout": "0s", "limit-rate": "-1", "limit-burst": "1", "limit-failed-sign-ins": "-1",
		"limit-anonymous-pastes": "-1",
		"user-max-pastes":        "-1", "user-max-bytes": "-1", "user-pastes-per-hour": "-1", "store-max-bytes": "-1",
		"http-trusted-proxies": "nowhere",
	}
	anyText := []string{"oidc-name", "oidc-scopes", "site-name"}
	cfg, flags := defaultConfig(), pflag.NewFlagSet("", pflag.ContinueOnError)
	addSettings(flags, &cfg, allSettings...)
	for _, s := range settingsOf(flags) {
		name, value := s.flag.Name, values[s.flag.Name]
		if value == "" {
			if !slices.Contains(anyText, name) {
				t.Errorf("got no wrong value of %s in this test, want one", name)
			}
			continue
		}
		t.Run(name, func(t *testing.T) {
			_, err := parseSettings(t, "--"+name+"="+value)
			if got := errorText(err); !strings.Contains(got, "--"+name) || strings.Contains(got, s.variable()+" ") ||
				strings.Contains(got, "hunter2") {
				t.Errorf("the flag: got %q, want the flag named, and no secret", got)
			}
			t.Setenv(s.variable(), value)
			_, err = parseSettings(t)
			if got := errorText(err); !strings.Contains(got, s.variable()) || strings.Contains(got, "hunter2") {
				t.Errorf("the variable: got %q, want it named, and no secret", got)
			}
		})
	}
}

// TestSpoiledValues gives every setting a value with what files add to it by mistake, such as line ends of Windows or
// quotation marks.
func TestSpoiledValues(t *testing.T) {
	cfg, flags := defaultConfig(), pflag.NewFlagSet("", pflag.ContinueOnError)
	addSettings(flags, &cfg, allSettings...)
	for what, c := range map[string]struct{ before, after, want string }{
		"carriage return": {"", "\r", "ends with a carriage return"},
		"control":         {"a\a", "", "contains a control character"},
		"line end":        {"", "\n", "contains a control character"},
		"space":           {" ", "", "begins or ends with a space"},
		"double quotes":   {`"`, `"`, "has quotation marks around"},
		"single quotes":   {"'", "'", "has quotation marks around"},
	} {
		t.Run(what, func(t *testing.T) {
			for _, s := range settingsOf(flags) {
				value := c.before + cmp.Or(s.flag.DefValue, "hunter2") + c.after
				if _, err := parseSettings(t, "--"+s.flag.Name+"="+value); !strings.HasPrefix(errorText(err),
					"--"+s.flag.Name+" "+c.want) {
					t.Errorf("--%s=%q: got %v, want %q", s.flag.Name, value, err, c.want)
				}
				t.Run(s.flag.Name, func(t *testing.T) {
					t.Setenv(s.variable(), value)
					if _, err := parseSettings(t); !strings.HasPrefix(errorText(err), s.variable()+" "+c.want) {
						t.Errorf("%s=%q: got %v, want %q", s.variable(), value, err, c.want)
					}
				})
			}
		})
	}
}

// TestDurations checks that settings accept the durations that commands accept and that Go prints.
func TestDurations(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		duration time.Duration
		prints   string
	}{
		"30d": {720 * time.Hour, "30d"}, "1w2d": {9 * 24 * time.Hour, "9d"}, "720h0m0s": {720 * time.Hour, "30d"}, "0": {0,
			"0s"},
		"1m30s": {90 * time.Second, "1m30s"}, "1.5h": {90 * time.Minute, "1h30m"}, "500ms": {500 * time.Millisecond, "500ms"},
		"1us": {time.Microsecond, "1µs"}, "-1s": {-time.Second, "-1s"},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			var d duration
			if err := d.Set(text); err != nil || time.Duration(d) != want.duration || d.String() != want.prints {
				t.Errorf("got %v, %s, error %v, want %v, %s", time.Duration(d), &d, err, want.duration, want.prints)
			}
		})
	}
	for _, wrong := range []string{"3", "3 d", "d", "soon", "1m1w"} {
		if err := new(duration).Set(wrong); err == nil {
			t.Errorf("%q: got no error, want one", wrong)
		}
	}
}

// TestWebAddresses checks that addresses with a password are refused. They may be database URLs in the wrong place.
func TestWebAddresses(t *testing.T) {
	t.Parallel()
	for value, wrong := range map[string]bool{
		"https://paste.example": false, "https://mia:hunter2@paste.example": true, "postgres://mia:hunter2@db/x": true,
	} {
		_, err := parseSettings(t, "--terms-url="+value, "--contact="+value, "--public-url="+value)
		if err != nil && strings.ContainsAny(err.Error(), "`") || strings.Contains(errorText(err), "hunter2") {
			t.Errorf("got %v, want neither backquotes nor the password in it", err)
		}
		if (err != nil) != wrong {
			t.Errorf("%s: got %v, want it refused: %v", value, err, wrong)
		}
	}
}

// TestAllMistakesAtOnce checks that one error lists values that cannot be parsed, and others that break a rule.
func TestAllMistakesAtOnce(t *testing.T) {
	t.Setenv("GLUEPOT_DATABASE_MAX_CONNECTIONS", "many")
	t.Setenv("GLUEPOT_HTTP_TRUSTED_PROXIES", `10.0.0.1,"10.0.0.2`)
	t.Setenv("GLUEPOT_LOG_LEVEL", "loud")
	t.Setenv("GLUEPOT_HTTP_ADR", "x")
	t.Setenv("GLUEPOT_GITHUB_CLIENT_ID", "1\r")
	_, err := parseSettings(t, "--sweep-interval=soon", "--http-addr=nowhere")
	want := []string{
		`"GLUEPOT_HTTP_ADR" is not a setting. Did you mean GLUEPOT_HTTP_ADDR?`,
		`GLUEPOT_DATABASE_MAX_CONNECTIONS is "many": give a whole number`,
		"GLUEPOT_GITHUB_CLIENT_ID ends with a carriage return: the file that sets it has Windows line endings (CRLF). " +
			"Convert it to LF",
		`GLUEPOT_HTTP_TRUSTED_PROXIES is "10.0.0.1,\"10.0.0.2": give values, separated by commas`,
		`--sweep-interval is "soon": give a time such as 500ms, 10s, 2m or 30d`,
		`--http-addr is "nowhere": give HOST:PORT or unix:PATH`,
		`GLUEPOT_LOG_LEVEL is "loud": choose debug, info, warn or error`,
	}
	if got := strings.Split(errorText(err), "\n"); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
