package commands

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestInvitations(t *testing.T) {
	i := install(t)
	const hint = "Set GLUEPOT_PUBLIC_URL to get the full link.\n"
	if got := i.run("invite create"); got.code != exitOK || got.stderr != hint {
		t.Errorf("got %+v, want the hint on standard error", got)
	}
	i.do("invite revoke " + i.field("invite list --json", "id"))
	t.Setenv("GLUEPOT_PUBLIC_URL", "https://paste.example")
	if got, want := i.do("invite list"), "ID  USES LEFT  CREATED  EXPIRES  NOTE\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	output := i.do("invite create --uses 3 --expires-in 7d --note team")
	text, code, _ := strings.Cut(output, "https://paste.example/invite/")
	wantLike(t, "invite create", text,
		"Created the invitation RANDOMID; it expires: YYYY-MM-DD HH:MM:SS. Its link is not shown again:\n")
	code = strings.TrimSpace(code)
	if len(code) != 26 {
		t.Errorf("got the code %q, want one of 130 bits", code)
	}
	list, lines := i.do("invite list"), i.do("invite list --json")
	wantLike(t, "invite list", list, "ID        USES LEFT  CREATED              EXPIRES              NOTE\n"+
		"RANDOMID  3          YYYY-MM-DD HH:MM:SS  YYYY-MM-DD HH:MM:SS  team\n")
	wantLike(t, "invite list --json", lines,
		`{"id":"RANDOMID","uses":3,"createdAt":"TIME","expiresAt":"TIME","note":"team"}`+"\n")
	if strings.Contains(list+lines, code) {
		t.Errorf("got %s%s, want the code shown once", list, lines)
	}
	id := i.field("invite create --json", "id")
	for _, reference := range []string{code, id} {
		if got := i.do("invite revoke " + reference); !strings.HasPrefix(got, "Revoked the invitation ") ||
			strings.Contains(got, code) {
			t.Errorf("got %q, want the id of what was revoked", got)
		}
		i.wantRefused("invite revoke "+reference, "There is no such invitation.")
	}
	for _, kind := range []string{"id", "code"} {
		var output struct{ ID, Code string }
		if err := json.Unmarshal([]byte(i.do("invite create --json")), &output); err != nil {
			t.Fatal(err)
		}
		reference := map[string]string{"id": output.ID, "code": output.Code}[kind]
		if got, want := i.do("invite revoke --json "+reference), `{"revoked":"`+output.ID+`"}`+"\n"; got != want {
			t.Errorf("by its %s: got %q, want %q", kind, got, want)
		}
	}
	if got := i.do("invite list --json"); got != "" {
		t.Errorf("got %s, want none left", got)
	}
}

// TestIdentities links an account at a provider whose secret is in a file.
func TestIdentities(t *testing.T) {
	i := install(t)
	i.do("user create epoxy --service gitlab=2")
	i.wantRefused("user link epoxy github:77", "This server has no such provider to sign in with.")
	t.Setenv("GLUEPOT_PUBLIC_URL", "https://paste.example")
	t.Setenv("GLUEPOT_GITHUB_CLIENT_ID", "an id")
	wantRefusalWith(t, "without a secret", i.run("user link epoxy github:77"), exitUsage, "GLUEPOT_GITHUB_CLIENT_SECRET")
	t.Setenv("GLUEPOT_GITHUB_CLIENT_SECRET_FILE", fileWith(t, "hunter2\n"))
	if got, want := i.do("user link epoxy github:77"), "Linked github:77.\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := i.do("user identities epoxy"), "PROVIDER  SUBJECT\ngithub    77\ngitlab    2\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := i.do("user identities epoxy --json"),
		`{"provider":"github","subject":"77"}`+"\n"+`{"provider":"gitlab","subject":"2"}`+"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := i.do("user unlink epoxy github"), "Unlinked github.\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	i.wantRefused("user unlink epoxy github", "The user has no such identity.")
	if got, want := i.do("user unlink epoxy gitlab --json"), `{"unlinked":"gitlab"}`+"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	i.wantRefused("user unlink nobody github", "There is no such user.")

	t.Setenv("GLUEPOT_GITHUB_CLIENT_SECRET", "hunter2")
	const both = "gluepot: GLUEPOT_GITHUB_CLIENT_SECRET and GLUEPOT_GITHUB_CLIENT_SECRET_FILE are both set: choose one\n"
	if got := i.run("user identities epoxy").stderr; got != both {
		t.Errorf("got %s, want %s and nothing else", got, both)
	}
}

// TestPasswordCommands creates a user with a password from standard input, and prints a link to choose another one.
func TestPasswordCommands(t *testing.T) {
	i := install(t)
	const password = "tulip river stone"
	for stdin, refusal := range map[string]string{
		"":              "The password has 0 characters. Choose one with 12 to 256.",
		"\n" + password: "The password has 0 characters. Choose one with 12 to 256.",
		"password1234\n": "The password is too easy to guess. Use several unrelated words, or more random " +
			"characters.",
		"this is the one of mia alone":   "The password contains the username. Choose another password.",
		strings.Repeat("x", 1<<20):       "The password is much longer than 256 characters. Choose a shorter one.",
		"tulip river stone\xff and more": "The password must be valid UTF-8.",
	} {
		got := i.runReading(stdin, "user create mia --admin --password-stdin")
		wantRefusal(t, "user create", got, exitFailed, refusal)
	}
	if got := i.do("user list --json"); got != "" {
		t.Errorf("got %s, want no user without a password", got)
	}
	got := i.runReading(password+"\r\n", "user create mia --admin --password-stdin")
	if got.code != exitOK || got.stderr != "" || strings.Contains(got.stdout, password) {
		t.Fatalf("got %+v, want a user", got)
	}
	const hint = "Set GLUEPOT_PUBLIC_URL to get the full link.\n"
	if got := i.run("user reset mia"); got.code != exitOK || got.stderr != hint {
		t.Errorf("got %+v, want the hint on standard error", got)
	}
	t.Setenv("GLUEPOT_PUBLIC_URL", "https://paste.example")
	text, code, _ := strings.Cut(i.do("user reset mia"), "https://paste.example/reset/")
	wantLike(t, "user reset", text,
		"With this link, mia can choose a new password or passkey, once, until YYYY-MM-DD HH:MM:SS. It is not shown again:\n")
	if code = strings.TrimSpace(code); len(code) != 26 {
		t.Errorf("got the code %q, want one of 130 bits", code)
	}
	wantLike(t, "user reset --json", i.do("user reset --json mia"),
		`{"id":"RANDOMID","expiresAt":"TIME","code":"ONETIMECODE","link":"https://paste.example/reset/ONETIMECODE"}`+"\n")
	i.wantRefused("user reset nobody", "There is no such user.")
	if got := i.do("audit list"); strings.Count(got, "user.reset") != 3 || strings.Contains(got, code) {
		t.Errorf("got %s, want three acts, and no code", got)
	}
	t.Setenv("GLUEPOT_PASSWORDS", "false")
	const off = "Passwords are off on this server. The operator can turn them on with GLUEPOT_PASSWORDS=true."
	wantRefusal(t, "user create", i.runReading(password, "user create ann --password-stdin"), exitFailed, off)
	t.Setenv("GLUEPOT_PASSKEYS", "false")
	i.wantRefused("user reset mia", off)
}
