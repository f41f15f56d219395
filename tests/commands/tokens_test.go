package commands

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// TestTokenIssue checks that the secret is alone on the last line, for scripts.
func TestTokenIssue(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.do("user create epoxy")
	for line, want := range map[string]string{
		"token issue epoxy": "Issued the token RANDOMID; it expires: never. It is not shown again:\nSECRET\n",
		"token issue epoxy --name laptop --expires-in 90d": "Issued the token RANDOMID; it expires: YYYY-MM-DD HH:MM:SS. " +
			"It is not shown again:\nSECRET\n",
		"token issue epoxy --json": `{"id":"RANDOMID","name":"","scope":"write","createdAt":"TIME","lastUsedAt":null,` +
			`"expiresAt":null,"revokedAt":null,` +
			`"token":"SECRET"}` + "\n",
		"token issue epoxy --name laptop --expires-in 12h --json": `{"id":"RANDOMID","name":"laptop",` +
			`"scope":"write","createdAt":"TIME",` +
			`"lastUsedAt":null,"expiresAt":"TIME","revokedAt":null,"token":"SECRET"}` + "\n",
	} {
		wantLike(t, line, i.do(line), want)
	}
}

// TestTokenLifetimes checks Go's durations, and days and weeks.
func TestTokenLifetimes(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.do("user create epoxy")
	for line, want := range map[string]time.Duration{
		"token issue epoxy --json --expires-in 90s":   90 * time.Second,
		"token issue epoxy --json --expires-in 1h30m": 90 * time.Minute,
		"token issue epoxy --json --expires-in 90d":   90 * 24 * time.Hour,
		"token issue epoxy --json --expires-in 2w":    14 * 24 * time.Hour,
	} {
		var made struct{ CreatedAt, ExpiresAt time.Time }
		if err := json.Unmarshal([]byte(i.do(line)), &made); err != nil {
			t.Fatal(err)
		}
		if got := made.ExpiresAt.Sub(made.CreatedAt); got != want {
			t.Errorf("%s: got a lifetime of %v, want %v", line, got, want)
		}
	}
}

// TestTokenList checks that the secret is never shown again.
func TestTokenList(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.do("user create epoxy")
	secret := i.field("token issue epoxy --name laptop --json", "token")
	text, lines := i.do("token list epoxy"), i.do("token list epoxy --json")
	wantLike(t, "token list", text, "ID        NAME    SCOPE  CREATED              LAST USED  EXPIRES  REVOKED\n"+
		"RANDOMID  laptop  write  YYYY-MM-DD HH:MM:SS  never      never    never\n")
	wantLike(t, "token list --json", lines,
		`{"id":"RANDOMID","name":"laptop","scope":"write","createdAt":"TIME",`+
			`"lastUsedAt":null,"expiresAt":null,"revokedAt":null}`+"\n")
	if strings.Contains(text+lines, secret) {
		t.Errorf("got %s%s, want the secret %s not to be in it", text, lines, secret)
	}
}

func TestTokenListOfNone(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.do("user create epoxy")
	for line, want := range map[string]string{
		"token list epoxy":        "ID  NAME  SCOPE  CREATED  LAST USED  EXPIRES  REVOKED\n",
		"token list epoxy --json": "",
	} {
		if got := i.do(line); got != want {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
}

func TestTokenRevoke(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.do("user create epoxy")
	id := i.field("token issue epoxy --json", "id")
	if got, want := i.do("token revoke "+id), "Revoked the token "+id+".\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := i.do("token revoke "+id+" --json"), `{"revoked":"`+id+`"}`+"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	wantLike(t, "token list --json", i.do("token list epoxy --json"),
		`{"id":"RANDOMID","name":"","scope":"write","createdAt":"TIME",`+
			`"lastUsedAt":null,"expiresAt":null,"revokedAt":"TIME"}`+"\n")
	i.wantRefused("token revoke unknown", "There is no token with that id.")
}
