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

// keys is a browser and its device without cryptography: an answer is the passkey with the challenge.
type keys struct{ asked atomic.Int64 }

type keyAnswer struct {
	Challenge string
	ID        identity.PasskeyID
	Counter   uint32
}

func (k *keys) ask() (identity.CeremonyOptions, error) {
	challenge := fmt.Sprint("challenge ", k.asked.Add(1))
	return identity.CeremonyOptions{Challenge: challenge, JSON: []byte(challenge)}, nil
}

// BeginRegistration implements identity.Passkeys.
func (k *keys) BeginRegistration(user.ID, string, []identity.Passkey) (identity.CeremonyOptions, error) {
	return k.ask()
}

// BeginAuthentication implements identity.Passkeys.
func (k *keys) BeginAuthentication() (identity.CeremonyOptions, error) { return k.ask() }

func read(challenge string, answer []byte) (read keyAnswer, err error) {
	if json.Unmarshal(answer, &read) != nil || read.Challenge != challenge {
		err = identity.ErrPasskey
	}
	return read, err
}

// FinishRegistration implements identity.Passkeys.
func (k *keys) FinishRegistration(challenge string, _ user.ID, answer []byte) (identity.Passkey, error) {
	answered, err := read(challenge, answer)
	return identity.Passkey{ID: answered.ID, PublicKey: []byte{1}, Counter: answered.Counter}, err
}

// FinishAuthentication implements identity.Passkeys.
func (k *keys) FinishAuthentication(
	challenge string, answer []byte, find func(identity.PasskeyID) (identity.Passkey, user.ID, error),
) (identity.PasskeyID, uint32, error) {
	answered, err := read(challenge, answer)
	if err == nil {
		_, _, err = find(answered.ID)
	}
	return answered.ID, answered.Counter, fault.Replace(err, fault.NotFound, identity.ErrPasskey)
}

// withPasskeys returns accounts that have nothing but passkeys.
func withPasskeys(m *modules.Modules, who accounts.Registration) *accounts.UseCases {
	return m.AccountsWith(accounts.Options{Registration: who, Passkeys: new(keys), Notify: m.Notify})
}

// answerTo is what a device answers in a ceremony.
func answerTo(t *testing.T, begun accounts.PasskeyCeremony, id identity.PasskeyID, counter uint32) []byte {
	t.Helper()
	answer, err := json.Marshal(keyAnswer{string(begun.Options), id, counter})
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func newOf(t *testing.T, begun accounts.PasskeyCeremony, id identity.PasskeyID) accounts.NewPasskey {
	t.Helper()
	return accounts.NewPasskey{Secret: begun.Secret, Name: "phone", Answer: answerTo(t, begun, id, 1)}
}

// began fails the test when a ceremony could not begin.
func began(t *testing.T) func(accounts.PasskeyCeremony, error) accounts.PasskeyCeremony {
	t.Helper()
	return func(begun accounts.PasskeyCeremony, err error) accounts.PasskeyCeremony {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return begun
	}
}

// recently returns a viewer with a session that has just begun.
func recently(m *modules.Modules, u user.User) token.Viewer {
	return token.Viewer{User: u, Token: token.Token{ID: "session", Kind: token.Session, Owner: u.ID, CreatedAt: m.Clock()}}
}

// joined makes a user with a passkey.
func joined(t *testing.T, a *accounts.UseCases, name string, id identity.PasskeyID) user.User {
	t.Helper()
	begun := began(t)(a.Passkeys.BeginRegister(t.Context(), modules.By(visitor), "", name))
	created, err := a.Passkeys.Register(t.Context(), modules.By(visitor), "", newOf(t, begun, id))
	if err != nil {
		t.Fatal(err)
	}
	return created
}

// signsInBy signs in with a passkey.
func signsInBy(t *testing.T, a *accounts.UseCases, id identity.PasskeyID, counter uint32) (user.User, error) {
	t.Helper()
	begun := began(t)(a.Passkeys.BeginSignIn(t.Context(), modules.By(visitor)))
	return a.Passkeys.SignIn(t.Context(), modules.By(visitor), begun.Secret, answerTo(t, begun, id, counter))
}

func TestPasskeySignsIn(t *testing.T) {
	t.Parallel()
	m := modules.New()
	a := withPasskeys(m, accounts.Open)
	epoxy := joined(t, a, "Epoxy", "first")
	if got, err := signsInBy(t, a, "first", 2); err != nil || got.ID != epoxy.ID {
		t.Errorf("got %v, %v, want %v", got, err, epoxy)
	}
	if _, err := signsInBy(t, a, "unknown", 2); !errors.Is(err, identity.ErrPasskey) {
		t.Errorf("an unknown passkey: got %v, want ErrPasskey", err)
	}
	if _, err := signsInBy(t, a, "first", 2); !errors.Is(err, identity.ErrCloned) || !fault.Is(err, fault.Forbidden) {
		t.Errorf("a counter that has not gone on: got %v, want ErrCloned", err)
	}
	suspend(t, m, epoxy.ID)
	if _, err := signsInBy(t, a, "first", 3); !errors.Is(err, token.ErrSuspended) {
		t.Errorf("a user who is suspended: got %v, want ErrSuspended", err)
	}
}

// TestPasskeysOnce takes no ceremony twice, late, for another purpose, or of another user.
func TestPasskeysOnce(t *testing.T) {
	t.Parallel()
	m := modules.New()
	a := withPasskeys(m, accounts.Open)
	epoxy, mortar := joined(t, a, "Epoxy", "first"), joined(t, a, "mortar", "second")
	stale := func(what string, err error) {
		t.Helper()
		if !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: got %v, want it refused", what, err)
		}
	}
	begun := began(t)(a.Passkeys.BeginSignIn(t.Context(), modules.By(visitor)))
	answer := answerTo(t, begun, "first", 2)
	if _, err := a.Passkeys.SignIn(t.Context(), modules.By(visitor), begun.Secret, []byte("{}")); !errors.Is(err,
		identity.ErrPasskey) {
		t.Errorf("got %v, want ErrPasskey", err)
	}
	_, err := a.Passkeys.SignIn(t.Context(), modules.By(visitor), begun.Secret, answer)
	stale("after an answer that proves nothing", err)
	_, err = a.Passkeys.SignIn(t.Context(), modules.By(visitor), "", answer)
	stale("without a secret", err)

	begun = began(t)(a.Passkeys.BeginSignIn(t.Context(), modules.By(visitor)))
	stale("for another purpose", a.Passkeys.Add(t.Context(), modules.By(recently(m, epoxy)), newOf(t, begun, "third")))
	begun = began(t)(a.Passkeys.BeginAdd(t.Context(), modules.By(recently(m, epoxy))))
	stale("of another user", a.Passkeys.Add(t.Context(), modules.By(recently(m, mortar)), newOf(t, begun, "third")))
	begun = began(t)(a.Passkeys.BeginAdd(t.Context(), modules.By(recently(m, epoxy))))
	m.Now = m.Now.Add(identity.CeremonyAge)
	stale("late", a.Passkeys.Add(t.Context(), modules.By(recently(m, epoxy)), newOf(t, begun, "third")))
	begun = began(t)(a.Passkeys.BeginAdd(t.Context(), modules.By(recently(m, epoxy))))
	created := newOf(t, begun, "third")
	created.Name = "a\x00"
	stale("a name that cannot be shown", a.Passkeys.Add(t.Context(), modules.By(recently(m, epoxy)), created))
	credentials, err := a.Credentials.Own(t.Context(), recently(m, epoxy))
	if err != nil || len(credentials.Passkeys) != 1 {
		t.Errorf("got %v, %v, want the first passkey alone", credentials.Passkeys, err)
	}
}

func TestOwnPasskeys(t *testing.T) {
	t.Parallel()
	m := modules.New()
	a := withPasskeys(m, accounts.Open)
	epoxy, mortar := joined(t, a, "Epoxy", "first"), joined(t, a, "mortar", "second")
	actor := modules.By(recently(m, epoxy))
	if err := a.Passkeys.RemoveOwn(t.Context(), actor, "first"); !fault.Is(err, fault.Conflict) {
		t.Errorf("the last way in: got %v, want it to stay", err)
	}
	begun := began(t)(a.Passkeys.BeginAdd(t.Context(), actor))
	if err := a.Passkeys.Add(t.Context(), actor, newOf(t, begun, "third")); err != nil {
		t.Fatal(err)
	}
	for _, id := range []identity.PasskeyID{"second", "third"} {
		begun = began(t)(a.Passkeys.BeginAdd(t.Context(), actor))
		if err := a.Passkeys.Add(t.Context(), actor, newOf(t, begun, id)); !errors.Is(err, identity.ErrPasskeyTaken) {
			t.Errorf("%s: got %v, want that it is taken", id, err)
		}
	}
	if err := a.Passkeys.RemoveOwn(t.Context(), modules.By(recently(m, mortar)), "third"); err != nil {
		t.Errorf("a passkey of another user: got %v, want nothing to remove", err)
	}
	if got, err := signsInBy(t, a, "third", 2); err != nil || got.ID != epoxy.ID {
		t.Errorf("got %v, %v, want the passkey to stay", got, err)
	}
	late := recently(m, epoxy)
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
	if _, err := signsInBy(t, a, "first", 2); !errors.Is(err, identity.ErrPasskey) {
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
	joined(t, a, "Epoxy", "first")
	if _, err := a.Passkeys.BeginRegister(t.Context(), modules.By(visitor), "", "EPOXY"); !fault.Is(err, fault.Conflict) {
		t.Errorf("a name that is taken: got %v, want fault.Conflict", err)
	}
	if _, err := a.Passkeys.BeginRegister(t.Context(), modules.By(visitor), "", "admin"); !fault.Is(err, fault.Invalid) {
		t.Errorf("an official name: got %v, want fault.Invalid", err)
	}
	begun := began(t)(a.Passkeys.BeginRegister(t.Context(), modules.By(visitor), "", "other"))
	if _, err := a.Passkeys.Register(t.Context(), modules.By(visitor), "", newOf(t, begun, "first")); !errors.Is(err,
		identity.ErrPasskeyTaken) {
		t.Errorf("a passkey of another user: got %v, want ErrPasskeyTaken", err)
	}
	off := withPasswords(m, accounts.Open)
	_, err = off.Passkeys.BeginRegister(t.Context(), modules.By(visitor), "", "other")
	if !errors.Is(err, identity.ErrNoPasskeys) {
		t.Errorf("where they are off: got %v, want ErrNoPasskeys", err)
	}
	if _, err := off.Passkeys.BeginSignIn(t.Context(), modules.By(visitor)); !errors.Is(err, identity.ErrNoPasskeys) {
		t.Errorf("where they are off: got %v, want ErrNoPasskeys", err)
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
	first := began(t)(a.Passkeys.BeginSetUp(t.Context(), modules.By(visitor), code, "root"))
	second := began(t)(a.Passkeys.BeginSetUp(t.Context(), modules.By(visitor), code, "other"))
	root, err := a.Passkeys.SetUp(t.Context(), modules.By(visitor), code, newOf(t, first, "first"))
	if err != nil || !root.Admin {
		t.Fatalf("got %v, %v, want an administrator", root, err)
	}
	if _, err := a.Passkeys.SetUp(t.Context(), modules.By(visitor), code, newOf(t, second, "second")); !fault.Is(err,
		fault.Forbidden) {
		t.Errorf("got %v, want no second administrator", err)
	}
	_, _, code, err = a.Reset.Offer(t.Context(), modules.By(recently(m, root)), "root")
	if err != nil {
		t.Fatal(err)
	}
	first = began(t)(a.Passkeys.BeginReset(t.Context(), modules.By(visitor), code))
	second = began(t)(a.Passkeys.BeginReset(t.Context(), modules.By(visitor), code))
	if got, err := a.Passkeys.Reset(t.Context(), modules.By(visitor), code, newOf(t, first, "backup")); err != nil ||
		got.ID != root.ID {
		t.Errorf("got %v, %v, want the owner of the link", got, err)
	}
	if _, err := a.Passkeys.Reset(t.Context(), modules.By(visitor), code, newOf(t, second, "another")); !fault.Is(err,
		fault.Forbidden) {
		t.Errorf("got %v, want that the link works once", err)
	}
	if got, err := signsInBy(t, a, "backup", 2); err != nil || got.ID != root.ID {
		t.Errorf("got %v, %v, want the owner", got, err)
	}
}
