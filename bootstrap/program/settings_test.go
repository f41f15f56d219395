package program

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestEverySettingIsDescribed holds the table of docs/CONFIGURATION.md against the declarations.
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
		name, given := strings.Trim(cells[1], " `"), strings.Trim(cells[2], " `")
		found := false
		flags.VisitAll(func(flag *pflag.Flag) {
			if environmentName(flag.Name) != name {
				return
			}
			found = true
			if value := strings.Trim(flag.DefValue, "[]"); value != given {
				t.Errorf("%s: got the default %q in docs/CONFIGURATION.md, want %q", name, given, value)
			}
		})
		if !found {
			t.Errorf("%s: got a row in docs/CONFIGURATION.md, want none for what is no setting", name)
		}
	}
	declared := 0
	flags.VisitAll(func(*pflag.Flag) { declared++ })
	if rows != declared {
		t.Errorf("got %d settings in docs/CONFIGURATION.md, want %d", rows, declared)
	}
}

func TestFillFromEnvironment(t *testing.T) {
	cfg, flags := defaultConfig(), pflag.NewFlagSet("", pflag.ContinueOnError)
	addSettings(flags, &cfg, allSettings...)
	flags.Bool("demo", false, "")
	t.Setenv("GLUEPOT_HTTP_ADDR", "127.0.0.1:1")
	t.Setenv("GLUEPOT_LOG_LEVEL", "debug")
	t.Setenv("GLUEPOT_DEMO", "true")
	t.Setenv("GLUEPOT_PASTE_MAX_LIFETIME", "1month")
	t.Setenv("GLUEPOT_DATABASE_URL", "")
	if err := flags.Parse([]string{"--http-addr", "127.0.0.1:2"}); err != nil {
		t.Fatal(err)
	}
	if err := fillFromEnvironment(flags); err != nil {
		t.Fatal(err)
	}
	if cfg.Server.Addr != "127.0.0.1:2" || cfg.LogLevel != "debug" || cfg.Database.URL != defaultConfig().Database.URL {
		t.Errorf("got %+v, want the address of the flag, the level of the environment and the default URL", cfg)
	}
	if cfg.Pastes.Lifetimes.Longest != "1m" {
		t.Errorf("got the lifetime %q, want a month as the API has it", cfg.Pastes.Lifetimes.Longest)
	}
	if demo, _ := flags.GetBool("demo"); demo {
		t.Error("got a flag that is no setting from the environment, want it left alone")
	}
	t.Setenv("GLUEPOT_HTTP_IDLE_TIMEOUT", "long")
	t.Setenv("GLUEPOT_DATABASE_MIGRATE", "perhaps")
	err := fillFromEnvironment(flags)
	for _, part := range []string{
		`GLUEPOT_HTTP_IDLE_TIMEOUT is "long": it takes a time such as`,
		`GLUEPOT_DATABASE_MIGRATE is "perhaps": it takes true or false`,
	} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("got %v, want %q in it", err, part)
		}
	}
}

// TestWebAddresses are no database URLs in the wrong place; those with a password may be.
func TestWebAddresses(t *testing.T) {
	t.Parallel()
	for value, wrong := range map[string]bool{
		"https://paste.example/terms": false, "https://mia:hunter2@paste.example": true, "postgres://mia:hunter2@db/x": true,
	} {
		cfg, flags := defaultConfig(), pflag.NewFlagSet("", pflag.ContinueOnError)
		addSettings(flags, &cfg, allSettings...)
		for _, name := range []string{"terms-url", "contact", "public-url"} {
			if err := flags.Set(name, value); err != nil {
				t.Fatal(err)
			}
		}
		err := misplacedPasswords(flags)
		if err != nil && strings.Contains(err.Error(), "`") {
			t.Errorf("got %v, want no marks of pflag in it", err)
		}
		if (err != nil) != wrong {
			t.Errorf("%s: got %v, want it refused: %v", value, err, wrong)
		}
	}
}
