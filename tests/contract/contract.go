// Package contract says what a store must do, for every store that there is: the same suites run over
// PostgreSQL, SQLite and the hand-written fake.
package contract

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/search"
	"github.com/gluepot/gluepot/domain/stats"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// Store is an empty store of the test's own.
type Store struct {
	Users      user.Store
	Tokens     token.Store
	Pastes     paste.Store
	Stats      stats.Counter
	Search     search.Store
	Identities identity.Store
}

// now has more digits than a microsecond, and a zone: what comes back must be the same instant, in UTC.
var now = time.Date(2024, 2, 29, 12, 30, 15, 123456000, time.FixedZone("somewhere", -3*60*60-30*60))

// later is an expiry that no test lives to see. Stores judge by their own clock.
var later = time.Now().Add(24 * time.Hour)

// Run runs every suite, each behaviour on a store of its own.
func Run(t *testing.T, open func(t *testing.T) Store) {
	t.Helper()
	for name, behaviour := range map[string]func(*testing.T, Store){
		"users/by name":                         userByName,
		"users/an unknown name is not found":    unknownUser,
		"users/name and id are unique":          userConflicts,
		"users/a cancelled context":             cancelledUser,
		"tokens/by hash":                        tokenByHash,
		"tokens/an unknown hash is not found":   unknownToken,
		"tokens/hash and id are unique":         tokenConflicts,
		"tokens/last used moves forward only":   lastUsed,
		"users/account":                         account,
		"users/account without stars, services": bareAccount,
		"users/account judges stars by time":    starsByTime,
		"users/account that is not there":       unknownAccount,
		"tokens/owner as it is now":             tokenOwner,
		"tokens/a cancelled context":            cancelledToken,
		"pastes/own, newest first":              ownPastes,
		"pastes/own, page by page":              pagedPastes,
		"pastes/own, changes between pages":     changingPages,
		"pastes/own, empty":                     noPastes,
		"pastes/expiry while it is looked at":   expiryInstant,
		"pastes/counts":                         counts,
		"pastes/id is unique":                   pasteConflicts,
		"pastes/removing what is expired":       removeExpired,
		"pastes/stars keep their order":         starOrder,
		"pastes/a cancelled context":            cancelledPaste,
		"users/update":                          updateUser,
		"users/an update that is refused":       updateUserRefused,
		"users/delete, with what belongs to it": deleteUser,
		"users/names that were given up":        formerNames,
		"users/all":                             listUsers,
		"users/import":                          importUsers,
		"users/import of what is absent":        importAbsent,
		"users/names move in an import":         importNames,
		"users/import keeps ways in":            importServices,
		"users/import keeps a profile private":  importProfile,
		"users/import takes a name":             importTakesNames,
		"users/several callers":                 usersMeet,
		"tokens/of an owner":                    listTokens,
		"tokens/revoke":                         revokeToken,
		"sessions/start, list and end":          sessions,
		"sessions/end with their tokens":        sessionsOfTokens,
		"sessions/room is bounded":              manySessions,
		"sessions/several callers":              sessionsMeet,
		"tokens/import":                         importTokens,
		"tokens/several callers":                tokensMeet,
		"pastes/titles of an owner":             titledPastes,
		"pastes/by tag and order":               selectedPastes,
		"pastes/a profile":                      profiles,
		"tokens/export":                         exports,
		"pastes/recent":                         recentPastes,
		"pastes/summaries":                      summaries,
		"pastes/cut summaries":                  cutSummaries,
		"pastes/starred by a user":              starredPastes,
		"users/by id":                           userByID,
		"pastes/unstar":                         unstarPaste,
		"pastes/import":                         importPastes,
		"pastes/several callers":                pastesMeet,
		"pastes/several sweepers":               sweepersMeet,
		"several imports of everything":         importsMeet,
		"totals":                                totals,
		"a cancelled context changes nothing":   cancelledChanges,
		"a user goes while pastes come":         userDeletionMeets,
		"identities/of one user each":           identityTaken,
		"identities/attempts":                   attempts,
		"identities/attempts are bounded":       attemptsAreBounded,
		"identities/one attempt, once":          attemptsMeet,
		"identities/sign up":                    signUp,
		"identities/sign up, refused":           signUpRefused,
		"identities/several sign up":            signUpsMeet,
		"identities/invitations":                invitations,
		"ways/passwords":                        passwords,
		"ways/change":                           changeCredentials,
		"ways/several callers":                  credentialsMeet,
		"ways/one-time links":                   oneTimeLinks,
		"ways/links of one user meet":           linksMeet,
		"ways/enroll":                           enroll,
		"ways/first administrator":              firstAdministrator,
		"ways/several first administrators":     firstAdministratorsMeet,
		"ways/guesses":                          guesses,
		"passkeys/change":                       changePasskeys,
		"passkeys/use":                          usePasskeys,
		"passkeys/enroll":                       enrollWithPasskey,
		"passkeys/ceremonies":                   ceremonies,
		"passkeys/several callers":              passkeysMeet,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			behaviour(t, open(t))
		})
	}
}

func want[T comparable](t *testing.T, what string, got, expected T) {
	t.Helper()
	if got != expected {
		t.Errorf("%s: got %v, want %v", what, got, expected)
	}
}

func wantKind(t *testing.T, err error, kind fault.Kind) {
	t.Helper()
	if err == nil {
		t.Fatalf("got no error, want one of kind %q", kind)
	}
	if got := fault.KindOf(err); got != kind {
		t.Fatalf("an error of kind %q, want %q: %v", got, kind, err)
	}
}

// wantIDTaken tells the fault of an id that is taken from that of something else that is.
func wantIDTaken(t *testing.T, err error) {
	t.Helper()
	wantKind(t, err, fault.Conflict)
	if !errors.Is(err, ident.ErrTaken) {
		t.Errorf("got %v, want %v", err, ident.ErrTaken)
	}
}

func wantOtherConflict(t *testing.T, err error) {
	t.Helper()
	wantKind(t, err, fault.Conflict)
	if errors.Is(err, ident.ErrTaken) {
		t.Errorf("got %v, want another conflict than that of ids", err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func parseName(t *testing.T, s string) user.Name {
	t.Helper()
	name, err := user.ParseName(s)
	must(t, err)
	return name
}

func newUser(t *testing.T, name string) user.User {
	t.Helper()
	return user.User{
		ID: user.ID(ident.New()), Name: parseName(t, name), AvatarURL: "https://example.com/ü.png?a=1&b='\"<>",
		DefaultLanguage: "C++",
		PublicProfile:   true, ShowTags: true, SupporterMonths: 1<<31 - 1, Contributor: true, CreatedAt: now,
	}
}

// createUser stores a user with the services that the user signs in with.
func (s Store) createUser(ctx context.Context, created user.User, services map[string]string) error {
	credentials := identity.Credentials{Identities: services}
	return s.Identities.Enroll(ctx, nowhere, unrecorded, created, credentials, identity.Admission{})
}

func storedUser(t *testing.T, s Store, name string) user.User {
	t.Helper()
	u := newUser(t, name)
	must(t, s.createUser(t.Context(), u, nil))
	return u
}

func storedPaste(t *testing.T, s Store, id string, owner user.ID, created, expires time.Time) paste.ID {
	t.Helper()
	newPaste := paste.Paste{ID: paste.ID(id), Owner: owner, CreatedAt: created, ExpiresAt: expires}
	must(t, s.Pastes.CreateDocument(t.Context(), paste.Document{Paste: newPaste}))
	return paste.ID(id)
}

func storedToken(t *testing.T, s Store, owner user.ID) token.Token {
	t.Helper()
	created := token.Token{ID: token.ID(ident.New()), Owner: owner, Hash: token.Generate().Hash(), Name: "a token",
		CreatedAt: now}
	must(t, s.Tokens.Create(t.Context(), nowhere, unrecorded, created))
	return created
}

func cancelled(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
