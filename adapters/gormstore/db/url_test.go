package db

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestURL(t *testing.T) {
	t.Parallel()
	const unreadable = "[unreadable database URL]"
	for url, want := range map[URL]string{
		"postgres://u:p@localhost/db":                              "postgres://u@localhost:5432/db",
		"postgres://u:p@a:1,b:2/db":                                "postgres://u@a:1,b:2/db",
		"postgresql://u@[::1]:7/db?sslmode=disable":                "postgres://u@[::1]:7/db",
		"postgres://h/d?user=u&password=x":                         "postgres://u@h:5432/d",
		"postgres:///d?host=/run/postgresql&user=u":                "postgres://u@%2Frun%2Fpostgresql:5432/d",
		"postgres://u%40corp:p@h/a%20b":                            "postgres://u%40corp@h:5432/a%20b",
		"sqlite://data/gluepot.db":                                 "sqlite://data/gluepot.db",
		"sqlite:///var/lib/gluepot.db":                             "sqlite:///var/lib/gluepot.db",
		"sqlite://C:/Users/me@corp/gluepot.db":                     "sqlite://C:/Users/me@corp/gluepot.db",
		"postgresql://localhost/db?sslmode=off":                    unreadable,
		"postgres://localhost:x/db":                                unreadable,
		"postgres://u:p@h/db?sslrootcert=/missing&sslmode=require": unreadable,
		"host=localhost user=u password=p":                         unreadable,
		"mysql://localhost/db":                                     unreadable,
		"sqlite://":                                                unreadable,
		"sqlite://folder/":                                         unreadable,
		"sqlite://nul\x00":                                         unreadable,
		"":                                                         unreadable,
	} {
		cfg := DefaultConfig()
		cfg.URL = string(url)
		if err := cfg.Validate(); (err == nil) != (want != unreadable) {
			t.Errorf("%q: got %v, want it valid: %v", string(url), err, want != unreadable)
		}
		if got := url.String(); got != want {
			t.Errorf("%q: got %s, want %s", string(url), got, want)
		}
	}
}

// plantedPassword is what must never be printed.
const plantedPassword = "hunter2"

// printAll returns all that is printed of a configuration with that URL, without a database.
func printAll(url URL) string {
	cfg := DefaultConfig()
	cfg.URL = string(url)
	_, errNew := New(cfg)
	encoded, errEncode := json.Marshal(cfg)
	return fmt.Sprintln(url, cfg, errNew, string(encoded), errEncode) +
		fmt.Sprintf("%v %+v %#v %s %q %v", url, url, url, url, url, cfg)
}

func TestURLHidesThePassword(t *testing.T) {
	t.Parallel()
	for _, url := range []URL{
		"postgres://u:hunter2@h/d",
		"postgres://u:hunter2@a:1,b:2/d",
		"postgres://u:1@a,u:hunter2@b/d",
		"postgres://u:hunter2@h:port/d",
		"postgres://u:hunter2/d@h/d",
		"postgres://u:1/hunter2@h/d",
		"postgres://u:1,hunter2/d?x=y@h/d",
		"postgres://u:1@hunter2@h/d",
		"postgres://u:1?hunter2@h/d",
		"postgres://u:1?x=hunter2@h/d",
		"postgres://h?password=hunter2@x",
		"postgres://u%3Ahunter2@h/d",
		"postgres://[u:hunter2]/d",
		"postgres://u:hunter2%zz@h/d",
		"postgres://u%zz:hunter2@h/d",
		"postgres://h/d?user=u&password=hunter2",
		"postgres://h/d?user=u&pass%77ord=hunter2",
		"postgres://h/d?user=u&password=s3;hunter2",
		"postgres://h/d?user=u&password=hunter2%zz",
		"postgres://h/d?user=u&password=hunter2&sslmode=off",
		"postgres://h/d?user=u&sslpassword=hunter2",
		"postgres://h/d?user=u&sslpassword=s3;hunter2",
		"postgresql://u:hunter2@h/d?connect_timeout=x",
		"host=h user=u password=hunter2",
		"host=h user=u password='hun hunter2'",
		" postgres://u:hunter2@h/d",
		"POSTGRES://u:hunter2@h/d",
		"postgres:/u:hunter2@h/d",
		"mysql://u:hunter2@h/d",
		"u:hunter2@h/d",
		"sqlite://u:hunter2@h/d",
	} {
		if text := printAll(url); strings.Contains(text, plantedPassword) {
			t.Errorf("%q: got %s, want it without the password", string(url), text)
		}
	}
}

// wantUnprinted checks that no place of a URL prints its password, which has other text around it.
func wantUnprinted(t *testing.T, before, after string) {
	t.Helper()
	password := before + plantedPassword + after
	// A separator of options would end the password.
	option := strings.ReplaceAll(password, "&", "")
	for _, url := range []URL{
		URL("postgres://u:" + password + "@h/d"),
		URL("postgres://u:" + password + "@a:1,b:2/d?sslmode=disable"),
		URL("postgresql://u:" + password + "@h"),
		URL("postgres://h/d?user=u&password=" + option),
		URL("postgres://h?password=" + option),
		URL("postgres://u@h/d?password=" + option + "&sslmode=disable"),
		URL("postgres://u:1@h/d?sslpassword=" + option),
		URL("host=h user=u password=" + password),
		URL("mysql://u:" + password + "@h/d"),
	} {
		cfg := DefaultConfig()
		cfg.URL = string(url)
		if text := fmt.Sprint(url, cfg, cfg.Validate()); strings.Contains(text, plantedPassword) {
			t.Fatalf("%q: got %s, want it without the password", string(url), text)
		}
	}
}

// significant are characters that mean something in a URL or a connection string.
const significant = "@/?#:;%,=&[]' \\\x00é1"

// TestURLWithOddPasswords puts each significant character beside the password, and each two.
func TestURLWithOddPasswords(t *testing.T) {
	t.Parallel()
	wantUnprinted(t, "", "")
	for _, one := range significant {
		wantUnprinted(t, string(one), "")
		wantUnprinted(t, "", string(one))
		for _, other := range significant {
			wantUnprinted(t, string(one), string(other))
			wantUnprinted(t, string(one)+string(other), "")
			wantUnprinted(t, "", string(one)+string(other))
		}
	}
}

// FuzzURL tries anything beside the password.
func FuzzURL(f *testing.F) {
	for _, around := range []string{"", "%zz", "%40", "1@", "1,", "/d?x=", "'&host=", significant} {
		f.Add(around, "")
		f.Add("", around)
		f.Add(around, around)
	}
	f.Fuzz(wantUnprinted)
}
