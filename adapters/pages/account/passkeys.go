package account

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/application/accounts"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// The fields of forms that passkeys.js sends. It sends a form twice: without an answer, to get the options for the
// browser, and then with the browser's answer.
const (
	fieldPasskey  = "passkey"  // marks the form, where others have the same path
	fieldCeremony = "ceremony" // part of the cookie's name
	fieldAnswer   = "answer"   // of the browser
)

const (
	pathSignInPasskey = site.PathSignIn + "/passkey"
	pathPasskeys      = site.PathAccount + "/passkeys"
)

// ceremonyCookie returns the name of a ceremony's cookie. Each ceremony has its own, so that two tabs do not interfere.
func ceremonyCookie(ceremony string) string { return "gluepot-passkey-" + ceremony }

// ceremonyLength is the length of the ceremony in a cookie's name.
const ceremonyLength = 16

// ask answers passkeys.js with the options for the browser, or with the problem of the form.
func (p *pages) ask(w http.ResponseWriter, r *site.Request, begin accounts.PasskeyCeremony, err error) error {
	status, answer := http.StatusOK, map[string]any{}
	switch fault.KindOf(err) {
	case fault.Invalid:
		status, answer["problem"] = http.StatusBadRequest, fault.MessageOf(err)
	case fault.Conflict:
		status, answer["problem"] = http.StatusConflict, fault.MessageOf(err)
	default:
		if err != nil {
			return err
		}
		ceremony := fmt.Sprintf("%x", identity.HashOf(begin.Secret))[:ceremonyLength]
		site.SetCookie(w, r, ceremonyCookie(ceremony), begin.Secret, identity.CeremonyAge)
		answer["ceremony"], answer["options"] = ceremony, json.RawMessage(begin.Options)
	}
	site.Guard(w, r)
	site.KeepPrivate(w)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	return json.NewEncoder(w).Encode(answer)
}

// passkeyOf returns the browser's answer in a form, with the secret of its ceremony. It clears the ceremony's cookie.
func passkeyOf(w http.ResponseWriter, r *site.Request, fields url.Values) accounts.NewPasskey {
	passkey := accounts.NewPasskey{Name: strings.TrimSpace(fields.Get("label")), Answer: []byte(fields.Get(fieldAnswer))}
	if passkey.Name == "" {
		passkey.Name = browserOf(r.UserAgent())
	}
	if ceremony := fields.Get(fieldCeremony); len(ceremony) == ceremonyLength {
		cookie := ceremonyCookie(ceremony)
		passkey.Secret = site.CookieValue(r, cookie)
		site.SetCookie(w, r, cookie, "", 0)
	}
	return passkey
}

// withPasskeys lets passkeys.js on a page send requests to this site.
func (p *pages) withPasskeys(answer site.Handler) site.Handler {
	return func(w http.ResponseWriter, r *site.Request) error {
		if p.Modules.Accounts.Passkeys.On() {
			r.Policy = site.AskingPolicy
		}
		return answer(w, r)
	}
}

// signInWithPasskey asks for a passkey, and begins a session of its owner.
func (p *pages) signInWithPasskey(w http.ResponseWriter, r *site.Request, fields url.Values) error {
	use := p.Modules.Accounts.Passkeys
	if !fields.Has(fieldAnswer) {
		ceremony, err := use.BeginSignIn(r.Context(), r.Actor())
		return p.ask(w, r, ceremony, err)
	}
	passkey := passkeyOf(w, r, fields)
	owner, err := use.SignIn(r.Context(), r.Actor(), passkey.Secret, passkey.Answer)
	if err != nil {
		r.Rejected = fault.Is(err, fault.Forbidden) || fault.Is(err, fault.Invalid)
		return err
	}
	return p.begin(w, r, owner.ID, token.Token{}, site.LocalPath(fields.Get("next"), site.PathPastes))
}

// accountWithPasskey creates a user with a passkey, and begins a session. again shows the form again.
func (p *pages) accountWithPasskey(
	w http.ResponseWriter, r *site.Request, fields url.Values, next string,
	begin func() (accounts.PasskeyCeremony, error), finish func(accounts.NewPasskey) (user.User, error),
	again func(problem error) error,
) error {
	if !fields.Has(fieldAnswer) {
		ceremony, err := begin()
		r.Rejected = fault.Is(err, fault.Forbidden) || fault.Is(err, fault.Conflict)
		return p.ask(w, r, ceremony, err)
	}
	owner, err := finish(passkeyOf(w, r, fields))
	if err != nil {
		r.Rejected = r.Rejected || fault.Is(err, fault.Forbidden)
		return again(err)
	}
	return p.begin(w, r, owner.ID, token.Token{}, next)
}

// joinWithPasskey is join for a passkey. Forms with an answer, or with a name that is taken, count as failed sign-ins.
func (p *pages) joinWithPasskey(w http.ResponseWriter, r *site.Request, fields url.Values) error {
	use, code, name := p.Modules.Accounts.Passkeys, r.PathValue("code"), fields.Get("name")
	r.Rejected = fields.Has(fieldAnswer)
	return p.accountWithPasskey(w, r, fields, site.PathPastes,
		func() (accounts.PasskeyCeremony, error) { return use.BeginRegister(r.Context(), r.Actor(), code, name) },
		func(passkey accounts.NewPasskey) (user.User, error) {
			return use.Register(r.Context(), r.Actor(), code, passkey)
		},
		func(problem error) error {
			page := p.joinView(newAccount(r), joinPath(code), name, fault.MessageOf(problem))
			return site.FormAgain(w, r, problem, page)
		})
}

// setUpWithPasskey is setUp for a passkey.
func (p *pages) setUpWithPasskey(w http.ResponseWriter, r *site.Request, fields url.Values) error {
	use, code, name := p.Modules.Accounts.Passkeys, r.PathValue("code"), fields.Get("name")
	return p.accountWithPasskey(w, r, fields, site.PathAdmin,
		func() (accounts.PasskeyCeremony, error) { return use.BeginSetUp(r.Context(), r.Actor(), code, name) },
		func(passkey accounts.NewPasskey) (user.User, error) {
			return use.SetUp(r.Context(), r.Actor(), code, passkey)
		},
		func(problem error) error {
			page := p.setupView(linkPage(w, r, "Set up this server"), code, name, fault.MessageOf(problem))
			return site.FormAgain(w, r, problem, page)
		})
}

// resetWithPasskey is reset for a passkey.
func (p *pages) resetWithPasskey(w http.ResponseWriter, r *site.Request, fields url.Values) error {
	use, code := p.Modules.Accounts.Passkeys, r.PathValue("code")
	return p.accountWithPasskey(w, r, fields, pathSecurity,
		func() (accounts.PasskeyCeremony, error) { return use.BeginReset(r.Context(), r.Actor(), code) },
		func(passkey accounts.NewPasskey) (user.User, error) {
			return use.Reset(r.Context(), r.Actor(), code, passkey)
		},
		func(problem error) error { return problem })
}

// changePasskeys adds a passkey of the reader, or removes one.
func (p *pages) changePasskeys(w http.ResponseWriter, r *site.Request, fields url.Values) (err error) {
	use := p.Modules.Accounts.Passkeys
	switch id := fields.Get("remove"); {
	case id != "":
		err = use.RemoveOwn(r.Context(), r.Actor(), id)
	case !fields.Has(fieldAnswer):
		ceremony, err := use.BeginAdd(r.Context(), r.Actor())
		return p.ask(w, r, ceremony, err)
	default:
		err = use.Add(r.Context(), r.Actor(), passkeyOf(w, r, fields))
	}
	if fault.Is(err, fault.Invalid) || fault.Is(err, fault.Conflict) {
		return p.showSecurity(w, r, err)
	}
	return p.Done(w, pathSecurity, err)
}
