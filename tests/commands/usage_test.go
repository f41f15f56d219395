package commands

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestUsageErrors checks that wrong usage exits with 2 before anything is opened, and prints one line that says what to
// do.
func TestUsageErrors(t *testing.T) {
	t.Parallel()
	const (
		lifetimes = "give a time such as 30m, 12h, 90d or 1w2d, the largest unit first."
		notOwned  = "only a paste with an --owner can be private, public or tagged"
		oneOf     = "choose one of %s. See 'gluepot paste %s --help'"
		noChange  = "give at least one of --title, --pasty, --add, --remove, --language, --tags, " +
			"--private, --public and --unlisted. " +
			"See 'gluepot paste edit --help'"
		language = "--language is "
	)
	for line, want := range map[string]string{
		"nonsense":         `gluepot does not know "nonsense". See 'gluepot --help'`,
		"migrate down":     `gluepot migrate does not know "down". See 'gluepot migrate --help'`,
		"serve nonsense":   `gluepot serve does not know "nonsense". See 'gluepot serve --help'`,
		"serve --nonsense": "unknown flag: --nonsense. See 'gluepot serve --help'",
		"stats nonsense":   `gluepot stats does not know "nonsense". See 'gluepot stats --help'`,
		"token issue a b":  `gluepot token issue does not know "b". See 'gluepot token issue --help'`,
		"srve":             `gluepot does not know "srve". Did you mean serve? See 'gluepot --help'`,
		"Statz --json":     `gluepot does not know "Statz". Did you mean star or stats? See 'gluepot --help'`,
		"halth --live":     `gluepot does not know "halth". Did you mean health? See 'gluepot --help'`,
		"user lits": `gluepot user does not know "lits". ` +
			`Did you mean link or list? See 'gluepot user --help'`,
		"migrate pu":      `gluepot migrate does not know "pu". See 'gluepot migrate --help'`,
		"migrate ls":      `gluepot migrate does not know "ls". See 'gluepot migrate --help'`,
		"user create":     "gluepot user create needs NAME. See 'gluepot user create --help'",
		"user link epoxy": "gluepot user link needs IDENTITY. See 'gluepot user link --help'",

		"serve --htp-addr :80": "unknown flag: --htp-addr. Did you mean --http-addr? See 'gluepot serve --help'",
		"push --tokn x":        "unknown flag: --tokn. See 'gluepot push --help'",
		"user list --jsn":      "unknown flag: --jsn. Did you mean --json? See 'gluepot user list --help'",

		"stats --database-max-connections many": `--database-max-connections is "many": give a whole number`,
		"stats --database-migrate=maybe":        `--database-migrate is "maybe": give true or false`,
		"serve --limit-anonymous-pastes -1": "--limit-anonymous-pastes is -1: choose a number up to a million, " +
			"or 0 for no limit",
		"serve --sweep-interval soon": `--sweep-interval is "soon": give a time such as 500ms, 10s, 2m or 30d`,
		"serve --sweep-interval soon --http-addr x --removed-retention 3d": `--sweep-interval is "soon": ` +
			`give a time such as ` +
			"500ms, 10s, 2m or 30d\ngluepot: " + `--http-addr is "x": give HOST:PORT or unix:PATH`,
		"config --http-addr x": `--http-addr is "x": give HOST:PORT or unix:PATH`,
		"user create epoxy --supporter-months many": `--supporter-months is "many": give a whole number. ` +
			`See 'gluepot user create --help'`,
		"audit list --limit -1":  `--limit is "-1": give 0 or a positive number. See 'gluepot audit list --help'`,
		"report list --limit -1": `--limit is "-1": give 0 or a positive number. See 'gluepot report list --help'`,
		"user create epoxy --service github": `--service is "github": give NAME=VALUE. ` +
			`See 'gluepot user create --help'`,

		"token issue epoxy --expires-in soon": `--expires-in is "soon": ` + lifetimes +
			` See 'gluepot token issue --help'`,
		"token issue epoxy --expires-in 0d": `--expires-in is "0d": ` + lifetimes +
			` See 'gluepot token issue --help'`,
		"token issue epoxy --expires-in 1.5d": `--expires-in is "1.5d": ` + lifetimes +
			` See 'gluepot token issue --help'`,
		"token issue epoxy --expires-in 65536w": `--expires-in is "65536w": ` + lifetimes +
			` See 'gluepot token issue --help'`,
		"token issue epoxy --expires-in 32768w": `--expires-in is "32768w": ` + lifetimes +
			" See 'gluepot token issue --help'",
		"paste create --expires-in 3d": `--expires-in is "3d": give never, 1h, 2h, 10h, 1d, 2d, 1w, 1month or 1y. ` +
			"See 'gluepot paste create --help'",
		"push --expires-in 3d": `--expires-in is "3d": give never, 1h, 2h, 10h, 1d, 2d, 1w, 1month or 1y. ` +
			"See 'gluepot push --help'",
		"serve --paste-max-lifetime 3d": `--paste-max-lifetime is "3d": ` +
			`give never, 1h, 2h, 10h, 1d, 2d, 1w, 1month or 1y`,
		"paste create --expires-in=": "--expires-in is empty. Give it a value, or leave it out",

		"paste create --owner=":                     "--owner is empty. Give it a value, or leave it out",
		"paste create --private":                    notOwned,
		"paste create --public":                     notOwned,
		"paste create --tags a":                     notOwned,
		"paste create --owner a --private --public": fmt.Sprintf(oneOf, "--private and --public", "create"),
		"paste create /no/such/file":                `cannot read "/no/such/file": no such file or directory`,
		"paste create - -":                          "only one of the files can be standard input",

		"paste show":                "gluepot paste show needs ID. See 'gluepot paste show --help'",
		"paste show a b c --raw":    `gluepot paste show does not know "c". See 'gluepot paste show --help'`,
		"paste show a b":            "name a pasty only with --raw. See 'gluepot paste show --help'",
		"paste show a --raw --json": fmt.Sprintf(oneOf, "--raw and --json", "show"),

		"paste edit":                        "gluepot paste edit needs ID. See 'gluepot paste edit --help'",
		"paste edit a":                      noChange,
		"paste edit a --json":               noChange,
		"paste edit a --private --unlisted": fmt.Sprintf(oneOf, "--private, --public and --unlisted", "edit"),
		"paste edit a --public=false": "--public=false does not say what the paste becomes: " +
			"choose --private, --public or --unlisted",
		"paste edit a --pasty b":           `--pasty is "b": give ID=FILE. See 'gluepot paste edit --help'`,
		"paste edit a --language b":        `--language is "b": give ID=NAME. See 'gluepot paste edit --help'`,
		"paste edit a --pasty b=":          "a file has no name",
		"paste edit a --add /no/such/file": `cannot read "/no/such/file": no such file or directory`,
		"paste edit a --add - --pasty b=-": "only one of the files can be standard input",

		"import pastemyst": "give at least one of --users, --api-keys and --pastes. See 'gluepot import pastemyst --help'",

		"import pastemyst --users= --pastes -":   "a file has no name",
		"import pastemyst --users - --pastes -":  "only one of the files can be standard input",
		"import pastemyst --users /no/such/file": `cannot read "/no/such/file": no such file or directory`,
		"import pastemyst --nonsense":            "unknown flag: --nonsense. See 'gluepot import pastemyst --help'",
	} {
		path := filepath.Join(t.TempDir(), "new", "gluepot.db")
		i := installation{t, "sqlite://" + path}
		wantRefusal(t, line, i.run(line), exitUsage, want)
		if _, err := os.Stat(filepath.Dir(path)); !os.IsNotExist(err) {
			t.Errorf("%s: got %v, want no database to be created", line, err)
		}
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	for line, part := range map[string]string{
		"": "Pastes on a server:", "help": "The server and its database:", "help serve": "--http-addr",
		"serve --help": "--http-addr",
		"user":         "Available Commands", "user create --help": "gluepot user create epoxy --public",
	} {
		if got := run(t, strings.Fields(line)...); got.code != exitOK || !strings.Contains(got.stdout, part) ||
			got.stderr != "" {
			t.Errorf("%q: got %+v, want exit code 0 and %q on standard output alone", line, got, part)
		}
	}
}

// TestHelpOfSettings checks that the help of a command lists the settings that matter to it, and no others.
func TestHelpOfSettings(t *testing.T) {
	t.Parallel()
	const url, migrate, tuning = "--database-url", "--database-migrate", "--database-max-connections"
	for line, want := range map[string][]string{
		"version": nil, "health": nil, "copy": nil, "user": nil, "completion bash": nil, "push": nil, "list": nil,
		"user create": {url}, "stats": {url}, "backup": {url}, "migrate status": {url},
		"migrate up": {url, migrate}, "import pastemyst": {url, migrate},
		"serve": {url, migrate, tuning}, "config": {url, migrate, tuning},
	} {
		help := run(t, append(strings.Fields(line), "--help")...).stdout
		for _, flag := range []string{url, migrate, tuning} {
			if got := strings.Contains(help, "  "+flag); got != slices.Contains(want, flag) {
				t.Errorf("%s --help: got %s shown %v, want %v", line, flag, got, !got)
			}
		}
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	got := run(t, "version")
	if got.code != exitOK || !strings.HasPrefix(got.stdout, "gluepot ") || got.stderr != "" {
		t.Errorf("got %+v, want exit code 0 and \"gluepot \" at the beginning of standard output", got)
	}
	if flag := run(t, "--version"); flag != got {
		t.Errorf("got %+v for the flag, want %+v, as for the command", flag, got)
	}
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if got := run(t, "completion", shell); got.code != exitOK || !strings.Contains(got.stdout, "gluepot") ||
			got.stderr != "" {
			t.Errorf("%s: got exit code %d, standard output %.100q, standard error %q, want a script for gluepot", shell,
				got.code, got.stdout, got.stderr)
		}
	}
}
