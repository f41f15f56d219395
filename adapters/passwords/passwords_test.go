package passwords

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/crypto/argon2"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/user"
)

func parseName(t *testing.T, text string) user.Name {
	t.Helper()
	name, err := user.ParseName(text)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func TestHash(t *testing.T) {
	t.Parallel()
	h := New()
	const password = "tulip river stone"
	hash, err := h.Hash(t.Context(), password)
	if err != nil || !strings.HasPrefix(string(hash), "$argon2id$v=19$m=19456,t=2,p=1$") ||
		strings.Contains(string(hash), password) {
		t.Fatalf("got %s, error %v, want a hash with its parameters", hash, err)
	}
	again, err := h.Hash(t.Context(), password)
	if err != nil || again == hash {
		t.Errorf("got %s twice, error %v, want another salt", again, err)
	}
	older := parameters{memory: 8, rounds: 1, lanes: 1}.encode([]byte("saltsaltsaltsalt"),
		argon2.IDKey([]byte(password), []byte("saltsaltsaltsalt"), 1, 8, 1, 32))
	for name, c := range map[string]struct {
		password          string
		hash              identity.PasswordHash
		matches, outdated bool
	}{
		"right":                  {password, hash, true, false},
		"with other parameters":  {password, older, true, true},
		"wrong":                  {password + "s", hash, false, false},
		"empty":                  {"", hash, false, false},
		"a user without one":     {password, "", false, false},
		"empty, and without one": {"", "", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			matches, outdated, err := h.Matches(t.Context(), c.password, c.hash)
			if err != nil || matches != c.matches || outdated != c.outdated {
				t.Errorf("got %v, outdated %v, error %v, want %v, %v", matches, outdated, err, c.matches, c.outdated)
			}
		})
	}
	for name, damaged := range map[string]identity.PasswordHash{
		"other text":       "x",
		"of another kind":  identity.PasswordHash(strings.Replace(string(hash), "argon2id", "argon2i", 1)),
		"cut":              hash[:60],
		"too much memory":  identity.PasswordHash(strings.Replace(string(hash), "m=19456", "m=4194304", 1)),
		"no rounds":        identity.PasswordHash(strings.Replace(string(hash), "t=2", "t=0", 1)),
		"another version":  identity.PasswordHash(strings.Replace(string(hash), "v=19", "v=16", 1)),
		"without a result": identity.PasswordHash(string(hash)[:strings.LastIndex(string(hash), "$")+1]),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if matches, _, err := h.Matches(t.Context(), password, damaged); matches || !fault.Is(err, fault.Internal) {
				t.Errorf("got %v, error %v, want an internal error", matches, err)
			}
		})
	}
}

func TestNormal(t *testing.T) {
	t.Parallel()
	if got, want := New().Normal("ｅｐｏｘｙ e\u0301 \ufb01"), "epoxy \u00e9 fi"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestScore(t *testing.T) {
	t.Parallel()
	h := New()
	for password, strong := range map[string]bool{
		"password1234": false, "qwertyuiop12": false, "aaaaaaaaaaaa": false, "P@ssw0rd2026!": false,
		"mortimermortimer":  false,
		"tulip river stone": true, "xK9$mQ2!vL7p": true, "ключ от синей двери": true,
		strings.Repeat("tulip river stone ", 14): true,
	} {
		t.Run(password[:12], func(t *testing.T) {
			t.Parallel()
			score, err := h.Score(t.Context(), password, parseName(t, "mortimer"))
			if err != nil || (score >= identity.MinScore) != strong {
				t.Errorf("got %d, error %v, want it strong: %v", score, err, strong)
			}
		})
	}
}

// TestCrowd starts 500 callers at once: two compute, a bounded queue waits, and the others are told to try again.
func TestCrowd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := New()
		var (
			mu                             sync.Mutex
			running, most, served, refused int
		)
		var callers sync.WaitGroup
		for range 500 {
			callers.Go(func() {
				leave, err := h.Enter()
				if err == nil {
					defer leave()
					err = h.inTurn(t.Context(), func() {
						mu.Lock()
						running++
						most = max(most, running)
						mu.Unlock()
						time.Sleep(50 * time.Millisecond)
						mu.Lock()
						running--
						mu.Unlock()
					})
				}
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					served++
				} else if refused++; !fault.Is(err, fault.Unavailable) {
					t.Errorf("got %v, want an error of kind unavailable", err)
				}
			})
		}
		start := time.Now()
		callers.Wait()
		if most != atOnce || served != atOnce+maxWaiting || served+refused != 500 {
			t.Errorf("got %d at once, %d served and %d refused, want %d, %d and the others", most, served, refused, atOnce,
				atOnce+maxWaiting)
		}
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("got the last answer after %v, want it within two seconds", took)
		}
		for range atOnce + maxWaiting { // all places are free again
			if _, err := h.Enter(); err != nil {
				t.Fatalf("got %v after the crowd, want a place", err)
			}
		}
		if _, err := h.Enter(); !fault.Is(err, fault.Unavailable) {
			t.Errorf("one more: got %v, want an error of kind unavailable", err)
		}
	})
}

// TestWaitingEnds checks that a caller stops waiting when its time runs out.
func TestWaitingEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := New()
		for range atOnce {
			go func() { _ = h.inTurn(t.Context(), func() { time.Sleep(time.Minute) }) }()
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := h.Hash(ctx, "x"); !fault.Is(err, fault.Unavailable) {
			t.Errorf("got %v, want an error of kind unavailable", err)
		}
		time.Sleep(time.Hour)
		if _, err := h.Hash(t.Context(), "x"); err != nil {
			t.Errorf("got %v after the others ended, want no error", err)
		}
	})
}
