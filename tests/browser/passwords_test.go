package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
)

const (
	goodPassword  = "tulip river stone"
	otherPassword = "stone river tulip"
)

// wantText wants a part of what the page says.
func (tab *tab) wantText(part string) {
	tab.t.Helper()
	if text := evaluate[string](tab, "document.querySelector('main').innerText"); !strings.Contains(text, part) {
		tab.t.Errorf("got %s, want %q", text, part)
	}
}

// said is what a form says is wrong.
const said = "[role=alert]:not([hidden])"

// passwordForm is a form with a password, not with a passkey.
const passwordForm = "form:not([data-passkey]):has([type=password]) "

// account fills in a form for a new account, or for a new password, and sends it.
func (tab *tab) account(name, password, there string) {
	tab.t.Helper()
	if name != "" {
		tab.fill(passwordForm+"[name=name]", name)
	}
	tab.fill(passwordForm+"[name=password]", password)
	tab.fill(passwordForm+"[name=again]", password)
	tab.press(passwordForm+"button.main", there)
}

// withPassword signs in.
func (tab *tab) withPassword(path, name, password, there string) {
	tab.t.Helper()
	tab.show(path + "/sign-in")
	tab.fill(passwordForm+"[name=name]", name)
	tab.fill(passwordForm+"[name=password]", password)
	tab.press("#with-password", there)
}

// TestPasswords is the way of an account that needs nobody else's service: the first administrator, an invitation, a
// new password, a lost one, and a suspension. It is walked with the script and without, on both databases: PostgreSQL
// has two nodes, and is below a path.
func TestPasswords(t *testing.T) {
	t.Parallel()
	for name, without := range map[string]bool{"script": false, "no script": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database.Each(t, func(t *testing.T, cfg gormstore.Config) { walkWithPasswords(t, cfg, without) })
		})
	}
}

func walkWithPasswords(t *testing.T, cfg gormstore.Config, without bool) {
	t.Helper()
	path := ""
	if strings.HasPrefix(cfg.URL, "postgres") {
		path = "/paste"
	}
	site := install(t, cfg, path, "GLUEPOT_REGISTRATION=invite")
	visitor := func() *tab {
		tab := newTab(t, site.origin)
		if without {
			tab.withoutScript()
		}
		return tab
	}
	ann, bob, elsewhere := visitor(), visitor(), visitor()

	ann.show(site.link(t))
	if hidden := evaluate[bool](ann, "document.querySelector('form[data-passkey]').hidden"); hidden != without {
		t.Errorf("got the form for a passkey hidden: %v, want it hidden without JavaScript alone", hidden)
	}
	ann.account("ann", "password1234", said)
	ann.wantText("easy to guess")
	if kept := evaluate[string](ann, "document.querySelector('#name').value"); kept != "ann" {
		t.Errorf("got the name %q, want it kept", kept)
	}
	ann.account("", goodPassword, leave)
	if at := ann.path(); at != path+"/admin" {
		t.Fatalf("got to %s, want the pages of administrators", at)
	}

	// The administrator invites, on a page.
	ann.show(path + "/admin/invitations")
	ann.press("form:not([role=search]) button.main", "#made")
	invitation := strings.TrimPrefix(evaluate[string](ann, "document.querySelector('#made').value"), site.origin)
	bob.show(invitation)
	bob.account("ann", goodPassword, said)
	bob.wantText("is taken")
	bob.show(invitation)
	bob.account("bob", goodPassword, leave)

	// A new password ends other sessions. The last way in stays.
	elsewhere.withPassword(path, "bob", goodPassword, leave)
	bob.show(path + "/account/security")
	bob.fill("[name=present]", goodPassword)
	bob.fill("[name=password]", otherPassword)
	bob.fill("[name=again]", otherPassword)
	bob.press("button[value=set]", "[role=status]")
	elsewhere.show(path + "/pastes")
	if at := elsewhere.path(); at != path+"/sign-in" {
		t.Errorf("got %s, want the other session ended", at)
	}
	elsewhere.withPassword(path, "bob", goodPassword, said)
	elsewhere.wantText("is wrong")
	bob.press("button[value=remove]", said)
	bob.wantText("last way to sign in")

	// The password is forgotten: the administrator hands over a link.
	ann.show(path + "/admin/users?name=bob")
	ann.press("main .pastes a", "button[value=reset]")
	ann.press("button[value=reset]", "#made")
	link := strings.TrimPrefix(evaluate[string](ann, "document.querySelector('#made').value"), site.origin)
	ann.show(ann.path()) // it is shown once
	if shown := evaluate[bool](ann, "document.querySelector('#made') != null"); shown {
		t.Error("got the link again, want it shown once")
	}
	elsewhere.show(link)
	elsewhere.account("", goodPassword, leave)
	if at := elsewhere.path(); at != path+"/account/security" {
		t.Errorf("got to %s, want the ways in", at)
	}
	bob.show(path + "/pastes")
	if at := bob.path(); at != path+"/sign-in" {
		t.Errorf("got %s, want the session ended by the link", at)
	}
	bob.show(link)
	bob.wantText("no longer valid")

	// A suspended user has no way in.
	ann.fill("[name=reason]", "spam")
	ann.press("button[value=suspend]", "button[value=unsuspend]")
	elsewhere.show(path + "/pastes")
	if at := elsewhere.path(); at != path+"/sign-in" {
		t.Errorf("got %s, want the session of a suspended user ended", at)
	}
	elsewhere.withPassword(path, "bob", goodPassword, "main > h1 + p")
	elsewhere.wantText("suspended")
}

// TestWaysIn looks at the pages about passwords and passkeys, on the screens that people have, for what keeps people
// from using them.
func TestWaysIn(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	site := install(t, cfg, "", "GLUEPOT_REGISTRATION=open")
	setup := site.link(t)
	for name, screen := range screens {
		t.Run(name, func(t *testing.T) { // one after the other: the first to look is before the first administrator
			tab := newTab(t, site.origin)
			device := tab.plug()
			tab.at(screen)
			look := func(name string) {
				t.Helper()
				tab.wantUsableOn(screen, name)
				tab.wantFit()
				tab.wholePicture(name)
			}
			tab.show(setup)
			look("setup")
			tab.show("/sign-in")
			look("sign-in")
			tab.withPassword("", "nobody", goodPassword, said)
			look("sign-in-wrong")
			tab.show("/sign-up")
			look("sign-up")
			tab.account("a b", goodPassword, said)
			look("sign-up-wrong")
			user := strings.ReplaceAll("looks-"+name, "-", "")
			tab.show("/sign-up")
			tab.account(user, goodPassword, "body:has(.top form)") // on a phone, the menu hides it
			tab.show("/account/security")
			look("security")
			for n := range 2 {
				passkey := fmt.Sprint("a phone with a name that is rather long for a phone ", n)
				device.lose() // a device has one passkey of an account
				tab.fill("#passkey-label", passkey)
				tab.press("form[data-passkey=make]:not([hidden]) button", "button[aria-label='Remove "+passkey+"']")
			}
			look("security-passkeys")
			tab.fill("[name=present]", otherPassword)
			tab.fill("[name=password]", goodPassword)
			tab.fill("[name=again]", goodPassword)
			tab.press("button[value=set]", said)
			look("security-wrong")
			tab.show(site.link(t, "user", "reset", user))
			look("reset")
		})
	}
}
