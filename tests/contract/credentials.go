package contract

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/user"
)

// What most callers pass: no address, and no entry for the audit log.
var (
	nowhere    netip.Addr
	unrecorded auditlog.Entry
)

// to changes the password of ways in.
func to(hash identity.PasswordHash) func(user.User, *identity.Credentials) error {
	return func(_ user.User, credentials *identity.Credentials) error {
		credentials.Password = hash
		return nil
	}
}

// withPassword stores a user with a password.
func withPassword(t *testing.T, s Store, name string, hash identity.PasswordHash) user.User {
	t.Helper()
	created := newUser(t, name)
	must(t, s.Identities.Enroll(t.Context(), nowhere, unrecorded, created, identity.Credentials{Password: hash},
		identity.Admission{}))
	created.CreatedAt = created.CreatedAt.UTC()
	return created
}

func wantPassword(t *testing.T, s Store, owner user.User, expected identity.PasswordHash) {
	t.Helper()
	found, hash, err := s.Identities.ByPassword(t.Context(), owner.Name)
	must(t, err)
	want(t, "user", found.ID, owner.ID)
	want(t, "password", hash, expected)
	credentials, err := s.Identities.CredentialsOf(t.Context(), owner.ID)
	must(t, err)
	want(t, "password among the ways in", credentials.Password, expected)
}

func passwords(t *testing.T, s Store) {
	owner := withPassword(t, s, "Owner", "$a$ü")
	found, _, err := s.Identities.ByPassword(t.Context(), parseName(t, "OWNER"))
	must(t, err)
	want(t, "user", found, owner)
	bare := storedUser(t, s, "bare")
	wantPassword(t, s, owner, "$a$ü")
	wantPassword(t, s, bare, "")
	_, hash, err := s.Identities.ByPassword(t.Context(), parseName(t, "unknown"))
	wantKind(t, err, fault.NotFound)
	want(t, "password of no user", hash, "")
	_, err = s.Identities.CredentialsOf(t.Context(), "unknown")
	wantKind(t, err, fault.NotFound)
	_, _, err = s.Identities.ByPassword(cancelled(t), owner.Name)
	wantKind(t, err, fault.Unavailable)
	_, err = s.Identities.CredentialsOf(cancelled(t), owner.ID)
	wantKind(t, err, fault.Unavailable)

	session := startedSession(t, s, owner.ID, "", now)
	must(t, s.Identities.Rehash(t.Context(), owner.ID, "other", "no"))
	wantPassword(t, s, owner, "$a$ü")
	wantKind(t, s.Identities.Rehash(cancelled(t), owner.ID, "$a$ü", "$b"), fault.Unavailable)
	must(t, s.Identities.Rehash(t.Context(), owner.ID, "$a$ü", "$b"))
	wantPassword(t, s, owner, "$b")
	must(t, s.Identities.Rehash(t.Context(), bare.ID, "", "$b"))
	wantPassword(t, s, bare, "")
	wantSessions(t, s, owner.ID, session)

	// It goes with its user, and no import brings a change.
	_, err = s.Users.Import(t.Context(), []user.Import{{ID: owner.ID, Name: owner.Name, Identities: map[string]string{}}})
	must(t, err)
	wantPassword(t, s, owner, "$b")
	must(t, s.Users.Delete(t.Context(), nowhere, unrecorded, owner.ID, owner.Name, nil))
	must(t, s.createUser(t.Context(), newUser(t, "owner"), nil))
	_, hash, err = s.Identities.ByPassword(t.Context(), owner.Name)
	must(t, err)
	want(t, "password of who has the name now", hash, "")
}

func changeCredentials(t *testing.T, s Store) {
	owner, other := withPassword(t, s, "owner", "$a"), storedUser(t, s, "other")
	access := storedToken(t, s, owner.ID)
	first, second := startedSession(t, s, owner.ID, "", now),
		startedSession(t, s, owner.ID, access.ID, now.Add(time.Second))
	others := startedSession(t, s, other.ID, "", now)

	// What leaves the password alone ends no session.
	must(t, s.Identities.ChangeCredentials(t.Context(), nowhere, owner.ID, "",
		func(u user.User, credentials *identity.Credentials) error {
			want(t, "user", u, owner)
			want(t, "password", credentials.Password, "$a")
			credentials.Identities["github"] = "77"
			return nil
		}))
	wantSessions(t, s, owner.ID, second, first)
	account, err := s.Users.AccountByID(t.Context(), owner.ID)
	must(t, err)
	if !maps.Equal(account.Identities, map[string]string{"github": "77"}) {
		t.Errorf("got the services %v, want the new one", account.Identities)
	}
	refusal := errors.New("refused")
	err = s.Identities.ChangeCredentials(t.Context(), nowhere, owner.ID, "",
		func(_ user.User, credentials *identity.Credentials) error {
			credentials.Password = "$no"
			delete(credentials.Identities, "github")
			return refusal
		})
	if !errors.Is(err, refusal) {
		t.Errorf("got %v, want the error of change", err)
	}
	wantServiceTaken(t, s.Identities.ChangeCredentials(t.Context(), nowhere, other.ID, "",
		func(_ user.User, credentials *identity.Credentials) error {
			credentials.Password, credentials.Identities["github"] = "$no", "77"
			return nil
		}))
	wantPassword(t, s, other, "")
	wantKind(t, s.Identities.ChangeCredentials(t.Context(), nowhere, "unknown", "", to("$b")), fault.NotFound)
	wantKind(t, s.Identities.ChangeCredentials(cancelled(t), nowhere, owner.ID, "", to("$b")), fault.Unavailable)
	wantPassword(t, s, owner, "$a")
	wantSessions(t, s, owner.ID, second, first)

	must(t, s.Identities.ChangeCredentials(t.Context(), nowhere, owner.ID, first.ID, to("$b")))
	wantPassword(t, s, owner, "$b")
	wantSessions(t, s, owner.ID, first)
	must(t, s.Identities.ChangeCredentials(t.Context(), nowhere, owner.ID, "", to("")))
	wantPassword(t, s, owner, "")
	wantSessions(t, s, owner.ID)
	wantSessions(t, s, other.ID, others)
	if _, _, err := s.Tokens.ByHash(t.Context(), access.Hash); err != nil {
		t.Errorf("got %v, want the access token as it was", err)
	}
	// Unlinked here: an import does not link it again.
	must(t, s.Identities.ChangeCredentials(t.Context(), nowhere, owner.ID, "",
		func(_ user.User, credentials *identity.Credentials) error {
			delete(credentials.Identities, "github")
			return nil
		}))
	_, err = s.Users.Import(t.Context(), []user.Import{{ID: owner.ID, Name: owner.Name,
		Identities: map[string]string{"github": "77"}}})
	must(t, err)
	credentials, err := s.Identities.CredentialsOf(t.Context(), owner.ID)
	must(t, err)
	want(t, "accounts", len(credentials.Identities), 0)
}

var errLastWay = fault.New(fault.Conflict, "the last one")

// waysMeet has callers take the last two ways in at once: one of them stays.
func credentialsMeet(t *testing.T, s Store) {
	for i := range 5 {
		owner := newUser(t, fmt.Sprint("owner", i))
		credentials := identity.Credentials{Password: "$a", Identities: map[string]string{"github": fmt.Sprint(i)}}
		must(t, s.Identities.Enroll(t.Context(), nowhere, unrecorded, owner, credentials, identity.Admission{}))
		wantOneWinner(t, meet(func(caller int) error {
			return s.Identities.ChangeCredentials(t.Context(), nowhere, owner.ID, "",
				func(_ user.User, credentials *identity.Credentials) error {
					if credentials.Password == "" || len(credentials.Identities) == 0 {
						return errLastWay
					}
					if caller%2 == 0 {
						credentials.Password = ""
					} else {
						delete(credentials.Identities, "github")
					}
					return nil
				})
		}), fault.Conflict)
	}
}

// newLink stores a one-time link for an owner, or for the first administrator.
func newLink(t *testing.T, s Store, code string, owner user.ID, expires time.Time) identity.Hash {
	t.Helper()
	hash := identity.HashOf(code)
	must(t, s.Identities.StoreLink(t.Context(), unrecorded,
		identity.OneTimeLink{Hash: hash, Owner: owner, ExpiresAt: expires}))
	return hash
}

func wantNoLink(t *testing.T, s Store, hash identity.Hash) {
	t.Helper()
	_, err := s.Identities.LinkByHash(t.Context(), hash)
	wantKind(t, err, fault.NotFound)
	_, err = s.Identities.UseLink(t.Context(), nowhere, unrecorded, hash, to("$no"))
	wantKind(t, err, fault.NotFound)
}

func oneTimeLinks(t *testing.T, s Store) {
	owner, other := withPassword(t, s, "owner", "$a"), storedUser(t, s, "other")
	hash, second := newLink(t, s, "code", owner.ID, later), newLink(t, s, "another", owner.ID, later)
	others := newLink(t, s, "other", other.ID, later)
	for range 2 { // reading does not use it
		tok, err := s.Identities.LinkByHash(t.Context(), hash)
		must(t, err)
		want(t, "owner", tok.Owner, owner.ID)
		want(t, "end", tok.ExpiresAt.Unix(), later.Unix())
	}
	_, err := s.Identities.LinkByHash(cancelled(t), hash)
	wantKind(t, err, fault.Unavailable)
	link := identity.OneTimeLink{Hash: identity.HashOf("x"), Owner: "unknown", ExpiresAt: later}
	wantKind(t, s.Identities.StoreLink(t.Context(), unrecorded, link), fault.NotFound)
	wantKind(t, s.Identities.StoreLink(cancelled(t), unrecorded, link), fault.Unavailable)
	wantNoLink(t, s, link.Hash)
	wantNoLink(t, s, newLink(t, s, "expired", owner.ID, time.Now().Add(-time.Second)))

	session, others2 := startedSession(t, s, owner.ID, "", now), startedSession(t, s, other.ID, "", now)
	_, err = s.Identities.UseLink(t.Context(), nowhere, unrecorded, hash, func(user.User, *identity.Credentials) error {
		return errLastWay
	})
	wantKind(t, err, fault.Conflict)
	_, err = s.Identities.UseLink(cancelled(t), nowhere, unrecorded, hash, to("$no"))
	wantKind(t, err, fault.Unavailable)
	wantPassword(t, s, owner, "$a")
	wantSessions(t, s, owner.ID, session)
	used, err := s.Identities.UseLink(t.Context(), nowhere, unrecorded, hash, to("$a")) // the same one ends sessions, too
	must(t, err)
	want(t, "owner", used, owner)
	wantSessions(t, s, owner.ID)
	wantSessions(t, s, other.ID, others2)
	wantNoLink(t, s, hash)
	wantNoLink(t, s, second)
	_, err = s.Identities.UseLink(t.Context(), nowhere, unrecorded, others, to("$c"))
	must(t, err)
	wantPassword(t, s, other, "$c")

	kept := newLink(t, s, "kept", owner.ID, later)
	must(t, s.Users.Delete(t.Context(), nowhere, unrecorded, owner.ID, owner.Name, nil))
	wantNoLink(t, s, kept)
}

// linksMeet has callers use two links of one user at once.
func linksMeet(t *testing.T, s Store) {
	for i := range 5 {
		owner := storedUser(t, s, fmt.Sprint("owner", i))
		links := []identity.Hash{
			newLink(t, s, fmt.Sprint("a", i), owner.ID, later), newLink(t, s, fmt.Sprint("b", i), owner.ID, later),
		}
		wantOneWinner(t, meet(func(caller int) error {
			_, err := s.Identities.UseLink(t.Context(), nowhere, unrecorded, links[caller%2],
				to(identity.PasswordHash(fmt.Sprint(caller))))
			return err
		}), fault.NotFound)
	}
}

func enroll(t *testing.T, s Store) {
	invited := newInvitation(t, s, "code", 1, later)
	storedUser(t, s, "former")
	must(t, renamed(t, s, "former", "renamed"))
	chosen := identity.Admission{Chosen: true, Invitation: invited.ID}
	wantOtherConflict(t, s.Identities.Enroll(t.Context(), nowhere, unrecorded, newUser(t, "former"),
		identity.Credentials{Password: "$a"}, chosen))
	wantOtherConflict(t, s.Identities.Enroll(t.Context(), nowhere, unrecorded, newUser(t, "renamed"),
		identity.Credentials{Password: "$a"}, chosen))
	created := newUser(t, "created")
	err := s.Identities.Enroll(cancelled(t), nowhere, unrecorded, created, identity.Credentials{Password: "$a"}, chosen)
	wantKind(t, err, fault.Unavailable)
	want(t, "uses left", usesLeft(t, s, "code"), 1)
	must(t, s.Identities.Enroll(t.Context(), nowhere, unrecorded, created, identity.Credentials{Password: "$a"}, chosen))
	wantPassword(t, s, created, "$a")
	want(t, "uses left", usesLeft(t, s, "code"), 0)
	for _, invitation := range []identity.InvitationID{invited.ID, "unknown"} {
		another := newUser(t, "another")
		err := s.Identities.Enroll(
			t.Context(),
			nowhere,
			unrecorded,
			another,
			identity.Credentials{Password: "$a"},
			identity.Admission{Chosen: true, Invitation: invitation},
		)
		if !errors.Is(err, identity.ErrInvitation) {
			t.Errorf("got %v, want %v", err, identity.ErrInvitation)
		}
		_, err = s.Users.ByName(t.Context(), another.Name)
		wantKind(t, err, fault.NotFound)
	}
	// operators may
	must(t, s.Identities.Enroll(t.Context(), nowhere, unrecorded, newUser(t, "former"), identity.Credentials{},
		identity.Admission{}))
	clash := newUser(t, "clash")
	clash.ID = created.ID
	wantIDTaken(t, s.Identities.Enroll(t.Context(), nowhere, unrecorded, clash, identity.Credentials{Password: "$b"},
		identity.Admission{}))
	wantPassword(t, s, created, "$a")
}

func newAdministrator(t *testing.T, name string) user.User {
	t.Helper()
	created := newUser(t, name)
	created.Admin = true
	return created
}

func firstAdministrator(t *testing.T, s Store) {
	setup := newLink(t, s, "first", "", later)
	expired := newLink(t, s, "expired", "", time.Now().Add(-time.Second))
	reset := newLink(t, s, "reset", storedUser(t, s, "member").ID, later)
	credentials := identity.Credentials{Password: "$a"}
	for _, wrong := range []identity.Hash{expired, reset, identity.HashOf("unknown")} {
		wantKind(
			t,
			s.Identities.Enroll(t.Context(), nowhere, unrecorded, newAdministrator(t, "root"), credentials,
				identity.Admission{Setup: wrong}),
			fault.NotFound,
		)
	}
	_, err := s.Identities.UseLink(t.Context(), nowhere, unrecorded, setup, to("$no")) // it is nobody's
	wantKind(t, err, fault.NotFound)
	tok, err := s.Identities.LinkByHash(t.Context(), setup)
	must(t, err)
	want(t, "owner", tok.Owner, "")
	wantOtherConflict(
		t,
		s.Identities.Enroll(t.Context(), nowhere, unrecorded, newAdministrator(t, "member"), credentials,
			identity.Admission{Setup: setup}),
	)
	second := newLink(t, s, "of another node", "", later)
	must(t, s.Identities.Enroll(t.Context(), nowhere, unrecorded, newAdministrator(t, "root"), credentials,
		identity.Admission{Setup: setup}))
	administered := func(what string) {
		t.Helper()
		for _, link := range []identity.Hash{setup, second} {
			wantNoLink(t, s, link)
			err := s.Identities.Enroll(t.Context(), nowhere, unrecorded, newAdministrator(t, "again"), credentials,
				identity.Admission{Setup: link})
			if !errors.Is(err, identity.ErrAdministratorExists) {
				t.Errorf("%s: got %v, want %v", what, err, identity.ErrAdministratorExists)
			}
		}
		err := s.Identities.StoreLink(t.Context(), unrecorded,
			identity.OneTimeLink{Hash: identity.HashOf("late"), ExpiresAt: later})
		if !errors.Is(err, identity.ErrAdministratorExists) {
			t.Errorf("%s: got %v, want %v", what, err, identity.ErrAdministratorExists)
		}
	}
	administered("after its use")
	if _, err := s.Identities.LinkByHash(t.Context(), reset); err != nil {
		t.Errorf("got %v, want the link of a user to stay", err)
	}

	// Each way to an administrator ends the links, and none comes back when there is no administrator any more.
	set := func(name string, admin bool) {
		t.Helper()
		_, _, err := s.Users.Update(t.Context(), nowhere, unrecorded, idOfName(t, s, name),
			func(u *user.User, _ map[string]string) error {
				u.Admin = admin
				return nil
			})
		must(t, err)
	}
	set("root", false)
	third := newLink(t, s, "third", "", later)
	set("member", true)
	set("member", false)
	wantNoLink(t, s, third)
	fourth := newLink(t, s, "fourth", "", later)
	operators := newAdministrator(t, "operators")
	must(t, s.Identities.Enroll(t.Context(), nowhere, unrecorded, operators, identity.Credentials{}, identity.Admission{}))
	wantNoLink(t, s, fourth)
	must(t, s.Users.Delete(t.Context(), nowhere, unrecorded, operators.ID, operators.Name, nil))
	newLink(t, s, "fifth", "", later)
}

// firstAdministratorsMeet has callers with one link, and with links of two nodes.
func firstAdministratorsMeet(t *testing.T, s Store) {
	links := []identity.Hash{newLink(t, s, "a", "", later), newLink(t, s, "b", "", later)}
	wantOneWinner(t, meet(func(caller int) error {
		created := newAdministrator(t, fmt.Sprint("root", caller))
		return s.Identities.Enroll(
			t.Context(),
			nowhere,
			unrecorded,
			created,
			identity.Credentials{Password: "$a"},
			identity.Admission{Setup: links[caller%2]},
		)
	}), fault.Conflict)
}

func guesses(t *testing.T, s Store) {
	for _, name := range []string{"known", "", "nobody\x00\xff"} {
		for range identity.Guesses {
			must(t, s.Identities.TakeGuess(t.Context(), nowhere, name))
		}
		for range 2 {
			if err := s.Identities.TakeGuess(t.Context(), nowhere, name); !errors.Is(err, identity.ErrTooManyGuesses) {
				t.Fatalf("%q: got %v, want %v", name, err, identity.ErrTooManyGuesses)
			}
		}
		must(t, s.Identities.ReturnGuess(t.Context(), name))
		must(t, s.Identities.TakeGuess(t.Context(), nowhere, name))
		wantKind(t, s.Identities.TakeGuess(t.Context(), nowhere, name), fault.Exhausted)
	}
	must(t, s.Identities.ReturnGuess(t.Context(), "never taken"))
	for range identity.Guesses {
		must(t, s.Identities.TakeGuess(t.Context(), nowhere, "never taken"))
	}
	wantKind(t, s.Identities.TakeGuess(t.Context(), nowhere, "never taken"), fault.Exhausted)
	wantKind(t, s.Identities.TakeGuess(cancelled(t), nowhere, "other"), fault.Unavailable)
	wantKind(t, s.Identities.ReturnGuess(cancelled(t), "known"), fault.Unavailable)
	allowed := 0
	for _, err := range meet(func(int) error {
		for range identity.Guesses {
			if err := s.Identities.TakeGuess(t.Context(), nowhere, "met"); err != nil {
				return err
			}
		}
		return nil
	}) {
		if err == nil {
			allowed++
		}
	}
	if allowed > 1 {
		t.Errorf("got %d callers with all guesses, want one at most", allowed)
	}
}
