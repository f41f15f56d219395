package token

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
)

// uses is a UseRecorder that keeps what it is told.
type uses map[ID]time.Time

func (u uses) RecordUse(id ID, at time.Time) { u[id] = at }

func TestAuthenticate(t *testing.T) {
	t.Parallel()
	secret, now := Generate(), time.Now()
	valid := Token{ID: "valid", Hash: secret.Hash()}
	expired, revoked := valid, valid
	expired.ExpiresAt, revoked.RevokedAt = now, now
	outage := fault.New(fault.Unavailable, "away")
	for what, c := range map[string]struct {
		presented string
		found     Token
		err       error // of the lookup
		want      error
	}{
		"a valid token":       {secret.Reveal(), valid, nil, nil},
		"no token":            {"", valid, nil, Rejected()},
		"a malformed token":   {"\n", valid, nil, Rejected()},
		"an unknown token":    {secret.Reveal(), Token{}, fmt.Errorf("no row: %w", fault.New(fault.NotFound, "x")), Rejected()},
		"somebody else's":     {Generate().Reveal(), valid, nil, Rejected()},
		"an expired token":    {secret.Reveal(), expired, nil, Rejected()},
		"a revoked token":     {secret.Reveal(), revoked, nil, Rejected()},
		"an outage":           {secret.Reveal(), Token{}, outage, outage},
		"an unforeseen error": {secret.Reveal(), Token{}, errDisk, errDisk},
	} {
		recorded := make(uses)
		signIn := NewAuthenticator(recorded, func() time.Time { return now })
		got, err := signIn.Authenticate(c.presented, func(Hash) (Token, error) { return c.found, c.err })
		switch {
		case !errors.Is(err, c.want):
			t.Errorf("%s: got the error %v, want %v", what, err, c.want)
		case c.want == nil && (got != valid || recorded[valid.ID] != now):
			t.Errorf("%s: got %v and the uses %v, want the token and its use at %v", what, got, recorded, now)
		case c.want != nil && (got != Token{} || len(recorded) != 0):
			t.Errorf("%s: got %v and the uses %v, want neither", what, got, recorded)
		}
	}
}

var errDisk = errors.New("disk")

// A request that signs in pays for parsing, the hash and the lookup only.
func TestAuthenticateAllocatesNothing(t *testing.T) {
	text := Generate()
	valid := Token{ID: "valid", Hash: text.Hash()}
	hashing := testing.AllocsPerRun(100, func() {
		if text.Hash() != valid.Hash {
			t.Fatal("got another hash for the same secret, want the same")
		}
	})
	signIn, presented := NewAuthenticator(make(uses), time.Now), text.Reveal()
	got := testing.AllocsPerRun(100, func() {
		account := "none"
		_, err := signIn.Authenticate(presented, func(Hash) (Token, error) {
			account = "found" // as a lookup of both does
			return valid, nil
		})
		if err != nil || account != "found" {
			t.Fatalf("got %q, error %v, want %q", account, err, "found")
		}
	})
	if got != hashing {
		t.Errorf("got %v allocations, want the %v of the hash", got, hashing)
	}
}

// TestAuthenticateAt has a token that expires while it is looked up: both sides judge it at the same instant.
func TestAuthenticateAt(t *testing.T) {
	t.Parallel()
	secret, now := Generate(), time.Date(2024, 5, 6, 7, 8, 9, 123456789, time.UTC)
	recorded := make(uses)
	signIn := NewAuthenticator(recorded, func() time.Time { return now })
	for what, c := range map[string]struct {
		expiry time.Time
		want   error
	}{
		"expires in between":     {now.Add(time.Second), nil},
		"has expired":            {now.Truncate(time.Microsecond), Rejected()},
		"expires a moment later": {now, nil}, // stores keep microseconds
	} {
		clear(recorded)
		valid := Token{ID: "valid", Hash: secret.Hash(), ExpiresAt: c.expiry}
		var judged error
		_, err := signIn.AuthenticateAt(secret.Reveal(), func(hash Hash, at time.Time) (Token, error) {
			judged = valid.Verify(hash, at)
			now = now.Add(time.Minute)
			return valid, nil
		})
		now = now.Add(-time.Minute)
		if !errors.Is(err, c.want) || !errors.Is(judged, c.want) {
			t.Errorf("%s: got %v and %v, want %v", what, judged, err, c.want)
		}
		if used, want := recorded[valid.ID], now.Truncate(time.Microsecond); (err == nil) != used.Equal(want) {
			t.Errorf("%s: got a use at %v, want %v", what, used, want)
		}
	}
	_, err := signIn.AuthenticateAt("", func(Hash, time.Time) (Token, error) {
		t.Error("a token was looked for though none was presented")
		return Token{}, nil
	})
	if !errors.Is(err, Rejected()) {
		t.Errorf("got %v", err)
	}
}
