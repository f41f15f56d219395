package e2e

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

const (
	goodPassword  = "tulip river stone"
	otherPassword = "stone river tulip"
	setupLine     = "there is no administrator: open the link to become the first one, within a day"
)

func signUpForm(name, password string) url.Values {
	return url.Values{"name": {name}, "password": {password}, "again": {password}}
}

// setupPath returns the path of the link that a server logged.
func setupPath(t *testing.T, p *program.Process) string {
	t.Helper()
	link, _ := p.WaitForLog(setupLine)["link"].(string)
	path, ok := strings.CutPrefix(link, "https://paste.example")
	if !ok {
		t.Fatalf("got the link %q, want one at the public address", link)
	}
	return path
}

// submitTogether sends a form to each of the paths at once, and returns how often it was accepted.
func submitTogether(t *testing.T, nodes []*program.Process, paths []string,
	form func(n int) url.Values) (accepted int64) {
	t.Helper()
	var successes atomic.Int64
	var callers sync.WaitGroup
	for n := range 8 {
		callers.Go(func() {
			v := &visitor{t: t, p: nodes[n%len(nodes)]}
			answer, body := v.ask(http.MethodPost, paths[n%len(paths)], form(n))
			switch answer.StatusCode {
			case http.StatusSeeOther:
				successes.Add(1)
			case http.StatusForbidden:
			default:
				t.Errorf("got %d %s, want 303 or 403", answer.StatusCode, body)
			}
		})
	}
	callers.Wait()
	return successes.Load()
}

// TestFirstAdministrator uses the links that two nodes log, one of them before and after a restart.
func TestFirstAdministrator(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		settings := []string{"GLUEPOT_HTTP_TRUSTED_PROXIES=127.0.0.1", "GLUEPOT_PUBLIC_URL=https://paste.example"}
		p := program.Serve(t, cfg.URL, settings...)
		first := setupPath(t, p)
		p.Signal(syscall.SIGTERM)
		p.Wait()
		nodes := []*program.Process{program.Serve(t, cfg.URL, settings...), program.Serve(t, cfg.URL, settings...)}
		paths := []string{first, setupPath(t, nodes[0]), setupPath(t, nodes[1])}
		if paths[0] == paths[1] || paths[1] == paths[2] {
			t.Fatalf("got the links %v, want a new one for each start", paths)
		}
		v := &visitor{t: t, p: nodes[1]}
		for _, path := range paths { // also those of the other node and of a stopped one
			for _, method := range []string{http.MethodHead, http.MethodGet, http.MethodGet} {
				if answer, body := v.ask(method, path, nil); answer.StatusCode != http.StatusOK {
					t.Fatalf("%s: got %d %s, want 200 with a form: looking at it does not use up the link", method, answer.StatusCode,
						body)
				}
			}
		}
		if answer, _ := v.ask(http.MethodPost, first,
			signUpForm("mia", "password1234")); answer.StatusCode != http.StatusBadRequest {
			t.Errorf("got %d for a weak password, want 400", answer.StatusCode)
		}
		form := func(n int) url.Values { return signUpForm("mia"+string(rune('0'+n)), goodPassword) }
		if accepted := submitTogether(t, nodes, paths, form); accepted != 1 {
			t.Errorf("got %d administrators, want one", accepted)
		}
		for _, path := range paths {
			if answer, body := v.ask(http.MethodGet, path, nil); answer.StatusCode != http.StatusForbidden ||
				!strings.Contains(body, "no longer valid") {
				t.Errorf("got %d %s, want 403: the link was used", answer.StatusCode, body)
			}
		}
		_, list, _ := program.Run(t, []string{"GLUEPOT_DATABASE_URL=" + cfg.URL}, "user", "list", "--json")
		if strings.Count(list, `"admin":true`) != 1 || strings.Count(list, "\n") != 1 {
			t.Errorf("got %s, want one user, who is an administrator", list)
		}
		_, acts, _ := program.Run(t, []string{"GLUEPOT_DATABASE_URL=" + cfg.URL}, "audit", "list")
		if !strings.Contains(acts, "user.create-admin") || strings.Contains(acts, goodPassword) {
			t.Errorf("got %s, want user.create-admin without the password", acts)
		}
		again := program.Serve(t, cfg.URL, settings...)
		if strings.Contains(again.Stderr.String(), "/setup/") {
			t.Error("got a setup link although there is an administrator, want none")
		}
		for _, node := range nodes {
			log := node.Stderr.String()
			if strings.Contains(log, goodPassword) || strings.Count(log, "/setup/") != 1+strings.Count(log, "/setup/:code") {
				t.Errorf("got the log %s, want the link once and no password", log)
			}
		}
	})
}

// TestPasswords signs in with a password, changes it, and resets it with a link from the operator.
func TestPasswords(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		operator := []string{"GLUEPOT_DATABASE_URL=" + cfg.URL, "GLUEPOT_PUBLIC_URL=https://paste.example"}
		file := filepath.Join(t.TempDir(), "password")
		if err := os.WriteFile(file, []byte(goodPassword+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		stdin, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer stdin.Close() //nolint:errcheck // it was read
		create := program.StartReading(t, stdin, operator, "user", "create", "mia", "--admin", "--password-stdin")
		if code := create.Wait(); code != 0 {
			t.Fatalf("got exit code %d, %s, want a user", code, create.Stderr.String())
		}
		settings := []string{
			"GLUEPOT_HTTP_TRUSTED_PROXIES=127.0.0.1", "GLUEPOT_PUBLIC_URL=https://paste.example",
			"GLUEPOT_LIMIT_FAILED_SIGN_INS=1000",
		}
		nodes := []*program.Process{program.Serve(t, cfg.URL, settings...), program.Serve(t, cfg.URL, settings...)}
		signIn := func(password string, want int) *visitor {
			t.Helper()
			v := &visitor{t: t, p: nodes[0]}
			answer, body := v.ask(http.MethodPost, "/sign-in", url.Values{"name": {"mia"}, "password": {password}})
			if answer.StatusCode != want {
				t.Fatalf("got %d %s, want %d", answer.StatusCode, body, want)
			}
			return v
		}
		mia, other := signIn(goodPassword, http.StatusSeeOther), signIn(goodPassword, http.StatusSeeOther)
		signIn(otherPassword, http.StatusUnauthorized)
		before := mia.cookie
		answer, body := mia.ask(http.MethodPost, "/account/security",
			url.Values{"do": {"set"}, "present": {goodPassword}, "password": {otherPassword}, "again": {otherPassword}})
		if answer.StatusCode != http.StatusSeeOther || mia.cookie == before {
			t.Errorf("got %d %s and the cookie %s, want a new session", answer.StatusCode, body, mia.cookie)
		}
		for name, v := range map[string]*visitor{"the session before": {t: t, p: nodes[1], cookie: before},
			"another": other} {
			v.p = nodes[1]
			if answer, _ := v.ask(http.MethodGet, "/pastes", nil); answer.StatusCode != http.StatusSeeOther {
				t.Errorf("%s: got %d, want the session ended on the other node", name, answer.StatusCode)
			}
		}
		signIn(goodPassword, http.StatusUnauthorized)
		signIn(otherPassword, http.StatusSeeOther)

		_, out, _ := program.Run(t, operator, "user", "reset", "mia")
		_, path, ok := strings.Cut(strings.TrimSpace(out), "https://paste.example")
		if !ok || !strings.HasPrefix(path, "/reset/") {
			t.Fatalf("got %s, want a link", out)
		}
		for range 2 {
			if answer, body := mia.ask(http.MethodGet, path, nil); answer.StatusCode != http.StatusOK ||
				!strings.Contains(body, "<b>mia</b>") {
				t.Errorf("got %d %s, want the form", answer.StatusCode, body)
			}
		}
		form := func(int) url.Values { return signUpForm("", goodPassword) }
		if accepted := submitTogether(t, nodes, []string{path}, form); accepted != 1 {
			t.Errorf("got %d successful uses of the link, want 1", accepted)
		}
		if answer, _ := mia.ask(http.MethodGet, "/pastes", nil); answer.StatusCode != http.StatusSeeOther {
			t.Errorf("got %d, want all sessions ended", answer.StatusCode)
		}
		signIn(otherPassword, http.StatusUnauthorized)
		mia = signIn(goodPassword, http.StatusSeeOther)
		_, acts, _ := program.Run(t, operator, "audit", "list")
		for _, act := range []string{"user.create-admin", "user.reset", "user.set-password"} {
			if strings.Count(acts, act) != 1 {
				t.Errorf("got %s, want %s once", acts, act)
			}
		}
		for _, node := range nodes {
			for _, secret := range []string{goodPassword, otherPassword, strings.TrimPrefix(path, "/reset/")} {
				if strings.Contains(node.Stderr.String()+acts, secret) {
					t.Errorf("got %s in a log, want no secret", secret)
				}
			}
		}

		// Wrong passwords are counted per name, over all nodes and addresses. Sessions and tokens are not affected.
		status := 0
		for n := 0; n < 40 && status != http.StatusTooManyRequests; n++ {
			v := &visitor{t: t, p: nodes[n%2]}
			answer, _ := v.ask(http.MethodPost, "/sign-in", url.Values{"name": {"mia"}, "password": {otherPassword}})
			status = answer.StatusCode
		}
		if status != http.StatusTooManyRequests {
			t.Errorf("got %d after 40 wrong passwords, want 429", status)
		}
		signIn(goodPassword, http.StatusTooManyRequests)
		if answer, _ := mia.ask(http.MethodGet, "/pastes", nil); answer.StatusCode != http.StatusOK {
			t.Errorf("got %d with a session, want 200", answer.StatusCode)
		}
		_, access, _ := program.Run(t, operator, "token", "issue", "mia")
		(&visitor{t: t, p: nodes[0]}).signIn(strings.TrimSpace(access[strings.LastIndex(strings.TrimSpace(access), "\n")+1:]))

		program.Run(t, operator, "user", "suspend", "mia", "--reason", "spam")
		if answer, _ := mia.ask(http.MethodGet, "/pastes", nil); answer.StatusCode != http.StatusSeeOther {
			t.Errorf("got %d, want the sessions of a suspended user ended", answer.StatusCode)
		}
	})
}
