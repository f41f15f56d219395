package token

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
)

func TestGenerate(t *testing.T) {
	t.Parallel()
	first, second := Generate(), Generate()
	if first == second || !strings.HasPrefix(first.Reveal(), Prefix) || len(first.Reveal()) < len(Prefix)+52 {
		t.Errorf("got %q and %q, want two different ones of 52 random characters", first.Reveal(), second.Reveal())
	}
	if _, err := ParseSecret(first.Reveal()); err != nil {
		t.Error(err)
	}
}

func TestParseSecret(t *testing.T) {
	t.Parallel()
	for text, valid := range map[string]bool{
		"x": true, "+/=-_": true, "two words": true, "ünï": true, strings.Repeat("x", 512): true,
		"": false, strings.Repeat("x", 513): false, "a\x00": false, "a\n": false, "\xff": false, "a\u202eb": false,
	} {
		if _, err := ParseSecret(text); (err == nil) != valid {
			t.Errorf("%q: got error %v, want it valid: %v", text, err, valid)
		}
	}
}

func TestSecretIsNotPrinted(t *testing.T) {
	t.Parallel()
	secret, err := ParseSecret("hunter2")
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(map[string]any{"a": secret, "b": &secret})
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("%v %+v %#v %s %q", secret, secret, secret, secret, secret) + string(data)
	if strings.Contains(text, "hunter2") {
		t.Errorf("got %s, want it without the secret", text)
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	now, hash := time.Now(), Generate().Hash()
	for what, c := range map[string]struct {
		token     Token
		presented Hash
		valid     bool
	}{
		"lasting":              {Token{Hash: hash}, hash, true},
		"expiring":             {Token{Hash: hash, ExpiresAt: now.Add(1)}, hash, true},
		"expiring now":         {Token{Hash: hash, ExpiresAt: now}, hash, false},
		"expired":              {Token{Hash: hash, ExpiresAt: now.Add(-1)}, hash, false},
		"revoked":              {Token{Hash: hash, RevokedAt: now.Add(-1)}, hash, false},
		"somebody else's":      {Token{Hash: hash}, Generate().Hash(), false},
		"the zero hash":        {Token{Hash: hash}, Hash{}, false},
		"revoked, not expired": {Token{Hash: hash, RevokedAt: now, ExpiresAt: now.Add(time.Hour)}, hash, false},
	} {
		err := c.token.Verify(c.presented, now)
		if (err == nil) != c.valid || err != nil && !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("%s: got %v, want it valid: %v", what, err, c.valid)
		}
	}
}
