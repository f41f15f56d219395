package browser

import (
	"maps"
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

// plug gives a browser a device that confirms all that it is asked.
func (tab *tab) plug() authenticator {
	tab.t.Helper()
	command(tab, webauthn.Enable, webauthn.EnableParams{})
	added := command(tab, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{
		Options: &webauthn.VirtualAuthenticatorOptions{
			Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
			HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
		},
	})
	return authenticator{tab, added.AuthenticatorID}
}

// passkeys returns what the device holds.
func (a authenticator) passkeys() []*webauthn.Credential {
	a.tab.t.Helper()
	return command(a.tab, webauthn.GetCredentials, webauthn.GetCredentialsParams{AuthenticatorID: a.id}).Credentials
}

// hold puts a passkey on the device.
func (a authenticator) hold(passkey *webauthn.Credential) {
	a.tab.t.Helper()
	// The type of cdproto always has fields that the device does not take.
	add := cdp.Command[map[string]any, cdp.Empty]{Method: webauthn.CommandAddCredential}
	command(a.tab, add, map[string]any{"authenticatorId": a.id, "credential": map[string]any{
		"credentialId": passkey.CredentialID, "isResidentCredential": true, "rpId": passkey.RpID,
		"privateKey": passkey.PrivateKey, "userHandle": passkey.UserHandle, "signCount": passkey.SignCount,
	}})
}

// lose empties the device.
func (a authenticator) lose() {
	a.tab.t.Helper()
	command(a.tab, webauthn.ClearCredentials, webauthn.ClearCredentialsParams{AuthenticatorID: a.id})
}

// installation is a server of one or two nodes behind one address, at which Chromium has passkeys.
type installation struct {
	origin, path string
	settings     []string
	nodes        []*program.Process
}

// install starts an installation below a path: on PostgreSQL it has two nodes, which answer in turns.
func install(t *testing.T, cfg gormstore.Config, path string, settings ...string) installation {
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
	balance(t, address, i.nodes)
	return i
}

// link returns the path of the link that a command prints, or that a node has logged.
func (i installation) link(t *testing.T, args ...string) string {
	t.Helper()
	var text string
	if len(args) == 0 {
		line := i.nodes[0].WaitForLog("there is no administrator: open the link to become the first one, within a day")
		text, _ = line["link"].(string)
	} else {
		code, stdout, stderr := program.Run(t, i.settings, args...)
		if code != 0 {
			t.Fatalf("%v: got exit code %d, %s", args, code, stderr)
		}
		lines := strings.Split(strings.TrimSpace(stdout), "\n")
		text = lines[len(lines)-1]
	}
	path, found := strings.CutPrefix(text, i.origin)
	if !found {
		t.Fatalf("got %q, want a link below %s", text, i.origin)
	}
	return path
}

// wantLogged waits until one of the nodes has logged a text.
func (i installation) wantLogged(t *testing.T, text string) {
	t.Helper()
	for deadline := time.Now().Add(program.Patience); ; time.Sleep(20 * time.Millisecond) {
		for _, node := range i.nodes {
			if strings.Contains(node.Stderr.String(), text) {
				return
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("got nothing of %q in the log, want why", text)
		}
	}
}

const (
	usePasskey  = "form[data-passkey=use] button"
	makePasskey = "form[data-passkey=make] button"
	leave       = ".top form button"
)

// signsOut ends the session of a tab.
func (tab *tab) signsOut(path string) {
	tab.t.Helper()
	tab.press(leave, ".top nav a[href^='"+path+"/sign-in']")
}

// TestPasskeys signs up, signs in and recovers with real passkeys, on both databases, on two nodes and below a path.
func TestPasskeys(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		path := ""
		if strings.HasPrefix(cfg.URL, "postgres") {
			path = "/paste"
		}
		site := install(t, cfg, path, "GLUEPOT_REGISTRATION=invite")
		ann := newTab(t, site.origin)
		phone := ann.plug()

		// The first administrator.
		ann.show(site.link(t))
		ann.fill("#passkey-user", "ann")
		ann.press(makePasskey, leave)
		if at := ann.path(); at != path+"/admin" {
			t.Fatalf("got to %s, want the pages of administrators", at)
		}
		if keys := phone.passkeys(); len(keys) != 1 || keys[0].RpID != "localhost" || keys[0].UserName != "ann" {
			t.Fatalf("got %d passkeys, want one of ann for localhost", len(keys))
		}
		ann.signsOut(path)
		ann.show(path + "/sign-in?next=/account/security")
		ann.press(usePasskey, "button[name=remove]")

		// The last way in stays. A second one is made, and the first one removed.
		ann.press("button[name=remove]", "[role=alert]:not([hidden])")
		if text := evaluate[string](ann, "document.querySelector('main').innerText"); !strings.Contains(text,
			"last way to sign in") {
			t.Errorf("got %s, want that the last way in stays", text)
		}
		first := phone.passkeys()[0]
		phone.lose()
		ann.fill("#passkey-label", "key ring")
		ann.press("form[data-passkey=make]:not([hidden]) button", "button[aria-label='Remove key ring']")
		ann.press("li:first-child button[name=remove]", "li:only-child button[aria-label='Remove key ring']")
		second := phone.passkeys()[0]

		// What was removed, and what another user's handle names, lets nobody in.
		ann.signsOut(path)
		for what, passkey := range map[string]*webauthn.Credential{"removed": first, "of another user": foreign(second)} {
			phone.lose()
			phone.hold(passkey)
			ann.show(path + "/sign-in")
			ann.press(usePasskey, "main > h1 + p") // of a page that says why not
			if text := evaluate[string](ann, "document.querySelector('main').innerText"); !strings.Contains(text,
				"was not accepted") {
				t.Errorf("%s: got %s, want it refused", what, text)
			}
		}

		// A copy whose counter is behind is refused, and the log says so.
		phone.lose()
		behind := *second
		behind.SignCount = 1
		phone.hold(second)
		ann.show(path + "/sign-in")
		ann.press(usePasskey, leave)
		ann.signsOut(path)
		phone.lose()
		phone.hold(&behind)
		ann.show(path + "/sign-in")
		ann.press(usePasskey, "main > h1 + p")
		if text := evaluate[string](ann, "document.querySelector('main').innerText"); !strings.Contains(text,
			"may have been copied") {
			t.Errorf("got %s, want the copy refused", text)
		}
		site.wantLogged(t, "the counter of the passkey")

		// An invitation, a passkey that is lost, and a link of the operator.
		bob := newTab(t, site.origin)
		token := bob.plug()
		bob.show(site.link(t, "invite", "create"))
		bob.fill("#passkey-user", "ann")
		bob.do(chromedp.Click(chromedp.CSS(makePasskey)), chromedp.WaitVisible(chromedp.CSS("[role=alert]:not([hidden])")))
		if text := evaluate[string](bob, "document.querySelector('main').innerText"); !strings.Contains(text, "is taken") {
			t.Errorf("got %s, want that the name is taken", text)
		}
		bob.show(site.link(t, "invite", "create"))
		bob.fill("#passkey-user", "bob")
		bob.press(makePasskey, leave)
		elsewhere := newTab(t, site.origin)
		backup := elsewhere.plug()
		elsewhere.show(site.link(t, "user", "reset", "bob"))
		elsewhere.press(makePasskey, leave)
		if keys := backup.passkeys(); len(keys) != 1 || keys[0].UserName != "bob" {
			t.Errorf("got %d passkeys, want one of bob", len(keys))
		}
		bob.show(path + "/pastes")
		if at := bob.path(); at != path+"/sign-in" {
			t.Errorf("got %s, want that the reset has ended the session", at)
		}
		token.lose()
		elsewhere.show(path + "/account/security")
		if buttons := evaluate[int](elsewhere, "document.querySelectorAll('button[name=remove]').length"); buttons != 2 {
			t.Errorf("got %d passkeys, want the lost one and the new one", buttons)
		}
	})
}

// ceremonies begins ceremonies of signing in as two tabs do, and finishes them in ways that must not work, and in those
// that must. It returns what the server answered to each.
const ceremonies = `(async () => {
	const send = (fields, credentials) => fetch(document.querySelector("form[data-passkey=use]").action,
		{method: "POST", credentials, body: new URLSearchParams({passkey: "on", ...fields})});
	const begin = async () => (await send({})).json();
	const sign = async ({options}) => JSON.stringify((await navigator.credentials.get(
		{publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options)})).toJSON());
	const finish = async ({ceremony}, answer, credentials = "same-origin") => {
		const got = await send({ceremony, answer}, credentials);
		return got.redirected ? "in" : String(got.status);
	};
	const first = await begin(), second = await begin();
	const third = await begin(), fourth = await begin();
	const ofFirst = await sign(first), ofSecond = await sign(second), ofThird = await sign(third);
	return {
		"the answer to another challenge": await finish(first, ofSecond),
		"the right one, too late":         await finish(first, ofFirst),
		"without the cookie":              await finish(second, ofSecond, "omit"),
		"of the other tab":                await finish(third, ofThird),
		"the same once more":              await finish(third, ofThird),
		"of this tab":                     await finish(fourth, await sign(fourth)),
	};
})()`

// TestPasskeyCeremonies has two tabs sign in beside each other, answers that are sent again, and a copy of the site at
// another origin.
func TestPasskeyCeremonies(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		site := install(t, cfg, "")
		ann := newTab(t, site.origin)
		phone := ann.plug()
		ann.show(site.link(t))
		ann.fill("#passkey-user", "ann")
		ann.press(makePasskey, leave)
		ann.signsOut("")
		ann.show("/sign-in")
		got := read(ann, chromedp.Evaluate[map[string]string](ceremonies, chromedp.EvalAwaitPromise))
		want := map[string]string{
			"the answer to another challenge": "403", "the right one, too late": "400", "without the cookie": "400",
			"of this tab": "in", "of the other tab": "in", "the same once more": "400",
		}
		if !maps.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}

		// Whoever serves a copy of the site at another port of the host gets an answer, which is for that origin.
		address := freeport.Address(t)
		balance(t, address, site.nodes)
		_, port, _ := strings.Cut(address, ":")
		copied := newTab(t, "http://localhost:"+port)
		copied.plug().hold(phone.passkeys()[0])
		copied.show("/sign-in")
		copied.press(usePasskey, "main > h1 + p")
		if text := evaluate[string](copied, "document.querySelector('main').innerText"); !strings.Contains(text,
			"was not accepted") {
			t.Errorf("got %s, want the answer for another origin refused", text)
		}
	})
}

// foreign returns a passkey that says that it is another user's.
func foreign(passkey *webauthn.Credential) *webauthn.Credential {
	other := *passkey
	other.UserHandle = []byte("somebody")
	return &other
}
