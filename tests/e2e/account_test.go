package e2e

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// TestAccount creates and uses a token, changes the user's name, which reserves the old one, and deletes the account.
func TestAccount(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		program.Fixture(t, cfg)
		p := program.Serve(t, cfg.URL, "GLUEPOT_HTTP_TRUSTED_PROXIES=127.0.0.1", "GLUEPOT_HTTP_BASE_PATH=/api/v2")
		epoxy, mortar := &visitor{t: t, p: p}, &visitor{t: t, p: p}
		epoxy.signIn(program.EpoxyToken)
		mortar.signIn(program.MortarToken)
		epoxy.ask(http.MethodPost, "/account/tokens", url.Values{"name": {"laptop"}, "scope": {"write"}, "days": {"7"}})
		_, page := epoxy.ask(http.MethodGet, "/account/tokens", nil)
		_, secret, _ := strings.Cut(page, `id="made" value="`)
		secret, _, _ = strings.Cut(secret, `"`)
		if status, body := p.Get("/api/v2/user/self", secret); status != http.StatusOK {
			t.Errorf("got %d %s with the new token, want 200", status, body)
		}
		wantExport(t, p, epoxy, secret)
		profile := func(v *visitor, name string, want int) {
			t.Helper()
			form := url.Values{"name": {name}, "avatar": {""}, "language": {"Go"}, "public": {"on"}}
			if answer, body := v.ask(http.MethodPost, "/account", form); answer.StatusCode != want {
				t.Errorf("%s: got %d %s, want %d", name, answer.StatusCode, body, want)
			}
		}
		profile(epoxy, "resin", http.StatusSeeOther)
		if answer, _ := mortar.ask(http.MethodGet, "/~EPOXY", nil); answer.Header.Get("Location") != "/~resin" {
			t.Errorf("got %d %v, want a redirect from the old name to the new one", answer.StatusCode, answer.Header)
		}
		profile(mortar, "epoxy", http.StatusConflict)
		result, err := database.SQL(t, cfg).ExecContext(t.Context(),
			"UPDATE former_names SET given_up_at = "+longAgo(t, cfg))
		if err != nil {
			t.Fatal(err)
		}
		if n, _ := result.RowsAffected(); n != 1 {
			t.Errorf("got %d former names, want 1", n)
		}
		profile(mortar, "epoxy", http.StatusSeeOther)
		answer, body := epoxy.ask(http.MethodPost, "/account/delete", url.Values{"name": {"Resin"}, "pastes": {"anonymous"}})
		if answer.StatusCode != http.StatusSeeOther || !strings.HasSuffix(epoxy.cookie, "=") {
			t.Errorf("got %d %s, want the account deleted", answer.StatusCode, body)
		}
		if status, _ := p.Get("/api/v2/user/self", secret); status != http.StatusUnauthorized {
			t.Errorf("got %d with the token of a deleted user, want 401", status)
		}
		if status, body := p.Get("/api/v2/paste/tie0000a", ""); status != http.StatusOK ||
			!strings.Contains(body, `"ownerId":""`) {
			t.Errorf("got %d %s, want the paste without an owner", status, body)
		}
		profile(mortar, "resin", http.StatusConflict)
	})
}

// wantExport checks that the pastes of an export are byte for byte those that the API answers.
func wantExport(t *testing.T, p *program.Process, epoxy *visitor, token string) {
	t.Helper()
	status, ids := p.Get("/api/v2/user/self/pastes", token)
	var pastes []string
	if err := json.Unmarshal([]byte(ids), &pastes); err != nil || status != http.StatusOK || len(pastes) != 4 {
		t.Fatalf("got %d %s, want the 4 pastes of Epoxy", status, ids)
	}
	for i, id := range pastes {
		_, pastes[i] = p.Get("/api/v2/paste/"+id, token)
	}
	answer, archive := epoxy.ask(http.MethodPost, "/account/export", nil)
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Cache-Control") != "private, no-store" {
		t.Errorf("got %d %v, want 200 and a private answer", answer.StatusCode, answer.Header)
	}
	files, err := zip.NewReader(strings.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	content, err := fs.ReadFile(files, "pastes.json")
	if want := "[" + strings.Join(pastes, ",\n") + "]"; err != nil || string(content) != want {
		t.Errorf("got %v, %s, want %s", err, content, want)
	}
	_, self := p.Get("/api/v2/user/self", token)
	account, err := fs.ReadFile(files, "user.json")
	if want := strings.TrimSuffix(self, "}") + `,"createdAt":`; err != nil || !strings.HasPrefix(string(account), want) {
		t.Errorf("got %v, %s, want %s", err, account, want)
	}
	if answer, _ := epoxy.ask(http.MethodGet, "/account/export", nil); answer.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("got %d for GET, want 405", answer.StatusCode)
	}
}

// longAgo returns an instant in SQL. A name that was given up then is no longer reserved.
func longAgo(t *testing.T, cfg gormstore.Config) string {
	t.Helper()
	at := time.Now().Add(-91 * 24 * time.Hour).UTC()
	if strings.HasPrefix(cfg.URL, "postgres") {
		return "'" + at.Format(time.RFC3339) + "'"
	}
	return fmt.Sprint(at.UnixMicro())
}

// TestAccountLeavesNoPastesForGood checks that the pastes of a deleted account get the lifetime of anonymous pastes.
func TestAccountLeavesNoPastesForGood(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	p := program.Serve(t, cfg.URL, "GLUEPOT_ANONYMOUS_MAX_LIFETIME=1h", "GLUEPOT_HTTP_TRUSTED_PROXIES=127.0.0.1")
	_, answer := send(t, p, http.MethodPost, "/paste", `{"pasties":[{"code":"x"}]}`, "Authorization", program.EpoxyToken)
	_, id, _ := strings.Cut(answer, `"_id":"`)
	epoxy := &visitor{t: t, p: p}
	epoxy.signIn(program.EpoxyToken)
	deletion, body := epoxy.ask(http.MethodPost, "/account/delete", url.Values{"name": {"Epoxy"}, "pastes": {"anonymous"}})
	if deletion.StatusCode != http.StatusSeeOther {
		t.Fatalf("got %d %s, want the account deleted", deletion.StatusCode, body)
	}
	if status, body := p.Get("/paste/"+id[:8], ""); status != http.StatusOK || strings.Contains(body, `"deletesAt":0`) {
		t.Errorf("got %d %s, want the paste to expire", status, body)
	}
}
