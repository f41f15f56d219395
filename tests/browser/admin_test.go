package browser

import (
	"strings"
	"testing"

	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// TestAdministration reports a paste without JavaScript, and looks at the pages for administrators on each screen.
func TestAdministration(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	origin := "http://" + program.Serve(t, cfg.URL, "GLUEPOT_REPORTS=true").Address
	operate := func(args ...string) {
		t.Helper()
		if code, _, stderr := program.Run(t, []string{"GLUEPOT_DATABASE_URL=" + cfg.URL}, args...); code != 0 {
			t.Fatalf("%v: got exit code %d, %s", args, code, stderr)
		}
	}
	operate("user", "update", "mortar", "--admin")
	shown, gone := createOwn(t, origin), createOwn(t, origin)
	operate("paste", "remove", gone, "--reason", "an advertisement for a casino, as all of the last hour from this author")
	operate("block", "add", "2001:db8:1234:5678::/64", "--reason", "spam, "+strings.Repeat("again and ", 12)+"again")
	operate("block", "add", "192.0.2.0/24", "--reason", "spam", "--expires-in", "7d")

	reader := open(t, origin)
	reader.withoutScript()
	for range 2 {
		reader.show("/" + shown)
		reader.press(`a[href$="/report"]`, "#reason")
		reader.choose("#reason", "malware or phishing")
		reader.fill("#text", "It asks for the password of a bank.\n\n"+strings.Repeat("long", 60))
		reader.press(".form .main", `[role="status"]`)
	}

	lookAround(t, origin, program.MortarToken, map[string]string{
		"/admin": "pastes", "/admin?removed=on": "removed", "/admin/blocks": "blocks", "/admin/reports": "reports", "/admin/audit": "audit",
		"/" + shown + "/report": "report",
	})
}
