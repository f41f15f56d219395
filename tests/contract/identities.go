package contract

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/user"
)

func wantServiceTaken(t *testing.T, err error) {
	t.Helper()
	wantOtherConflict(t, err)
	// commands print the whole text
	if !errors.Is(err, user.ErrIdentityTaken) || err.Error() != user.ErrIdentityTaken.Error() {
		t.Errorf("got %v, want %v alone", err, user.ErrIdentityTaken)
	}
}

func identityTaken(t *testing.T, s Store) {
	owner, other := newUser(t, "owner"), storedUser(t, s, "other")
	must(t, s.createUser(t.Context(), owner,
		map[string]string{"github": "77", "oidc@https://a.example": "77"}))
	for key, subjects := range map[string][]string{
		"github": {"77"}, "oidc@https://a.example": {"77"}, "oidc@https://b.example": nil, "GitHub": nil,
	} {
		for _, subject := range []string{"77", "7", "", "a\x00b", "\xff"} {
			found, err := s.Identities.ByIdentity(t.Context(), identity.Identity{Key: key, Subject: subject})
			if len(subjects) > 0 && subjects[0] == subject {
				must(t, err)
				want(t, "user of "+key, found.ID, owner.ID)
			} else {
				wantKind(t, err, fault.NotFound)
			}
		}
	}
	_, err := s.Identities.ByIdentity(cancelled(t), identity.Identity{Key: "github", Subject: "77"})
	wantKind(t, err, fault.Unavailable)

	third := newUser(t, "third")
	wantServiceTaken(t, s.createUser(t.Context(), third, map[string]string{"github": "77"}))
	_, _, err = s.Users.Update(t.Context(), nowhere, unrecorded, other.ID,
		func(u *user.User, services map[string]string) error {
			u.Contributor, services["github"] = false, "77"
			return nil
		})
	wantServiceTaken(t, err)
	unchanged, err := s.Users.AccountByID(t.Context(), other.ID)
	must(t, err)
	want(t, "contributor", unchanged.Contributor, other.Contributor)
	want(t, "services", len(unchanged.Identities), 0)
	results, err := s.Users.Import(t.Context(), []user.Import{
		{ID: other.ID, Name: other.Name, Identities: map[string]string{"github": "77"}},
		{ID: third.ID, Name: third.Name, Identities: map[string]string{"github": "78"}, CreatedAt: now},
	})
	must(t, err)
	wantServiceTaken(t, results[0].Err)
	must(t, results[1].Err)

	must(t, s.Users.Delete(t.Context(), nowhere, unrecorded, owner.ID, owner.Name, nil))
	_, err = s.Identities.ByIdentity(t.Context(), identity.Identity{Key: "github", Subject: "77"})
	wantKind(t, err, fault.NotFound)
}

// begun is an attempt at a provider.
var begun = identity.Attempt{
	Provider: "oidc", Proof: identity.Proof{State: "s", Nonce: "n", Verifier: "v"}, Next: "/a?b=c", Invitation: "inv1",
	Link: "user1",
}

// vouched is an attempt to sign up.
func vouched(subject string, invitation identity.InvitationID) identity.Attempt {
	return identity.Attempt{Provider: "oidc", Next: "/pastes", Invitation: invitation, Profile: identity.Profile{
		Identity: identity.Identity{Key: "oidc@https://a.example", Subject: subject}, Name: "ann",
		AvatarURL: "https://a.example/ü.png",
	}}
}

func attempts(t *testing.T, s Store) {
	for i, kept := range []identity.Attempt{begun, vouched("1", ""), {}} {
		hash := identity.HashOf(fmt.Sprint(i))
		must(t, s.Identities.StoreAttempt(t.Context(), nowhere, hash, kept, identity.MaxAttempts))
		for range 2 {
			found, err := s.Identities.Attempt(t.Context(), hash)
			must(t, err)
			want(t, "attempt", found, kept)
		}
		_, err := s.Identities.TakeAttempt(cancelled(t), nowhere, hash)
		wantKind(t, err, fault.Unavailable)
		found, err := s.Identities.TakeAttempt(t.Context(), nowhere, hash)
		must(t, err)
		want(t, "attempt taken", found, kept)
		_, err = s.Identities.TakeAttempt(t.Context(), nowhere, hash)
		wantKind(t, err, fault.NotFound)
		found, err = s.Identities.Attempt(t.Context(), hash)
		wantKind(t, err, fault.NotFound)
		want(t, "no attempt", found, identity.Attempt{})
	}
	wantKind(t, s.Identities.StoreAttempt(cancelled(t), nowhere, identity.HashOf("x"), begun, identity.MaxAttempts),
		fault.Unavailable)
	_, err := s.Identities.Attempt(cancelled(t), identity.HashOf("x"))
	wantKind(t, err, fault.Unavailable)
}

// attemptsAreBounded begins more of them than there may be.
func attemptsAreBounded(t *testing.T, s Store) {
	for i := range 5 {
		must(t, s.Identities.StoreAttempt(t.Context(), nowhere, identity.HashOf(fmt.Sprint(i)), begun, 2))
	}
	for i := range 5 {
		if _, err := s.Identities.Attempt(t.Context(), identity.HashOf(fmt.Sprint(i))); (err == nil) != (i > 1) {
			t.Errorf("attempt %d: got %v, want the last three kept", i, err)
		}
	}
}

// together runs as many callers at once, and returns how many had no error.
func together(callers int, call func(i int) error) (well int, failures []error) {
	var group sync.WaitGroup
	var mu sync.Mutex
	for i := range callers {
		group.Go(func() {
			err := call(i)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				well++
			} else {
				failures = append(failures, err)
			}
		})
	}
	group.Wait()
	return well, failures
}

func attemptsMeet(t *testing.T, s Store) {
	must(t, s.Identities.StoreAttempt(t.Context(), nowhere, identity.HashOf("a"), begun, identity.MaxAttempts))
	well, failures := together(4, func(int) error {
		_, err := s.Identities.TakeAttempt(t.Context(), nowhere, identity.HashOf("a"))
		return err
	})
	want(t, "callers who got it", well, 1)
	for _, err := range failures {
		wantKind(t, err, fault.NotFound)
	}
}

func newInvitation(t *testing.T, s Store, code string, uses int, expires time.Time) identity.Invitation {
	t.Helper()
	created := identity.Invitation{
		ID: identity.InvitationID(ident.New()), Hash: identity.HashOf(code), Uses: uses, Note: "für " + code, CreatedAt: now,
		ExpiresAt: expires,
	}
	must(t, s.Identities.StoreInvitation(t.Context(), unrecorded, created))
	return created
}

func usesLeft(t *testing.T, s Store, code string) int {
	t.Helper()
	tok, err := s.Identities.InvitationByHash(t.Context(), identity.HashOf(code))
	must(t, err)
	return tok.Uses
}

func signUp(t *testing.T, s Store) {
	invited := newInvitation(t, s, "code", 2, later)
	for i, invitation := range []identity.InvitationID{"", invited.ID, invited.ID} {
		hash, created := identity.HashOf(fmt.Sprint(i)), newUser(t, fmt.Sprint("ann", i))
		must(t, s.Identities.StoreAttempt(t.Context(), nowhere, hash, vouched(fmt.Sprint("s", i), invitation),
			identity.MaxAttempts))
		wantKind(t, s.Identities.SignUp(cancelled(t), nowhere, hash, created), fault.Unavailable)
		must(t, s.Identities.SignUp(t.Context(), nowhere, hash, created))
		u, err := s.Identities.ByIdentity(t.Context(), vouched(fmt.Sprint("s", i), "").Profile.Identity)
		must(t, err)
		created.CreatedAt = created.CreatedAt.UTC()
		want(t, "user", u, created)
		want(t, "uses left", usesLeft(t, s, "code"), 2-i)
		wantKind(t, s.Identities.SignUp(t.Context(), nowhere, hash, newUser(t, "again")), fault.NotFound)
	}
}

func signUpRefused(t *testing.T, s Store) {
	taken := newUser(t, "taken")
	must(t, s.createUser(t.Context(), taken, map[string]string{"oidc@https://a.example": "theirs"}))
	usedUp, old := newInvitation(t, s, "used up", 0, later), newInvitation(t, s, "old", 1, now)
	fresh, hash := newInvitation(t, s, "fresh", 1, later), identity.HashOf("a")
	keep := func(attempt identity.Attempt) {
		t.Helper()
		_, err := s.Identities.TakeAttempt(t.Context(), nowhere, hash)
		if err != nil {
			wantKind(t, err, fault.NotFound)
		}
		must(t, s.Identities.StoreAttempt(t.Context(), nowhere, hash, attempt, identity.MaxAttempts))
	}
	keep(vouched("mine", fresh.ID))
	wantOtherConflict(t, s.Identities.SignUp(t.Context(), nowhere, hash, newUser(t, "TAKEN")))
	other := newUser(t, "other")
	other.ID = taken.ID
	wantIDTaken(t, s.Identities.SignUp(t.Context(), nowhere, hash, other))
	want(t, "uses left", usesLeft(t, s, "fresh"), 1)
	keep(vouched("theirs", fresh.ID))
	wantServiceTaken(t, s.Identities.SignUp(t.Context(), nowhere, hash, newUser(t, "other")))
	want(t, "uses left", usesLeft(t, s, "fresh"), 1)
	for _, invitation := range []identity.InvitationID{usedUp.ID, old.ID, "gone"} {
		keep(vouched("mine", invitation))
		err := s.Identities.SignUp(t.Context(), nowhere, hash, newUser(t, "other"))
		if !errors.Is(err, identity.ErrInvitation) {
			t.Errorf("got %v, want %v", err, identity.ErrInvitation)
		}
	}
	_, err := s.Users.ByName(t.Context(), parseName(t, "other"))
	wantKind(t, err, fault.NotFound)
	_, err = s.Identities.Attempt(t.Context(), hash) // goes on
	must(t, err)
}

func signUpsMeet(t *testing.T, s Store) {
	invited := newInvitation(t, s, "code", 1, later)
	const callers = 4
	for i := range callers {
		must(t, s.Identities.StoreAttempt(t.Context(), nowhere, identity.HashOf(fmt.Sprint("same", i)), vouched("same", ""),
			identity.MaxAttempts))
		must(
			t,
			s.Identities.StoreAttempt(
				t.Context(),
				nowhere,
				identity.HashOf(fmt.Sprint("name", i)),
				vouched(fmt.Sprint("name", i), ""),
				identity.MaxAttempts,
			),
		)
		byCode := vouched(fmt.Sprint("code", i), invited.ID)
		must(t, s.Identities.StoreAttempt(t.Context(), nowhere, identity.HashOf(fmt.Sprint("code", i)), byCode,
			identity.MaxAttempts))
	}
	well, failures := together(callers, func(i int) error {
		return s.Identities.SignUp(t.Context(), nowhere, identity.HashOf(fmt.Sprint("same", i)),
			newUser(t, fmt.Sprint("ann", i)))
	})
	want(t, "accounts of one identity", well, 1)
	for _, err := range failures {
		wantServiceTaken(t, err)
	}
	well, failures = together(callers, func(i int) error {
		return s.Identities.SignUp(t.Context(), nowhere, identity.HashOf(fmt.Sprint("name", i)), newUser(t, "bob"))
	})
	want(t, "accounts of one name", well, 1)
	for _, err := range failures {
		wantOtherConflict(t, err)
	}
	well, failures = together(callers, func(i int) error {
		return s.Identities.SignUp(t.Context(), nowhere, identity.HashOf(fmt.Sprint("code", i)),
			newUser(t, fmt.Sprint("cid", i)))
	})
	want(t, "accounts of one invitation", well, 1)
	for _, err := range failures {
		wantKind(t, err, fault.Forbidden)
	}
	want(t, "uses left", usesLeft(t, s, "code"), 0)
}

func invitations(t *testing.T, s Store) {
	all, err := s.Identities.Invitations(t.Context())
	must(t, err)
	if all == nil || len(all) != 0 {
		t.Errorf("got %#v, want an empty list that is not nil", all)
	}
	first, second := newInvitation(t, s, "first", 3, later), newInvitation(t, s, "second", 1, later.Add(time.Hour))
	again := second
	again.Hash = identity.HashOf("another")
	wantIDTaken(t, s.Identities.StoreInvitation(t.Context(), unrecorded, again))
	again.ID, again.Hash = "another", second.Hash
	wantOtherConflict(t, s.Identities.StoreInvitation(t.Context(), unrecorded, again))
	wantKind(t, s.Identities.StoreInvitation(cancelled(t), unrecorded, again), fault.Unavailable)
	tok, err := s.Identities.InvitationByHash(t.Context(), first.Hash)
	must(t, err)
	want(t, "created", tok.CreatedAt, now.UTC())
	want(t, "expires", tok.ExpiresAt.Truncate(time.Microsecond), later.UTC().Truncate(time.Microsecond))
	tok.CreatedAt, tok.ExpiresAt = first.CreatedAt, first.ExpiresAt
	want(t, "invitation", tok, first)
	_, err = s.Identities.InvitationByHash(t.Context(), identity.HashOf("third"))
	wantKind(t, err, fault.NotFound)
	_, err = s.Identities.InvitationByHash(cancelled(t), first.Hash)
	wantKind(t, err, fault.Unavailable)
	for _, id := range unstorable {
		wantKind(t, s.Identities.RemoveInvitation(t.Context(), unrecorded, identity.InvitationID(id)), fault.NotFound)
	}
	wantKind(t, s.Identities.RemoveInvitation(cancelled(t), unrecorded, first.ID), fault.Unavailable)
	must(t, s.Identities.RemoveInvitation(t.Context(), unrecorded, first.ID))
	wantKind(t, s.Identities.RemoveInvitation(t.Context(), unrecorded, first.ID), fault.NotFound)
	all, err = s.Identities.Invitations(t.Context())
	must(t, err)
	want(t, "invitations left", len(all), 1)
	_, err = s.Identities.Invitations(cancelled(t))
	wantKind(t, err, fault.Unavailable)
}
