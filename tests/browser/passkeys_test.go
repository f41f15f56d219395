package browser

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/freeport"
	"github.com/gluepot/gluepot/tests/program"
)

// authenticator is a device with passkeys, such as a phone.
type authenticator struct {
	tab *tab
	id  webauthn.AuthenticatorID
}

// addAuthenticator adds a virtual authenticator to the tab, which confirms every request.
func (tab *tab) addAuthenticator() authenticator {
	tab.t.Helper()
	command(tab, webauthn.Enable, webauthn.EnableParams{})
	result := command(tab, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{
		Options: &webauthn.VirtualAuthenticatorOptions{
			Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
			HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
		},
	})
	return authenticator{tab, result.AuthenticatorID}
}

// passkeys returns the passkeys on the device.
func (a authenticator) passkeys() []*webauthn.Credential {
	a.tab.t.Helper()
	return command(a.tab, webauthn.GetCredentials, webauthn.GetCredentialsParams{AuthenticatorID: a.id}).Credentials
}

// accounts returns the accounts of the passkeys on the device, such as "ann at localhost".
func (a authenticator) accounts() (accounts []string) {
	a.tab.t.Helper()
	for _, passkey := range a.passkeys() {
		accounts = append(accounts, passkey.UserName+" at "+passkey.RpID)
	}
	return accounts
}

// addPasskey adds a passkey to the device.
func (a authenticator) addPasskey(passkey *webauthn.Credential) {
	a.tab.t.Helper()
	// The parameters of cdproto always include fields that the device rejects.
	add := cdp.Command[map[string]any, cdp.Empty]{Method: webauthn.CommandAddCredential}
	command(a.tab, add, map[string]any{"authenticatorId": a.id, "credential": map[string]any{
		"credentialId": passkey.CredentialID, "isResidentCredential": true, "rpId": passkey.RpID,
		"privateKey": passkey.PrivateKey, "userHandle": passkey.UserHandle, "signCount": passkey.SignCount,
	}})
}

// removePasskeys removes all passkeys from the device.
func (a authenticator) removePasskeys() {
	a.tab.t.Helper()
	command(a.tab, webauthn.ClearCredentials, webauthn.ClearCredentialsParams{AuthenticatorID: a.id})
}

// installation is a server of one or two nodes behind one address. Its host is localhost, where Chromium supports
// passkeys without TLS.
type installation struct {
	origin, path string
	settings     []string
	nodes        []*program.Process
}

// startInstallation starts an installation below a path. On PostgreSQL, two nodes take turns.
func startInstallation(t *testing.T, cfg gormstore.Config, path string, settings ...string) installation {
	t.Helper()
	address := freeport.Address(t)
	_, port, _ := strings.Cut(address, ":")
	i := installation{origin: "http://localhost:" + port, path: path}
	i.settings = append(settings, "GLUEPOT_DATABASE_URL="+cfg.URL, "GLUEPOT_HTTP_ADDR=127.0.0.1:0",
		"GLUEPOT_PUBLIC_URL="+i.origin+path)
	i.nodes = append(i.nodes, program.Serve(t, cfg.URL, i.settings...))
	if strings.HasPrefix(cfg.URL, "postgres") {
		i.nodes = append(i.nodes, program.Serve(t, cfg.URL, i.settings...))
	}
	startLoadBalancer(t, address, i.nodes)
	return i
}

// setupLink returns the path of the link for the first administrator, which a node logs.
func (i installation) setupLink(t *testing.T) string {
	t.Helper()
	line := i.nodes[0].WaitForLog("there is no administrator: open the link to become the first one, within a day")
	link, _ := line["link"].(string)
	return i.pathOf(t, link)
}

// linkFrom runs a command of the operator, and returns the path of the link that it prints last.
func (i installation) linkFrom(t *testing.T, args ...string) string {
	t.Helper()
	code, stdout, stderr := program.Run(t, i.settings, args...)
	if code != 0 {
		t.Fatalf("%v: got exit code %d, %s, want 0", args, code, stderr)
	}
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	return i.pathOf(t, lines[len(lines)-1])
}

// pathOf returns the path of a link to this installation.
func (i installation) pathOf(t *testing.T, link string) string {
	t.Helper()
	path, ok := strings.CutPrefix(link, i.origin)
	if !ok {
		t.Fatalf("got the link %q, want one below %s", link, i.origin)
	}
	return path
}

// waitForLog waits until one of the nodes has logged a text.
func (i installation) waitForLog(t *testing.T, text string) {
	t.Helper()
	for deadline := time.Now().Add(program.Patience); ; time.Sleep(20 * time.Millisecond) {
		for _, node := range i.nodes {
			if strings.Contains(node.Stderr.String(), text) {
				return
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("got no %q in the log of any node within %v, want it", text, program.Patience)
		}
	}
}

const (
	passkeySignInButton = "form[data-passkey=use] button"
	newPasskeyButton    = "form[data-passkey=make] button"
	signOutButton       = ".top form button"

	errorPage = "main > h1 + p" // the message of an error page
)

// signOut signs out of the installation below a path.
func (tab *tab) signOut(path string) {
	tab.t.Helper()
	tab.press(signOutButton, ".top nav a[href^='"+path+"/sign-in']")
}

// TestPasskeys signs up and signs in with passkeys, and replaces lost ones, on both databases. On PostgreSQL, the
// installation has two nodes, and is below a path.
func TestPasskeys(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		path := ""
		if strings.HasPrefix(cfg.URL, "postgres") {
			path = "/paste"
		}
		site := startInstallation(t, cfg, path, "GLUEPOT_REGISTRATION=invite")
		ann := newTab(t, site.origin)
		phone := ann.addAuthenticator()

		// The link for the first administrator.
		ann.show(site.setupLink(t))
		ann.fill("#passkey-user", "ann")
		ann.press(newPasskeyButton, signOutButton)
		if page := ann.path(); page != path+"/admin" {
			t.Fatalf("got the page %s after the setup, want %s/admin", page, path)
		}
		if accounts := phone.accounts(); !slices.Equal(accounts, []string{"ann at localhost"}) {
			t.Fatalf(`got passkeys for %q, want one for "ann at localhost"`, accounts)
		}
		ann.signOut(path)
		ann.show(path + "/sign-in?next=/account/security")
		ann.press(passkeySignInButton, "button[name=remove]")

		// The only passkey cannot be removed. After adding a second one, the first one can.
		ann.press("button[name=remove]", alert)
		ann.wantText("last way to sign in")
		first := phone.passkeys()[0]
		phone.removePasskeys()
		ann.fill("#passkey-label", "key ring")
		ann.press("form[data-passkey=make]:not([hidden]) button", "button[aria-label='Remove key ring']")
		ann.press("li:first-child button[name=remove]", "li:only-child button[aria-label='Remove key ring']")
		second := phone.passkeys()[0]

		// A removed passkey, and one with the handle of another user, are refused.
		ann.signOut(path)
		for name, passkey := range map[string]*webauthn.Credential{
			"removed": first, "of another user": withOtherUser(second),
		} {
			phone.removePasskeys()
			phone.addPasskey(passkey)
			ann.show(path + "/sign-in")
			ann.press(passkeySignInButton, errorPage)
			if text := evaluate[string](ann, "document.querySelector('main').innerText"); !strings.Contains(text,
				"was not accepted") {
				t.Errorf(`passkey %s: got the text %s, want "was not accepted" in it`, name, text)
			}
		}

		// A copy of a passkey with a lower counter is refused and logged.
		phone.removePasskeys()
		copied := *second
		copied.SignCount = 1
		phone.addPasskey(second)
		ann.show(path + "/sign-in")
		ann.press(passkeySignInButton, signOutButton)
		ann.signOut(path)
		phone.removePasskeys()
		phone.addPasskey(&copied)
		ann.show(path + "/sign-in")
		ann.press(passkeySignInButton, errorPage)
		ann.wantText("may have been copied")
		site.waitForLog(t, "the counter of the passkey")

		// Bob signs up with an invitation, loses the passkey, and gets a link to reset from the operator.
		bob := newTab(t, site.origin)
		lostDevice := bob.addAuthenticator()
		bob.show(site.linkFrom(t, "invite", "create"))
		bob.fill("#passkey-user", "ann")
		bob.do(chromedp.Click(chromedp.CSS(newPasskeyButton)), chromedp.WaitVisible(chromedp.CSS(alert)))
		bob.wantText("is taken")
		bob.show(site.linkFrom(t, "invite", "create"))
		bob.fill("#passkey-user", "bob")
		bob.press(newPasskeyButton, signOutButton)
		other := newTab(t, site.origin)
		newDevice := other.addAuthenticator()
		other.show(site.linkFrom(t, "user", "reset", "bob"))
		other.press(newPasskeyButton, signOutButton)
		if accounts := newDevice.accounts(); !slices.Equal(accounts, []string{"bob at localhost"}) {
			t.Errorf(`got passkeys for %q after the reset, want one for "bob at localhost"`, accounts)
		}
		bob.show(path + "/pastes")
		if page := bob.path(); page != path+"/sign-in" {
			t.Errorf("got the page %s after the reset, want %s/sign-in: the session has ended", page, path)
		}
		lostDevice.removePasskeys()
		other.show(path + "/account/security")
		if buttons := evaluate[int](other, "document.querySelectorAll('button[name=remove]').length"); buttons != 2 {
			t.Errorf("got %d passkeys on the page, want 2: the lost one and the new one", buttons)
		}
	})
}

// ceremonies begins several ceremonies of signing in, as tabs do, and finishes them with answers that the server must
// accept or refuse. It returns the status of each refusal, and "in" for each sign-in.
const ceremonies = `(async () => {
	const send = (fields, credentials) => fetch(document.querySelector("form[data-passkey=use]").action,
		{method: "POST", credentials, body: new URLSearchParams({passkey: "on", ...fields})});
	const begin = async () => (await send({})).json();
	const sign = async ({options}) => JSON.stringify((await navigator.credentials.get(
		{publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options)})).toJSON());
	const finish = async ({ceremony}, answer, credentials = "same-origin") => {
		const response = await send({ceremony, answer}, credentials);
		return response.redirected ? "in" : String(response.status);
	};
	const first = await begin(), second = await begin();
	const third = await begin(), fourth = await begin();
	const answer1 = await sign(first), answer2 = await sign(second), answer3 = await sign(third);
	return {
		"answer to another challenge": await finish(first, answer2),
		"ceremony that has failed":    await finish(first, answer1),
		"without the cookie":          await finish(second, answer2, "omit"),
		"first of two ceremonies":     await finish(third, answer3),
		"answer sent again":           await finish(third, answer3),
		"second of two ceremonies":    await finish(fourth, await sign(fourth)),
	};
})()`

// TestPasskeyCeremonies checks that two tabs can sign in at the same time, and that the server refuses wrong and
// repeated answers, and answers for another origin.
func TestPasskeyCeremonies(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		site := startInstallation(t, cfg, "")
		ann := newTab(t, site.origin)
		phone := ann.addAuthenticator()
		ann.show(site.setupLink(t))
		ann.fill("#passkey-user", "ann")
		ann.press(newPasskeyButton, signOutButton)
		ann.signOut("")
		ann.show("/sign-in")
		got := read(ann, chromedp.Evaluate[map[string]string](ceremonies, chromedp.EvalAwaitPromise))
		want := map[string]string{
			"answer to another challenge": "403", "ceremony that has failed": "400", "without the cookie": "400",
			"first of two ceremonies": "in", "answer sent again": "400", "second of two ceremonies": "in",
		}
		if !maps.Equal(got, want) {
			t.Errorf("got the results %v, want %v", got, want)
		}

		// A copy of the site on another port of the host gets an answer from the device, but for the wrong origin.
		address := freeport.Address(t)
		startLoadBalancer(t, address, site.nodes)
		_, port, _ := strings.Cut(address, ":")
		phishing := newTab(t, "http://localhost:"+port)
		phishing.addAuthenticator().addPasskey(phone.passkeys()[0])
		phishing.show("/sign-in")
		phishing.press(passkeySignInButton, errorPage)
		phishing.wantText("was not accepted")
	})
}

// withOtherUser returns a copy of a passkey with the handle of another user.
func withOtherUser(passkey *webauthn.Credential) *webauthn.Credential {
	other := *passkey
	other.UserHandle = []byte("somebody")
	return &other
}
