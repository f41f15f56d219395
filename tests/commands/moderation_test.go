package commands

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/database"
)

func TestUserSuspend(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.do("user create epoxy")
	id := i.field("paste create --owner epoxy --json", "_id")
	for _, step := range []struct{ line, want string }{
		{"user suspend epoxy --reason spam --hide-pastes", "Suspended the user epoxy and hid 1 paste.\n"},
		{"user suspend epoxy --reason spam", "Suspended the user epoxy.\n"},
		{"user unsuspend epoxy", "The user epoxy is no longer suspended, and 1 paste is there again.\n"},
	} {
		if got := i.do(step.line); got != step.want {
			t.Errorf("%s: got %q, want %q", step.line, got, step.want)
		}
		suspended := strings.Contains(step.line, " suspend ")
		if text := i.do("user show epoxy"); strings.Contains(text, "suspended        yes\n") != suspended {
			t.Errorf("%s: got %s, want the user suspended: %t", step.line, text, suspended)
		}
		if listed := i.do("paste list --removed"); strings.Contains(listed,
			"hidden with its user") != (step.line != "user unsuspend epoxy") {
			t.Errorf("%s: got the removed pastes %s, want it among them as hidden while it is", step.line, listed)
		}
		if code := i.run("paste show " + id).code; (code == exitOK) == suspended {
			t.Errorf("%s: got exit code %d for the paste, want it hidden: %t", step.line, code, suspended)
		}
	}
	i.wantRefused("user unsuspend epoxy", "That user is not suspended.")
	i.do("user suspend epoxy --reason spam --hide-pastes")
	i.do("paste create --owner epoxy")
	if got, want := i.do("user suspend epoxy --reason spam --hide-pastes"),
		"Suspended the user epoxy and hid 1 paste.\n"; got != want {
		t.Errorf("got %q, want %q: pastes from the time in between are hidden, too", got, want)
	}
	if got, want := i.do("user unsuspend epoxy"),
		"The user epoxy is no longer suspended, and 2 pastes are there again.\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	i.wantRefused("user unsuspend nobody", "There is no such user.")
	wantRefusal(t, "user suspend", i.run("user suspend epoxy"), exitUsage,
		"give --reason. See 'gluepot user suspend --help'")
	i.wantRefused("user suspend nobody --reason spam", "There is no such user.")
	i.do("user update epoxy --admin")
	if text := i.do("user show epoxy"); !strings.Contains(text, "admin            yes\n") {
		t.Errorf("got %s, want an administrator", text)
	}
	i.do("user delete epoxy --yes --pastes anonymous")
	if listed := i.do("paste list --anonymous"); !strings.Contains(listed, id) {
		t.Errorf("got %s, want the paste without its owner", listed)
	}
}

func TestBlock(t *testing.T) {
	t.Parallel()
	i := install(t)
	for _, step := range []struct{ line, want string }{
		{"block add 192.0.2.7/24 --reason spam", "Blocked 192.0.2.0/24.\n"},
		{"block add 2001:db8::1 --expires-in 7d --reason more", "Blocked 2001:db8::1/128.\n"},
		{"block list", "NETWORK          CREATED              EXPIRES              REASON\n" +
			"2001:db8::1/128  YYYY-MM-DD HH:MM:SS  YYYY-MM-DD HH:MM:SS  more\n" +
			"192.0.2.0/24     YYYY-MM-DD HH:MM:SS  never                spam\n"},
		{"block remove 2001:DB8::1", "2001:db8::1/128 is no longer blocked.\n"},
		{"block list --json", `{"network":"192.0.2.0/24","createdAt":"TIME","expiresAt":null,"reason":"spam"}` + "\n"},
	} {
		wantLike(t, step.line, i.do(step.line), step.want)
	}
	i.wantRefused("block remove 192.0.2.1",
		"That network is not blocked. Name exactly the network that was blocked.")
	i.wantRefused("block add here --reason spam",
		"That is not a network. Enter one such as 192.0.2.0/24 or 2001:db8::/32, or an IP address.")
	wantRefusal(t, "block add", i.run("block add 192.0.2.1 --reason="), exitUsage,
		`--reason is "": give one line of at most 500 bytes. See 'gluepot block add --help'`)
}

func TestReport(t *testing.T) {
	t.Parallel()
	i := install(t)
	id, other := i.field("paste create --json", "_id"), i.field("paste create --json", "_id")
	empty := "ID  PASTE  AT  REASON  TEXT\n"
	wantLike(t, "report list", i.do("report list"), empty)
	i.wantRefused("report close unknown", `"unknown": There is no open report with that id.`)
	cfg := gormstore.DefaultConfig()
	cfg.URL = i.url
	store := gormstore.NewModeration(database.Open(t, cfg))
	for n, report := range []moderation.Report{
		{ID: id + "-first", Paste: paste.ID(id), Reason: "spam", Text: "two\nlines"},
		{ID: id + "-next", Paste: paste.ID(id), Reason: "other"},
	} {
		report.At = time.Now().Add(time.Duration(n) * time.Second)
		if err := store.Report(t.Context(), netip.Addr{}, report, "", "client",
			paste.Quota{Pastes: 2, Window: time.Hour}); err != nil {
			t.Fatal(err)
		}
	}
	if listed := i.do("report list"); !strings.Contains(listed, id+"-first") ||
		!strings.Contains(listed, `two\u000alines`) {
		t.Errorf("got %s, want the report with its text on one line", listed)
	}
	if listed := i.do("paste list --reported"); !strings.Contains(listed, id) || strings.Contains(listed, other) {
		t.Errorf("got %s, want only %s, which is reported", listed, id)
	}
	if got, want := i.do("report close "+id+"-first"), "Closed the report "+id+"-first.\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if listed := i.do("audit list --limit 1"); !strings.Contains(listed, "report.close  "+id+"-first") {
		t.Errorf("got %s, want that the report was closed", listed)
	}
	if got, want := i.do("paste remove --reported --reason spam --yes"), "Removed 1 paste.\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	wantLike(t, "report list", i.do("report list"), empty)
}

// TestRestoreHidden restores a paste whose owner's pastes are hidden.
func TestRestoreHidden(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.do("user create epoxy")
	id := i.field("paste create --owner epoxy --json", "_id")
	i.do("paste remove " + id + " --reason spam")
	i.do("user suspend epoxy --reason spam --hide-pastes")
	want := result{exitOK, "Restored the paste " + id + ".\n",
		"The paste " + id + " stays hidden until its owner is unsuspended.\n"}
	if got := i.run("paste restore " + id); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got, want := i.do("user unsuspend epoxy"),
		"The user epoxy is no longer suspended, and 1 paste is there again.\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestAuditLog checks that each act of an operator becomes the newest row of the log, and that reading and failures
// become none.
func TestAuditLog(t *testing.T) {
	i := install(t)
	t.Setenv("GLUEPOT_PUBLIC_URL", "https://paste.example")
	t.Setenv("GLUEPOT_GITHUB_CLIENT_ID", "an id")
	t.Setenv("GLUEPOT_GITHUB_CLIENT_SECRET", "a secret")
	i.do("user create epoxy --service gitlab=5")
	user := i.field("user show epoxy --json", "id")
	id := i.field("paste create --owner epoxy --title secret --json", "_id")
	token := i.field("token issue epoxy --json", "id")
	invitation := i.field("invite create --note party --json --public-url https://paste.example", "id")
	cfg := gormstore.DefaultConfig()
	cfg.URL = i.url
	err := gormstore.NewModeration(database.Open(t, cfg)).Report(t.Context(),
		netip.Addr{}, moderation.Report{ID: id + "-report01", Paste: paste.ID(id), Reason: "spam"}, "", "client",
		paste.Quota{Pastes: 1, Window: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	epoxy := "epoxy (" + user + ")"
	rows := strings.Count(i.do("audit list --limit 0 --json"), "\n")
	for _, step := range []struct{ line, act, target, reason string }{
		{line: "user show epoxy"}, {line: "user list"}, {line: "token list epoxy"}, {line: "paste list"},
		{line: "paste show " + id},
		{line: "block list"}, {line: "report list"}, {line: "audit list"}, {line: "stats"},
		{"user update epoxy --admin", "user.make-admin", epoxy, ""},
		{"user unlink epoxy gitlab", "user.unlink", epoxy, "gitlab"},
		{"user link epoxy github:77", "user.link", epoxy, "github:77"},
		{"user link epoxy github:78", "", "", ""},
		{"user link epoxy gitlab:5", "", "", ""}, // no such provider is configured
		{"user sign-out epoxy", "user.sign-out", epoxy, ""},
		{"token revoke " + token, "token.revoke", token, ""},
		{"invite revoke " + invitation, "invite.revoke", invitation, ""},
		{"block add 192.0.2.0/24 --reason spam", "block.add", "192.0.2.0/24", "spam"},
		{"block remove 192.0.2.0/24", "block.remove", "192.0.2.0/24", ""},
		{"report close " + id + "-report01", "report.close", id + "-report01", ""},
		{"paste edit " + id + " --title shown", "paste.edit", id, ""},
		{"paste remove " + id + " --reason spam", "paste.remove", id, "spam"},
		{"paste remove " + id + " --reason again", "", "", ""},
		{"paste restore " + id, "paste.restore", id, ""},
		{"user suspend epoxy --reason spam", "user.suspend", epoxy, "spam"},
		{"user unsuspend epoxy", "user.unsuspend", epoxy, ""},
		{"user unsuspend epoxy", "", "", ""}, // it is not suspended
		{"paste delete " + id, "paste.delete", id, ""},
		{"user delete epoxy --yes", "user.delete", epoxy, ""},
		{"user delete epoxy --yes", "", "", ""},
	} {
		i.run(step.line)
		log := i.do("audit list --limit 0 --json")
		if step.act != "" {
			rows++
			want := `"actor":"operator","act":"` + step.act + `","target":"` + step.target + `","reason":"` + step.reason + `"}`
			if newest, _, _ := strings.Cut(log, "\n"); !strings.HasSuffix(newest, want) {
				t.Errorf("%s: got %s, want it to end with %s", step.line, newest, want)
			}
		}
		if got := strings.Count(log, "\n"); got != rows {
			t.Errorf("%s: got %d rows of the log, want %d", step.line, got, rows)
		}
	}
	log := i.do("audit list --limit 0 --json")
	for _, want := range []string{
		`"user.create","target":"` + epoxy, `"token.issue","target":"` + token + " of " + epoxy,
		`"invite.create","target":"` + invitation,
	} {
		if !strings.Contains(log, want) {
			t.Errorf("got %s, want %s in it", log, want)
		}
	}
	if strings.Contains(log, "secret") {
		t.Errorf("got %s, want nothing of what pastes hold", log)
	}
}

// TestRemoveByNothing runs a script whose variable is empty: an empty filter must not count as no filter.
func TestRemoveByNothing(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.do("user create epoxy")
	id := i.field("paste create --owner epoxy --json", "_id")
	for _, line := range []string{
		"paste remove --owner= --since 24h", "paste remove --since= --owner epoxy", "paste remove --contains= --owner epoxy",
		"paste remove --title= --since 24h", "paste remove --language= --since 24h", "paste remove --until= --since 24h",
	} {
		if got := i.run(line + " --reason spam --yes"); got.code != exitUsage {
			t.Errorf("%s: got %+v, want it refused", line, got)
			i.run("paste restore " + id)
		}
	}
	i.do("paste show " + id)
}
