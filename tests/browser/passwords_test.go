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

// wantText checks that the text of the page contains a part.
func (tab *tab) wantText(part string) {
	tab.t.Helper()
	if text := evaluate[string](tab, "document.querySelector('main').innerText"); !strings.Contains(text, part) {
		tab.t.Errorf("%s: got the text %s, want one with %q", tab.path(), text, part)
	}
}

// alert is the message of an invalid form.
const alert = "[role=alert]:not([hidden])"

// passwordForm is the form to sign up or sign in with a password, or to set one.
const passwordForm = "form:not([data-passkey]):has([type=password]) "

// submitPasswordForm sends the form for a new account, or for a new password if the name is "", and waits until the
// element result is visible.
func (tab *tab) submitPasswordForm(name, password, result string) {
	tab.t.Helper()
	if name != "" {
		tab.fill(passwordForm+"[name=name]", name)
	}
	tab.fill(passwordForm+"[name=password]", password)
	tab.fill(passwordForm+"[name=again]", password)
	tab.press(passwordForm+"button.main", result)
}

// signInWithPassword signs in to the installation below a path, and waits until the element result is visible.
func (tab *tab) signInWithPassword(path, name, password, result string) {
	tab.t.Helper()
	tab.show(path + "/sign-in")
	tab.fill(passwordForm+"[name=name]", name)
	tab.fill(passwordForm+"[name=password]", password)
	tab.press("#with-password", result)
}

// TestPasswords follows two accounts with passwords: the first administrator, and an invited user who changes a
// password, forgets it and is suspended. It does so with JavaScript and without, on both databases. On PostgreSQL, the
// installation has two nodes, and is below a path.
func TestPasswords(t *testing.T) {
	t.Parallel()
	for name, noScript := range map[string]bool{"script": false, "no script": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database.Each(t, func(t *testing.T, cfg gormstore.Config) { followPasswordAccounts(t, cfg, noScript) })
		})
	}
}

func followPasswordAccounts(t *testing.T, cfg gormstore.Config, noScript bool) {
	t.Helper()
	path := ""
	if strings.HasPrefix(cfg.URL, "postgres") {
		path = "/paste"
	}
	site := startInstallation(t, cfg, path, "GLUEPOT_REGISTRATION=invite")
	newVisitor := func() *tab {
		tab := newTab(t, site.origin)
		if noScript {
			tab.disableScript()
		}
		return tab
	}
	ann, bob, otherBob := newVisitor(), newVisitor(), newVisitor()

	ann.show(site.setupLink(t))
	if hidden := evaluate[bool](ann, "document.querySelector('form[data-passkey]').hidden"); hidden != noScript {
		t.Errorf("got the form for a passkey hidden: %t, want %t: it needs JavaScript", hidden, noScript)
	}
	ann.submitPasswordForm("ann", "password1234", alert)
	ann.wantText("easy to guess")
	if name := evaluate[string](ann, "document.querySelector('#name').value"); name != "ann" {
		t.Errorf(`got the name %q after the password was refused, want "ann", which was typed`, name)
	}
	ann.submitPasswordForm("", goodPassword, signOutButton)
	if page := ann.path(); page != path+"/admin" {
		t.Fatalf("got the page %s after the setup, want %s/admin", page, path)
	}

	// Ann invites Bob.
	ann.show(path + "/admin/invitations")
	ann.press("form:not([role=search]) button.main", "#made")
	invitation := strings.TrimPrefix(evaluate[string](ann, "document.querySelector('#made').value"), site.origin)
	bob.show(invitation)
	bob.submitPasswordForm("ann", goodPassword, alert)
	bob.wantText("is taken")
	bob.show(invitation)
	bob.submitPasswordForm("bob", goodPassword, signOutButton)

	// A new password ends other sessions. The password cannot be removed: it is the last way to sign in.
	otherBob.signInWithPassword(path, "bob", goodPassword, signOutButton)
	bob.show(path + "/account/security")
	bob.fill("[name=present]", goodPassword)
	bob.fill("[name=password]", otherPassword)
	bob.fill("[name=again]", otherPassword)
	bob.press("button[value=set]", "[role=status]")
	otherBob.show(path + "/pastes")
	if page := otherBob.path(); page != path+"/sign-in" {
		t.Errorf("got the page %s after the password was changed elsewhere, want %s/sign-in", page, path)
	}
	otherBob.signInWithPassword(path, "bob", goodPassword, alert)
	otherBob.wantText("is wrong")
	bob.press("button[value=remove]", alert)
	bob.wantText("last way to sign in")

	// Bob forgets the password, and Ann creates a link to set a new one.
	ann.show(path + "/admin/users?name=bob")
	ann.press("main .pastes a", "button[value=reset]")
	ann.press("button[value=reset]", "#made")
	link := strings.TrimPrefix(evaluate[string](ann, "document.querySelector('#made').value"), site.origin)
	ann.show(ann.path())
	if evaluate[bool](ann, "document.querySelector('#made') != null") {
		t.Error("got the link again on the reloaded page, want it shown once")
	}
	otherBob.show(link)
	otherBob.submitPasswordForm("", goodPassword, signOutButton)
	if page := otherBob.path(); page != path+"/account/security" {
		t.Errorf("got the page %s after the reset, want %s/account/security", page, path)
	}
	bob.show(path + "/pastes")
	if page := bob.path(); page != path+"/sign-in" {
		t.Errorf("got the page %s after the reset elsewhere, want %s/sign-in", page, path)
	}
	bob.show(link)
	bob.wantText("no longer valid")

	// A suspended user is signed out, and cannot sign in.
	ann.fill("[name=reason]", "spam")
	ann.press("button[value=suspend]", "button[value=unsuspend]")
	otherBob.show(path + "/pastes")
	if page := otherBob.path(); page != path+"/sign-in" {
		t.Errorf("got the page %s of a suspended user, want %s/sign-in", page, path)
	}
	otherBob.signInWithPassword(path, "bob", goodPassword, errorPage)
	otherBob.wantText("suspended")
}

// TestPasswordAndPasskeyPages checks the pages about passwords and passkeys on each screen, also for accessibility.
func TestPasswordAndPasskeyPages(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	site := startInstallation(t, cfg, "", "GLUEPOT_REGISTRATION=open")
	setupLink := site.setupLink(t)
	for name, screen := range screens {
		t.Run(name, func(t *testing.T) { // not parallel: the first one opens the link before there is an administrator
			tab := newTab(t, site.origin)
			device := tab.addAuthenticator()
			tab.useScreen(screen)
			checkPage := func(name string) {
				t.Helper()
				tab.wantAccessibleOn(screen, name)
				tab.wantFit()
				tab.fullScreenshot(name)
			}
			tab.show(setupLink)
			checkPage("setup")
			tab.show("/sign-in")
			checkPage("sign-in")
			tab.signInWithPassword("", "nobody", goodPassword, alert)
			checkPage("sign-in-wrong")
			tab.show("/sign-up")
			checkPage("sign-up")
			tab.submitPasswordForm("a b", goodPassword, alert)
			checkPage("sign-up-wrong")
			user := strings.ReplaceAll("looks-"+name, "-", "")
			tab.show("/sign-up")
			tab.submitPasswordForm(user, goodPassword, "body:has(.top form)") // on a phone, the menu hides the button
			tab.show("/account/security")
			checkPage("security")
			for n := range 2 {
				passkey := fmt.Sprint("a phone with a name that is rather long for a phone ", n)
				device.removePasskeys() // a device holds one passkey for each account
				tab.fill("#passkey-label", passkey)
				tab.press("form[data-passkey=make]:not([hidden]) button", "button[aria-label='Remove "+passkey+"']")
			}
			checkPage("security-passkeys")
			tab.fill("[name=present]", otherPassword)
			tab.fill("[name=password]", goodPassword)
			tab.fill("[name=again]", goodPassword)
			tab.press("button[value=set]", alert)
			checkPage("security-wrong")
			tab.show(site.linkFrom(t, "user", "reset", user))
			checkPage("reset")
		})
	}
}
