package contract

import (
	"errors"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/user"
)

func newPasskey(id identity.PasskeyID, counter uint32) identity.Passkey {
	return identity.Passkey{
		ID: id, Name: "the phone of \u00fc", PublicKey: []byte{0, 1, 255}, Counter: counter, BackupEligible: true,
		CreatedAt: now,
	}
}

// withPasskeys changes the passkeys of ways in.
func withPasskeys(passkeys ...identity.Passkey) func(user.User, *identity.Credentials) error {
	return func(_ user.User, credentials *identity.Credentials) error {
		credentials.Passkeys = passkeys
		return nil
	}
}

func wantPasskeys(t *testing.T, s Store, owner user.ID, want ...identity.Passkey) {
	t.Helper()
	credentials, err := s.Identities.CredentialsOf(t.Context(), owner)
	must(t, err)
	for i := range want {
		want[i].CreatedAt = want[i].CreatedAt.UTC()
	}
	if len(credentials.Passkeys)+len(want) > 0 && !reflect.DeepEqual(credentials.Passkeys, want) {
		t.Errorf("got the passkeys %+v, want %+v", credentials.Passkeys, want)
	}
}

func changePasskeys(t *testing.T, s Store) {
	owner, other := withPassword(t, s, "owner", "$a"), storedUser(t, s, "other")
	session := startedSession(t, s, owner.ID, "", now)
	first, second := newPasskey("first-_", 7), newPasskey("second", 0)
	second.CreatedAt, second.BackupEligible = now.Add(time.Second), false
	must(t, s.Identities.ChangeCredentials(t.Context(), nowhere, owner.ID, "", withPasskeys(first)))
	wantPasskeys(t, s, owner.ID, first)
	must(t, s.Identities.ChangeCredentials(t.Context(), nowhere, owner.ID, "", withPasskeys(first, second)))
	wantPasskeys(t, s, owner.ID, first, second)
	wantPasskeys(t, s, other.ID)
	wantPassword(t, s, owner, "$a")
	wantSessions(t, s, owner.ID, session)

	u, holder, err := s.Identities.PasskeyByID(t.Context(), "first-_")
	must(t, err)
	want(t, "owner", holder, owner)
	first.CreatedAt = first.CreatedAt.UTC()
	if !reflect.DeepEqual(u, first) {
		t.Errorf("got %+v, want %+v", u, first)
	}
	for _, id := range []identity.PasskeyID{"", "FIRST-_", "unknown", "\x00"} {
		_, _, err = s.Identities.PasskeyByID(t.Context(), id)
		wantKind(t, err, fault.NotFound)
	}
	_, _, err = s.Identities.PasskeyByID(cancelled(t), "first-_")
	wantKind(t, err, fault.Unavailable)

	err = s.Identities.ChangeCredentials(t.Context(), nowhere, other.ID, "", withPasskeys(newPasskey("first-_", 1)))
	if !errors.Is(err, identity.ErrPasskeyTaken) {
		t.Errorf("a passkey of another user: got %v, want ErrPasskeyTaken", err)
	}
	wantPasskeys(t, s, other.ID)
	refusal := errors.New("refused")
	err = s.Identities.ChangeCredentials(t.Context(), nowhere, owner.ID, "",
		func(_ user.User, credentials *identity.Credentials) error {
			credentials.Passkeys = credentials.Passkeys[1:]
			return refusal
		})
	if !errors.Is(err, refusal) {
		t.Errorf("got %v, want the error of change", err)
	}
	wantPasskeys(t, s, owner.ID, first, second)
	must(t, s.Identities.ChangeCredentials(t.Context(), nowhere, owner.ID, "", withPasskeys(second)))
	wantPasskeys(t, s, owner.ID, second)
	_, err = s.Users.Import(t.Context(), []user.Import{{ID: owner.ID, Name: owner.Name, Identities: map[string]string{}}})
	must(t, err)
	wantPasskeys(t, s, owner.ID, second)

	must(t, s.Users.Delete(t.Context(), nowhere, unrecorded, owner.ID, owner.Name, nil))
	_, _, err = s.Identities.PasskeyByID(t.Context(), "second")
	wantKind(t, err, fault.NotFound)
}

func usePasskeys(t *testing.T, s Store) {
	owner := storedUser(t, s, "owner")
	counting, still := newPasskey("counting", 7), newPasskey("still", 0)
	still.CreatedAt = now.Add(time.Second)
	must(t, s.Identities.ChangeCredentials(t.Context(), nowhere, owner.ID, "", withPasskeys(counting, still)))
	for _, counter := range []uint32{7, 6, 0} {
		err := s.Identities.UsePasskey(t.Context(), nowhere, "counting", counter, now)
		if !errors.Is(err, identity.ErrCloned) {
			t.Errorf("the counter %d after 7: got %v, want ErrCloned", counter, err)
		}
	}
	wantPasskeys(t, s, owner.ID, counting, still)
	must(t, s.Identities.UsePasskey(t.Context(), nowhere, "counting", 1<<32-1, now))
	must(t, s.Identities.UsePasskey(t.Context(), nowhere, "still", 0, now))
	must(t, s.Identities.UsePasskey(t.Context(), nowhere, "still", 0, now.Add(time.Hour)))
	counting.Counter, counting.LastUsedAt, still.LastUsedAt = 1<<32-1, now.UTC(), now.Add(time.Hour).UTC()
	wantPasskeys(t, s, owner.ID, counting, still)
	must(t, s.Identities.UsePasskey(t.Context(), nowhere, "still", 1, now))
	wantKind(t, s.Identities.UsePasskey(t.Context(), nowhere, "still", 0, now), fault.Forbidden)
	wantKind(t, s.Identities.UsePasskey(t.Context(), nowhere, "unknown", 1, now), fault.NotFound)
	wantKind(t, s.Identities.UsePasskey(cancelled(t), nowhere, "counting", 9, now), fault.Unavailable)
}

func enrollWithPasskey(t *testing.T, s Store) {
	created := newUser(t, "owner")
	credentials := identity.Credentials{Passkeys: []identity.Passkey{newPasskey("first", 0)}}
	must(t, s.Identities.Enroll(t.Context(), nowhere, unrecorded, created, credentials, identity.Admission{}))
	wantPasskeys(t, s, created.ID, newPasskey("first", 0))
	err := s.Identities.Enroll(t.Context(), nowhere, unrecorded, newUser(t, "other"), credentials, identity.Admission{})
	if !errors.Is(err, identity.ErrPasskeyTaken) {
		t.Errorf("got %v, want ErrPasskeyTaken", err)
	}
	_, err = s.Users.ByName(t.Context(), parseName(t, "other"))
	wantKind(t, err, fault.NotFound)
}

func ceremonies(t *testing.T, s Store) {
	ofNew := identity.Ceremony{Purpose: "join", Challenge: "c-_\u00fc", Owner: "someone", Name: "mia"}
	hash, other := identity.HashOf("secret"), identity.HashOf("other")
	must(t, s.Identities.StoreCeremony(t.Context(), hash, ofNew, 10))
	must(t, s.Identities.StoreCeremony(t.Context(), other, identity.Ceremony{Purpose: "sign-in", Challenge: "d"}, 10))
	taken, err := s.Identities.TakeCeremony(t.Context(), hash)
	must(t, err)
	want(t, "ceremony", taken, ofNew)
	_, err = s.Identities.TakeCeremony(t.Context(), hash)
	wantKind(t, err, fault.NotFound)
	_, err = s.Identities.TakeCeremony(cancelled(t), other)
	wantKind(t, err, fault.Unavailable)
	wantKind(t, s.Identities.StoreCeremony(cancelled(t), hash, ofNew, 10), fault.Unavailable)
	must(t, s.Identities.StoreCeremony(t.Context(), hash, ofNew, 0)) // the other one goes
	_, err = s.Identities.TakeCeremony(t.Context(), other)
	wantKind(t, err, fault.NotFound)
	_, err = s.Identities.TakeCeremony(t.Context(), hash)
	must(t, err)
}

// passkeysMeet has several callers take one ceremony, and use one passkey with one counter.
func passkeysMeet(t *testing.T, s Store) {
	owner := storedUser(t, s, "owner")
	must(t, s.Identities.ChangeCredentials(t.Context(), nowhere, owner.ID, "", withPasskeys(newPasskey("first", 1))))
	must(t, s.Identities.StoreCeremony(t.Context(), identity.HashOf("secret"), identity.Ceremony{Challenge: "c"}, 10))
	const callers = 4
	var taken, used [callers]error
	var group sync.WaitGroup
	for i := range callers {
		group.Go(func() {
			_, taken[i] = s.Identities.TakeCeremony(t.Context(), identity.HashOf("secret"))
			used[i] = s.Identities.UsePasskey(t.Context(), nowhere, "first", 2, now)
		})
	}
	group.Wait()
	took, uses := 0, 0
	for i := range callers {
		if taken[i] == nil {
			took++
		} else {
			wantKind(t, taken[i], fault.NotFound)
		}
		if used[i] == nil {
			uses++
		} else {
			wantKind(t, used[i], fault.Forbidden)
		}
	}
	want(t, "callers that got the ceremony", took, 1)
	want(t, "uses of one counter", uses, 1)
}
