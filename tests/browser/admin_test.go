package browser

import (
	"strings"
	"testing"

	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// TestAdministration reports a paste without JavaScript, and checks the administrators' pages on each screen.
func TestAdministration(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	origin := "http://" + program.Serve(t, cfg.URL, "GLUEPOT_REPORTS=true").Address
	run := func(args ...string) {
		t.Helper()
		if code, _, stderr := program.Run(t, []string{"GLUEPOT_DATABASE_URL=" + cfg.URL}, args...); code != 0 {
			t.Fatalf("%v: got exit code %d, %s, want 0", args, code, stderr)
		}
	}
	run("user", "update", "mortar", "--admin")
	reported, removed := createEditedPaste(t, origin), createEditedPaste(t, origin)
	run("paste", "remove", removed,
		"--reason", "an advertisement for a casino, as all of the last hour from this author")
	run("block", "add", "2001:db8:1234:5678::/64", "--reason", "spam, "+strings.Repeat("again and ", 12)+"again")
	run("block", "add", "192.0.2.0/24", "--reason", "spam", "--expires-in", "7d")

	reader := open(t, origin)
	reader.disableScript()
	for range 2 {
		reader.show("/" + reported)
		reader.press(`a[href$="/report"]`, "#reason")
		reader.choose("#reason", "malware or phishing")
		reader.fill("#text", "It asks for the password of a bank.\n\n"+strings.Repeat("long", 60))
		reader.press(".form .main", `[role="status"]`)
	}

	run("invite", "create", "--note", "for everyone who works on the roof of the tower at the river")
	run("user", "suspend", "Epoxy", "--reason", "spam")
	admin := newTab(t, origin)
	admin.disableScript()
	admin.signIn(program.MortarToken)
	admin.show("/admin/users?suspended=on")
	admin.press("main .pastes a", "button[value=unsuspend]")
	user := admin.path()

	checkPages(t, origin, program.MortarToken, map[string]string{
		user: "user", "/admin/users?order=bytes": "users", "/admin/invitations": "invitations",
		"/admin/statistics": "statistics", "/admin?since=1&reported=on": "filters",
		"/admin": "pastes", "/admin?removed=on": "removed", "/admin/blocks": "blocks", "/admin/reports": "reports",
		"/admin/audit":             "audit",
		"/" + reported + "/report": "report",
	})
}
