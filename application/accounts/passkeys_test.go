package accounts_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gluepot/gluepot/application/accounts"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
	"github.com/gluepot/gluepot/tests/modules"
)

// fakePasskeys stands for a browser and its device, without cryptography: an answer is the passkey with the challenge.
type fakePasskeys struct{ challenges atomic.Int64 }

type keyAnswer struct {
	Challenge string
	ID        identity.PasskeyID
	Counter   uint32
}

func (k *fakePasskeys) newChallenge() (identity.CeremonyOptions, error) {
	challenge := fmt.Sprint("challenge ", k.challenges.Add(1))
	return identity.CeremonyOptions{Challenge: challenge, JSON: []byte(challenge)}, nil
}

// BeginRegistration implements identity.Passkeys.
func (k *fakePasskeys) BeginRegistration(user.ID, string, []identity.Passkey) (identity.CeremonyOptions, error) {
	return k.newChallenge()
}

// BeginAuthentication implements identity.Passkeys.
func (k *fakePasskeys) BeginAuthentication() (identity.CeremonyOptions, error) {
	return k.newChallenge()
}

func parseAnswer(challenge string, answer []byte) (key keyAnswer, err error) {
	if json.Unmarshal(answer, &key) != nil || key.Challenge != challenge {
		err = identity.ErrPasskey
	}
	return key, err
}

// FinishRegistration implements identity.Passkeys.
func (k *fakePasskeys) FinishRegistration(challenge string, _ user.ID, answer []byte) (identity.Passkey, error) {
	key, err := parseAnswer(challenge, answer)
	return identity.Passkey{ID: key.ID, PublicKey: []byte{1}, Counter: key.Counter}, err
}

// FinishAuthentication implements identity.Passkeys.
func (k *fakePasskeys) FinishAuthentication(
	challenge string, answer []byte, find func(identity.PasskeyID) (identity.Passkey, user.ID, error),
) (identity.PasskeyID, uint32, error) {
	key, err := parseAnswer(challenge, answer)
	if err == nil {
		_, _, err = find(key.ID)
	}
	return key.ID, key.Counter, fault.Replace(err, fault.NotFound, identity.ErrPasskey)
}

// withPasskeys returns use cases with passkeys alone.
func withPasskeys(m *modules.Modules, registration accounts.Registration) *accounts.UseCases {
	return m.AccountsWith(accounts.Options{Registration: registration, Passkeys: new(fakePasskeys), Notify: m.Notify})
}

// answerTo returns a device's answer in a ceremony.
func answerTo(t *testing.T, ceremony accounts.PasskeyCeremony, id identity.PasskeyID, counter uint32) []byte {
	t.Helper()
	answer, err := json.Marshal(keyAnswer{string(ceremony.Options), id, counter})
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func newPasskey(t *testing.T, ceremony accounts.PasskeyCeremony, id identity.PasskeyID) accounts.NewPasskey {
	t.Helper()
	return accounts.NewPasskey{Secret: ceremony.Secret, Name: "phone", Answer: answerTo(t, ceremony, id, 1)}
}

// mustBegin fails the test if a ceremony cannot begin.
func mustBegin(t *testing.T) func(accounts.PasskeyCeremony, error) accounts.PasskeyCeremony {
	t.Helper()
	return func(ceremony accounts.PasskeyCeremony, err error) accounts.PasskeyCeremony {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return ceremony
	}
}

// newSession returns a viewer whose session has just begun.
func newSession(m *modules.Modules, u user.User) token.Viewer {
	return token.Viewer{User: u, Token: token.Token{ID: "session", Kind: token.Session, Owner: u.ID, CreatedAt: m.Clock()}}
}

// registerByPasskey registers a user with a passkey.
func registerByPasskey(t *testing.T, a *accounts.UseCases, name string, id identity.PasskeyID) user.User {
	t.Helper()
	ceremony := mustBegin(t)(a.Passkeys.BeginRegister(t.Context(), modules.By(visitor), "", name))
	created, err := a.Passkeys.Register(t.Context(), modules.By(visitor), "", newPasskey(t, ceremony, id))
	if err != nil {
		t.Fatal(err)
	}
	return created
}

// signInByPasskey signs in with a passkey.
func signInByPasskey(t *testing.T, a *accounts.UseCases, id identity.PasskeyID, counter uint32) (user.User, error) {
	t.Helper()
	ceremony := mustBegin(t)(a.Passkeys.BeginSignIn(t.Context(), modules.By(visitor)))
	return a.Passkeys.SignIn(t.Context(), modules.By(visitor), ceremony.Secret, answerTo(t, ceremony, id, counter))
}

func TestPasskeySignsIn(t *testing.T) {
	t.Parallel()
	m := modules.New()
	a := withPasskeys(m, accounts.Open)
	epoxy := registerByPasskey(t, a, "Epoxy", "first")
	if got, err := signInByPasskey(t, a, "first", 2); err != nil || got.ID != epoxy.ID {
		t.Errorf("got %v, %v, want %v", got, err, epoxy)
	}
	if _, err := signInByPasskey(t, a, "unknown", 2); !errors.Is(err, identity.ErrPasskey) {
		t.Errorf("an unknown passkey: got %v, want ErrPasskey", err)
	}
	_, err := signInByPasskey(t, a, "first", 2)
	if !errors.Is(err, identity.ErrCloned) || !fault.Is(err, fault.Forbidden) {
		t.Errorf("a counter that did not increase: got %v, want ErrCloned", err)
	}
	suspend(t, m, epoxy.ID)
	if _, err := signInByPasskey(t, a, "first", 3); !errors.Is(err, token.ErrSuspended) {
		t.Errorf("a suspended user: got %v, want ErrSuspended", err)
	}
}

// TestPasskeysOnce checks that no ceremony ends twice, late, for another purpose, or for another user.
func TestPasskeysOnce(t *testing.T) {
	t.Parallel()
	m := modules.New()
	a := withPasskeys(m, accounts.Open)
	epoxy, mortar := registerByPasskey(t, a, "Epoxy", "first"), registerByPasskey(t, a, "mortar", "second")
	wantRefused := func(what string, err error) {
		t.Helper()
		if !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: got %v, want fault.Invalid", what, err)
		}
	}
	ceremony := mustBegin(t)(a.Passkeys.BeginSignIn(t.Context(), modules.By(visitor)))
	answer := answerTo(t, ceremony, "first", 2)
	if _, err := a.Passkeys.SignIn(t.Context(), modules.By(visitor), ceremony.Secret, []byte("{}")); !errors.Is(err,
		identity.ErrPasskey) {
		t.Errorf("got %v, want ErrPasskey", err)
	}
	_, err := a.Passkeys.SignIn(t.Context(), modules.By(visitor), ceremony.Secret, answer)
	wantRefused("after a wrong answer", err)
	_, err = a.Passkeys.SignIn(t.Context(), modules.By(visitor), "", answer)
	wantRefused("without a secret", err)

	ceremony = mustBegin(t)(a.Passkeys.BeginSignIn(t.Context(), modules.By(visitor)))
	wantRefused("for another purpose",
		a.Passkeys.Add(t.Context(), modules.By(newSession(m, epoxy)), newPasskey(t, ceremony, "third")))
	ceremony = mustBegin(t)(a.Passkeys.BeginAdd(t.Context(), modules.By(newSession(m, epoxy))))
	wantRefused("of another user",
		a.Passkeys.Add(t.Context(), modules.By(newSession(m, mortar)), newPasskey(t, ceremony, "third")))
	ceremony = mustBegin(t)(a.Passkeys.BeginAdd(t.Context(), modules.By(newSession(m, epoxy))))
	m.Now = m.Now.Add(identity.CeremonyAge)
	wantRefused("late", a.Passkeys.Add(t.Context(), modules.By(newSession(m, epoxy)), newPasskey(t, ceremony, "third")))
	ceremony = mustBegin(t)(a.Passkeys.BeginAdd(t.Context(), modules.By(newSession(m, epoxy))))
	created := newPasskey(t, ceremony, "third")
	created.Name = "a\x00"
	wantRefused("a name that cannot be shown", a.Passkeys.Add(t.Context(), modules.By(newSession(m, epoxy)), created))
	credentials, err := a.Credentials.Own(t.Context(), newSession(m, epoxy))
	if err != nil || len(credentials.Passkeys) != 1 {
		t.Errorf("got %v, %v, want the first passkey alone", credentials.Passkeys, err)
	}
}

func TestOwnPasskeys(t *testing.T) {
	t.Parallel()
	m := modules.New()
	a := withPasskeys(m, accounts.Open)
	epoxy, mortar := registerByPasskey(t, a, "Epoxy", "first"), registerByPasskey(t, a, "mortar", "second")
	actor := modules.By(newSession(m, epoxy))
	if err := a.Passkeys.RemoveOwn(t.Context(), actor, "first"); !fault.Is(err, fault.Conflict) {
		t.Errorf("the last way in: got %v, want fault.Conflict", err)
	}
	ceremony := mustBegin(t)(a.Passkeys.BeginAdd(t.Context(), actor))
	if err := a.Passkeys.Add(t.Context(), actor, newPasskey(t, ceremony, "third")); err != nil {
		t.Fatal(err)
	}
	for _, id := range []identity.PasskeyID{"second", "third"} {
		ceremony = mustBegin(t)(a.Passkeys.BeginAdd(t.Context(), actor))
		if err := a.Passkeys.Add(t.Context(), actor, newPasskey(t, ceremony, id)); !errors.Is(err, identity.ErrPasskeyTaken) {
			t.Errorf("%s: got %v, want ErrPasskeyTaken", id, err)
		}
	}
	if err := a.Passkeys.RemoveOwn(t.Context(), modules.By(newSession(m, mortar)), "third"); err != nil {
		t.Errorf("a passkey of another user: got %v, want no error", err)
	}
	if got, err := signInByPasskey(t, a, "third", 2); err != nil || got.ID != epoxy.ID {
		t.Errorf("got %v, %v, want the passkey to stay", got, err)
	}
	late := newSession(m, epoxy)
	late.Token.CreatedAt = m.Clock().Add(-time.Hour)
	for what, viewer := range map[string]token.Viewer{"a visitor": visitor, "an old session": late} {
		if _, err := a.Passkeys.BeginAdd(t.Context(), modules.By(viewer)); !errors.Is(err, token.ErrRejected) {
			t.Errorf("%s begins: got %v, want token.ErrRejected", what, err)
		}
		if err := a.Passkeys.RemoveOwn(t.Context(), modules.By(viewer), "first"); !errors.Is(err, token.ErrRejected) {
			t.Errorf("%s removes: got %v, want token.ErrRejected", what, err)
		}
	}
	if err := a.Passkeys.RemoveOwn(t.Context(), actor, "first"); err != nil {
		t.Error(err)
	}
	if _, err := signInByPasskey(t, a, "first", 2); !errors.Is(err, identity.ErrPasskey) {
		t.Errorf("a passkey that was removed: got %v, want ErrPasskey", err)
	}
}

func TestPasskeyRegistration(t *testing.T) {
	t.Parallel()
	m := modules.New()
	closed := withPasskeys(m, accounts.Closed)
	_, err := closed.Passkeys.BeginRegister(t.Context(), modules.By(visitor), "", "epoxy")
	modules.WantKind(t, "closed", err, fault.Forbidden)
	a := withPasskeys(m, accounts.Open)
	registerByPasskey(t, a, "Epoxy", "first")
	if _, err := a.Passkeys.BeginRegister(t.Context(), modules.By(visitor), "", "EPOXY"); !fault.Is(err, fault.Conflict) {
		t.Errorf("a name that is taken: got %v, want fault.Conflict", err)
	}
	if _, err := a.Passkeys.BeginRegister(t.Context(), modules.By(visitor), "", "admin"); !fault.Is(err, fault.Invalid) {
		t.Errorf("an official name: got %v, want fault.Invalid", err)
	}
	ceremony := mustBegin(t)(a.Passkeys.BeginRegister(t.Context(), modules.By(visitor), "", "other"))
	_, err = a.Passkeys.Register(t.Context(), modules.By(visitor), "", newPasskey(t, ceremony, "first"))
	if !errors.Is(err, identity.ErrPasskeyTaken) {
		t.Errorf("a passkey of another user: got %v, want ErrPasskeyTaken", err)
	}
	off := withPasswords(m, accounts.Open)
	_, err = off.Passkeys.BeginRegister(t.Context(), modules.By(visitor), "", "other")
	if !errors.Is(err, identity.ErrNoPasskeys) {
		t.Errorf("passkeys turned off: got %v, want ErrNoPasskeys", err)
	}
	if _, err := off.Passkeys.BeginSignIn(t.Context(), modules.By(visitor)); !errors.Is(err, identity.ErrNoPasskeys) {
		t.Errorf("passkeys turned off: got %v, want ErrNoPasskeys", err)
	}
}

// TestPasskeyLinks uses the links of operators: for the first administrator, and for a user whose passkey is lost.
func TestPasskeyLinks(t *testing.T) {
	t.Parallel()
	m := modules.New()
	a := withPasskeys(m, accounts.Closed)
	code, err := a.SetUp.Begin(t.Context(), audit.Operator())
	if err != nil {
		t.Fatal(err)
	}
	first := mustBegin(t)(a.Passkeys.BeginSetUp(t.Context(), modules.By(visitor), code, "root"))
	second := mustBegin(t)(a.Passkeys.BeginSetUp(t.Context(), modules.By(visitor), code, "other"))
	root, err := a.Passkeys.SetUp(t.Context(), modules.By(visitor), code, newPasskey(t, first, "first"))
	if err != nil || !root.Admin {
		t.Fatalf("got %v, %v, want an administrator", root, err)
	}
	if _, err := a.Passkeys.SetUp(t.Context(), modules.By(visitor), code, newPasskey(t, second, "second")); !fault.Is(err,
		fault.Forbidden) {
		t.Errorf("a second administrator: got %v, want fault.Forbidden", err)
	}
	_, _, code, err = a.Reset.Offer(t.Context(), modules.By(newSession(m, root)), "root")
	if err != nil {
		t.Fatal(err)
	}
	first = mustBegin(t)(a.Passkeys.BeginReset(t.Context(), modules.By(visitor), code))
	second = mustBegin(t)(a.Passkeys.BeginReset(t.Context(), modules.By(visitor), code))
	if got, err := a.Passkeys.Reset(t.Context(), modules.By(visitor), code, newPasskey(t, first, "backup")); err != nil ||
		got.ID != root.ID {
		t.Errorf("got %v, %v, want the owner of the link", got, err)
	}
	if _, err := a.Passkeys.Reset(t.Context(), modules.By(visitor), code, newPasskey(t, second, "another")); !fault.Is(err,
		fault.Forbidden) {
		t.Errorf("a link used twice: got %v, want fault.Forbidden", err)
	}
	if got, err := signInByPasskey(t, a, "backup", 2); err != nil || got.ID != root.ID {
		t.Errorf("got %v, %v, want the owner", got, err)
	}
}
