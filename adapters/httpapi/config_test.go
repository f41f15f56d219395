package httpapi

import (
	"context"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/adapters/httpapi/limit"
)

func TestValidateNamesEveryWrongValue(t *testing.T) {
	t.Parallel()
	if err := DefaultConfig().Validate(); err != nil {
		t.Error(err)
	}
	err := Config{
		BasePath: "/:y", PublicURL: "paste.example", TrustedProxies: []string{"z"}, Limits: limit.Config{Burst: 1},
		PasteMaxBody: 10,
	}.Validate()
	for _, part := range []string{
		`HTTP_BASE_PATH is "/:y"`, `PUBLIC_URL is "paste.example"`, `HTTP_TRUSTED_PROXIES has "z"`,
		"HTTP_REQUEST_TIMEOUT is 0s",
		"LIMIT_BURST is 1", "HTTP_MAX_MEMORY is 0",
	} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("got %v, want %s to be named in it", err, part)
		}
	}
}

// TestNewNamesWhatIsMissing is for programs that embed the API: without the check, a missing module would panic at the
// first request for it.
func TestNewNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	modules, _ := pasteModules(t, nil)
	ready := func(context.Context) error { return nil }
	if _, err := New(DefaultConfig(), modules, ready, nil); err != nil {
		t.Errorf("got %v, want no error", err)
	}
	modules.Tokens = nil
	_, err := New(DefaultConfig(), modules, nil, nil)
	if want := "httpapi.New lacks Modules.Tokens, ready"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	_, err = New(DefaultConfig(), Modules{}, ready, nil)
	want := "httpapi.New lacks Modules.Users, Modules.Tokens, Modules.Pastes, Modules.Languages"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestPublicURL(t *testing.T) {
	t.Parallel()
	for address, valid := range map[string]bool{
		"": true, "https://paste.example": true, "http://127.0.0.1:8080": true, "https://[::1]:8443": true,
		"https://paste.example/": false, "https://paste.example/x": true, "https://paste.example/x/y": true,
		"https://paste.example/x/": false, "https://paste.example/x y": false, "https://paste.example/:x": false,
		"https://paste.example/x?y": false, "https://u:p@paste.example": false, "paste.example": false,
		"ftp://paste.example": false, "https://": false, "https://:1": false, "https://paste.example?": false,
		"https://a b": false,
	} {
		cfg := DefaultConfig()
		cfg.PublicURL = address
		if err := cfg.Validate(); (err == nil) != valid {
			t.Errorf("%q: got the error %v, want one: %v", address, err, !valid)
		}
	}
}
