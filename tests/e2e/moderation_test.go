package e2e

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// moderation is an installation of two nodes and an operator.
type moderation struct {
	*testing.T

	url   string
	nodes [2]*program.Process
}

// operate runs a command that must not fail.
func (m *moderation) operate(line string) {
	m.Helper()
	code, _, stderr := program.Run(m.T, []string{"GLUEPOT_DATABASE_URL=" + m.url}, strings.Fields(line)...)
	if code != 0 {
		m.Fatalf("%s: got exit code %d, %s, want 0", line, code, stderr)
	}
}

// wantStatus sends a request to both nodes, and checks the status.
func (m *moderation) wantStatus(status int, method, path, body string, header ...string) {
	m.Helper()
	for i, node := range m.nodes {
		request, err := http.NewRequestWithContext(m.Context(), method, "http://"+node.Address+path, strings.NewReader(body))
		if err != nil {
			m.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		for n := 0; n < len(header); n += 2 {
			request.Header.Set(header[n], header[n+1])
		}
		answer, err := http.DefaultTransport.RoundTrip(request)
		if err != nil {
			m.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != status {
			m.Errorf("%s %s on node %d, %v: got %d, want %d", method, path, i, header, answer.StatusCode, status)
		}
	}
}

// wantGoneEverywhere removes a public paste, and checks that the next request finds it in no list, copy or cache of
// either node.
func (m *moderation) wantGoneEverywhere() {
	m.Helper()
	id := createdID(m.T, m.nodes[0],
		`{"title":"zircon","isPublic":true,"pasties":[{"title":"","language":"Go","code":"zircon"}]}`)
	lists := []string{"/search?q=zircon", "/recent", "/recent.atom", "/~epoxy", "/~epoxy/feed.atom",
		"/api/v2/user/self/pastes"}
	paths := []string{"/" + id, "/" + id + "/embed", "/" + id + "/history", "/" + id + "/files.zip", "/api/v2/paste/" + id,
		"/oembed?url="}
	tags := make(map[string]string)
	ask := func(node *program.Process, path string) (status int, body string) {
		m.Helper()
		if strings.HasSuffix(path, "=") {
			path += url.QueryEscape("http://" + node.Address + "/" + id)
		}
		header := []string{"Accept", "text/html, */*", "If-None-Match", tags[path]}
		if strings.HasPrefix(path, "/api") {
			header = append(header, "Authorization", program.EpoxyToken)
		}
		answer, body := roundTrip(m.T, node, http.MethodGet, path, "", header...)
		tags[path] = answer.Header.Get("Etag")
		return answer.StatusCode, body
	}
	for _, path := range append(lists, paths...) {
		status, body := ask(m.nodes[1], path)
		if status != http.StatusOK || slices.Contains(lists, path) && !strings.Contains(body, id) {
			m.Errorf("%s: got %d %s, want the paste", path, status, body)
		}
	}
	m.operate("paste remove " + id + " --reason spam")
	for _, path := range lists {
		if status, body := ask(m.nodes[1], path); status != http.StatusOK || strings.Contains(body, id) {
			m.Errorf("%s after the removal: got %d %s, want 200 without the paste", path, status, body)
		}
	}
	for _, path := range paths {
		if status, body := ask(m.nodes[1], path); status != http.StatusNotFound && status != http.StatusGone {
			m.Errorf("%s after the removal: got %d %s, want 404 or 410", path, status, body)
		}
	}
}

const aPaste = `{"title":"spam","pasties":[{"title":"","language":"Plain Text","code":"buy"}]}`

// TestModeration moderates by command beside two nodes. Each command must affect the next request.
func TestModeration(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		program.Fixture(t, cfg)
		m := &moderation{T: t, url: cfg.URL}
		for i := range m.nodes {
			m.nodes[i] = program.Serve(t, m.url, "GLUEPOT_HTTP_BASE_PATH=/api/v2", "GLUEPOT_HTTP_TRUSTED_PROXIES=127.0.0.1",
				"GLUEPOT_RECENT=true")
		}
		id := createdID(t, m.nodes[0], aPaste)
		page, document := "/"+id, "/api/v2/paste/"+id
		html := []string{"Accept", "text/html"}
		m.wantStatus(http.StatusOK, "GET", document, "")
		m.operate("paste remove " + id + " --reason spam")
		m.wantStatus(http.StatusNotFound, "GET", document, "")
		m.wantStatus(http.StatusGone, "GET", page, "", html...)
		m.wantStatus(http.StatusGone, "GET", page+"/files.zip", "", html...)
		m.wantStatus(http.StatusNotFound, "GET", "/unknown0", "", html...)
		m.operate("paste restore " + id)
		m.wantStatus(http.StatusOK, "GET", document, "")
		m.wantStatus(http.StatusOK, "GET", page, "", html...)
		m.wantGoneEverywhere()

		epoxy := []string{"Authorization", program.EpoxyToken}
		session := &visitor{t: t, p: m.nodes[0]}
		session.signIn(program.EpoxyToken)
		m.wantStatus(http.StatusOK, "POST", "/api/v2/paste", aPaste, epoxy...)
		m.operate("user suspend epoxy --reason spam")
		m.wantStatus(http.StatusForbidden, "GET", "/api/v2/user/self", "", epoxy...)
		m.wantStatus(http.StatusForbidden, "POST", "/api/v2/paste", aPaste, epoxy...)
		for _, list := range []string{"/api/v2/list/own", "/api/v2/list/starred"} {
			m.wantStatus(http.StatusForbidden, "GET", list, "", epoxy...)
		}
		m.wantStatus(http.StatusOK, "GET", document, "", epoxy...)
		if answer, _ := session.ask(http.MethodGet, "/pastes", nil); answer.StatusCode != http.StatusSeeOther {
			t.Errorf("got %d for the session of a suspended user, want a redirect to the sign-in", answer.StatusCode)
		}
		answer, body := session.ask(http.MethodPost, "/sign-in", url.Values{"token": {program.EpoxyToken}})
		if answer.StatusCode != http.StatusForbidden ||
			!strings.Contains(body, "This account is suspended. Ask the operator.") {
			t.Errorf("got %d %s for the sign-in of a suspended user, want 403", answer.StatusCode, body)
		}
		m.operate("user unsuspend epoxy")
		m.wantStatus(http.StatusOK, "GET", "/api/v2/user/self", "", epoxy...)

		blocked, allowed := []string{"X-Forwarded-For", "192.0.2.7"}, []string{"X-Forwarded-For", "192.0.3.7"}
		m.wantStatus(http.StatusOK, "POST", "/api/v2/paste", aPaste, blocked...)
		m.operate("block add 192.0.2.0/24 --reason spam")
		for _, header := range [][]string{blocked, append(epoxy, blocked...)} {
			m.wantStatus(http.StatusForbidden, "POST", "/api/v2/paste", aPaste, header...)
			m.wantStatus(http.StatusForbidden, "POST", "/api/v2/raw", "text", header...)
			if len(header) > len(blocked) { // with a token
				m.wantStatus(http.StatusForbidden, "PUT", document+"/star", "", header...)
				m.wantStatus(http.StatusForbidden, "DELETE", document+"/star", "", header...)
			}
			for _, path := range []string{"/api/v2/raw", "/api/v2/raw/a", "/", "/a"} {
				m.wantStatus(http.StatusForbidden, "PUT", path, "text", header...)
			}
			m.wantStatus(http.StatusOK, "GET", document, "", header...)
		}
		form := []string{"Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html"}
		m.wantStatus(http.StatusForbidden, "POST", "/sign-in", "token="+url.QueryEscape(program.EpoxyToken),
			append(form, blocked...)...)
		m.wantStatus(http.StatusForbidden, "POST", "/", "code=spam", append(form, blocked...)...)
		m.wantStatus(http.StatusOK, "GET", page, "", append(html, blocked...)...)
		burns := createdID(t, m.nodes[0], `{"burn":true,"pasties":[{"code":"x"}]}`)
		status, body := send(t, m.nodes[0], http.MethodPost, "/"+burns+"/open", "do=open", append(form, blocked...)...)
		if status != http.StatusOK {
			t.Errorf("got %d %s for opening a paste, want 200: blocks do not affect reading", status, body)
		}
		m.wantStatus(http.StatusOK, "POST", "/api/v2/paste", aPaste, allowed...)
		m.operate("block remove 192.0.2.0/24")
		m.wantStatus(http.StatusOK, "POST", "/api/v2/paste", aPaste, blocked...)
	})
}

// TestAdministration moderates on pages, as an administrator. For everybody else these pages must not exist.
func TestAdministration(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		program.Fixture(t, cfg)
		p := program.Serve(t, cfg.URL, "GLUEPOT_HTTP_BASE_PATH=/api/v2", "GLUEPOT_HTTP_TRUSTED_PROXIES=127.0.0.1")
		m := &moderation{T: t, url: cfg.URL, nodes: [2]*program.Process{p, p}}
		m.operate("user update mortar --admin")
		id := createdID(t, p, aPaste)
		admin, other, anonymous := &visitor{t: t, p: p}, &visitor{t: t, p: p}, &visitor{t: t, p: p}
		admin.signIn(program.MortarToken)
		other.signIn(program.EpoxyToken)
		for _, path := range []string{
			"/admin", "/admin/users", "/admin/invitations", "/admin/blocks", "/admin/statistics", "/admin/audit",
		} {
			for _, reader := range []*visitor{other, anonymous} {
				for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"} {
					answer, body := reader.ask(method, path, nil)
					if method == http.MethodPut && path == "/admin" { // it uploads a file with this name, as elsewhere
						if answer.StatusCode != http.StatusBadRequest || !strings.Contains(body, "The body is empty") {
							t.Errorf("PUT /admin: got %d %s, want 400 for an upload without a body", answer.StatusCode, body)
						}
						continue
					}
					if answer.StatusCode != http.StatusNotFound || answer.Header.Get("Allow") != "" ||
						method != http.MethodHead && !strings.Contains(body, "There is nothing here") {
						t.Errorf("%s %s: got %d, Allow: %q, %s for others than administrators, want 404", method, path,
							answer.StatusCode, answer.Header.Get("Allow"), body)
					}
				}
			}
			if answer, body := admin.ask(http.MethodGet, path, nil); answer.StatusCode != http.StatusOK {
				t.Errorf("%s: got %d %s for an administrator, want the page", path, answer.StatusCode, body)
			}
		}
		removal := url.Values{"do": {"remove"}, "id": {id}, "reason": {"x"}}
		if answer, _ := other.ask(http.MethodPost, "/admin", removal); answer.StatusCode != http.StatusNotFound {
			t.Errorf("got %d for a user, want 404", answer.StatusCode)
		}
		if _, list := admin.ask(http.MethodGet, "/admin?contains=buy", nil); !strings.Contains(list, `value="`+id+`"`) {
			t.Errorf("got %s, want the paste", list)
		}
		if _, list := admin.ask(http.MethodGet, "/admin?owner=typo", nil); !strings.Contains(list, "There is no such user.") {
			t.Errorf("got %s, want the message about an unknown user", list)
		}
		do := func(path string, fields url.Values) {
			t.Helper()
			if answer, body := admin.ask(http.MethodPost, path, fields); answer.StatusCode != http.StatusSeeOther {
				t.Errorf("%s %v: got %d %s, want a redirect", path, fields, answer.StatusCode, body)
			}
		}
		answer, _ := admin.ask(http.MethodPost, "/admin?contains=buy",
			url.Values{"do": {"remove"}, "id": {id}, "reason": {"spam"}})
		if to := answer.Header.Get("Location"); to != "/admin?contains=buy" {
			t.Errorf("got %d with Location %q, want a redirect to the same list", answer.StatusCode, to)
		}
		m.wantStatus(http.StatusGone, "GET", "/"+id, "", "Accept", "text/html")
		if _, list := admin.ask(http.MethodGet, "/admin?removed=on", nil); !strings.Contains(list,
			"removed by mortar: spam") {
			t.Errorf("got %s, want the administrator and the reason", list)
		}
		do("/admin", url.Values{"do": {"restore"}, "id": {id}})
		m.wantStatus(http.StatusOK, "GET", "/"+id, "", "Accept", "text/html")
		pageOf := func(name string) string {
			t.Helper()
			_, list := admin.ask(http.MethodGet, "/admin/users?name="+name, nil)
			match := regexp.MustCompile(`href="(/admin/users/[^"]+)"`).FindStringSubmatch(list)
			if match == nil {
				t.Fatalf("got %s, want the user %s", list, name)
			}
			return match[1]
		}
		do(pageOf("epoxy"), url.Values{"do": {"suspend"}, "reason": {"spam"}})
		m.wantStatus(http.StatusForbidden, "GET", "/api/v2/user/self", "", "Authorization", program.EpoxyToken)
		do(pageOf("epoxy"), url.Values{"do": {"unsuspend"}})
		answer, body := admin.ask(http.MethodPost, pageOf("mortar"), url.Values{"do": {"suspend"}, "reason": {"a slip"}})
		if answer.StatusCode != http.StatusBadRequest ||
			!strings.Contains(body, "Only another administrator can suspend it") {
			t.Errorf("got %d %s, want 400: administrators cannot suspend themselves", answer.StatusCode, body)
		}
		other.signIn(program.EpoxyToken)
		form := url.Values{"name": {"own"}, "scope": {"read"}, "days": {"30"}}
		if answer, _ := other.ask(http.MethodPost, "/account/tokens", form); answer.StatusCode >= http.StatusBadRequest {
			t.Errorf("got %d, want a new token", answer.StatusCode)
		}
		do("/admin/blocks", url.Values{"network": {"192.0.2.0/24"}, "reason": {"spam"}, "days": {"7"}})
		m.wantStatus(http.StatusForbidden, "POST", "/api/v2/paste", aPaste, "X-Forwarded-For", "192.0.2.9")
		do("/admin/blocks", url.Values{"remove": {"192.0.2.0/24"}})
		_, log := admin.ask(http.MethodGet, "/admin/audit", nil)
		for _, act := range []string{
			"user.make-admin mortar", "paste.remove " + id, "paste.restore " + id, "user.suspend Epoxy",
			"block.add 192.0.2.0/24", "by mortar", "by operator", "by Epoxy",
		} {
			if !strings.Contains(log, act) {
				t.Errorf("got %s, want %q in it", log, act)
			}
		}
		removal = url.Values{"do": {"remove"}, "id": {id}}
		if answer, body := admin.ask(http.MethodPost, "/admin", removal); answer.StatusCode != http.StatusBadRequest ||
			!strings.Contains(body, "Give a reason") {
			t.Errorf("got %d %s without a reason, want 400 and a request for one", answer.StatusCode, body)
		}
		hour := map[bool]string{true: "interval '61 minutes'", false: "3660000000"}[strings.HasPrefix(m.url, "postgres")]
		if _, err := database.SQL(t, cfg).Exec("UPDATE access_tokens SET created_at = created_at - " + hour); err != nil {
			t.Fatal(err)
		}
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			if answer, _ := admin.ask(method, "/admin", removal); answer.StatusCode != http.StatusSeeOther ||
				answer.Header.Get("Location") != "/sign-in?next=%2Fadmin" {
				t.Errorf("%s: got %d %s for an old session, want a redirect to the sign-in", method, answer.StatusCode,
					answer.Header.Get("Location"))
			}
		}
	})
}

// TestReports reports a paste as a reader, up to the limit, and closes the report as an administrator.
func TestReports(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		program.Fixture(t, cfg)
		settings := []string{"GLUEPOT_HTTP_BASE_PATH=/api/v2", "GLUEPOT_HTTP_TRUSTED_PROXIES=127.0.0.1"}
		without := program.Serve(t, cfg.URL, settings...)
		p := program.Serve(t, cfg.URL, append(settings, "GLUEPOT_REPORTS=true")...)
		m := &moderation{T: t, url: cfg.URL, nodes: [2]*program.Process{p, p}}
		m.operate("user update mortar --admin")
		id, other := createdID(t, p, aPaste), createdID(t, p, aPaste)
		reader, admin := &visitor{t: t, p: p}, &visitor{t: t, p: p}
		want := func(who *visitor, status int, method, path string, form url.Values, part string) {
			t.Helper()
			if answer, body := who.ask(method, path, form); answer.StatusCode != status || !strings.Contains(body, part) {
				t.Errorf("%s %s: got %d %s, want %d and %q", method, path, answer.StatusCode, body, status, part)
			}
		}
		want(reader, http.StatusOK, http.MethodGet, "/"+id, nil, `href="/`+id+`/report"`)
		want(reader, http.StatusOK, http.MethodGet, "/"+id+"/report", nil, "malware or phishing")
		off := &visitor{t: t, p: without}
		if _, body := off.ask(http.MethodGet, "/"+id, nil); strings.Contains(body, "report") {
			t.Errorf("got %s without GLUEPOT_REPORTS, want no link to the form", body)
		}
		complaint := url.Values{"reason": {"spam"}, "text": {"one <b>\r\ntwo"}}
		want(off, http.StatusNotFound, http.MethodPost, "/"+id+"/report", complaint, "")
		want(reader, http.StatusSeeOther, http.MethodPost, "/"+id+"/report", complaint, "")
		want(reader, http.StatusOK, http.MethodGet, "/"+id+"/report?sent", nil, "Thank you")
		want(reader, http.StatusNotFound, http.MethodPost, "/unknown0/report", complaint, "There is nothing here")
		want(reader, http.StatusBadRequest, http.MethodPost, "/"+id+"/report", url.Values{"reason": {"dull"}},
			"Choose one of the reasons")
		long := url.Values{"reason": {"spam"}, "text": {strings.Repeat("x", 2001)}}
		want(reader, http.StatusBadRequest, http.MethodPost, "/"+id+"/report", long, "at most 2000 characters")
		form := []string{"Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html"}
		m.wantStatus(http.StatusForbidden, "POST", "/"+id+"/report", "reason=spam",
			append(form, "Sec-Fetch-Site", "cross-site")...)
		for range 9 {
			want(reader, http.StatusSeeOther, http.MethodPost, "/"+other+"/report", complaint, "")
		}
		want(reader, http.StatusTooManyRequests, http.MethodPost, "/"+other+"/report", complaint,
			"the limit for reports")
		m.operate("block add 192.0.2.0/24 --reason spam")
		m.wantStatus(http.StatusForbidden, "POST", "/"+id+"/report", "reason=spam",
			append(form, "X-Forwarded-For", "192.0.2.7")...)
		m.wantStatus(http.StatusSeeOther, "POST", "/"+other+"/report", "reason=spam",
			append(form, "X-Forwarded-For", "192.0.3.7")...)

		admin.signIn(program.MortarToken)
		want(admin, http.StatusOK, http.MethodGet, "/", nil, `href="/admin"`)
		want(admin, http.StatusOK, http.MethodGet, "/admin", nil, `href="/admin/reports"`)
		want(reader, http.StatusNotFound, http.MethodGet, "/admin/reports", nil, "")
		want(admin, http.StatusOK, http.MethodGet, "/admin/reports", nil, "one &lt;b&gt;\ntwo")
		_, list := admin.ask(http.MethodGet, "/admin/reports", nil)
		_, after, _ := strings.Cut(list, `name="id" value="`)
		report, _, _ := strings.Cut(after, `"`)
		if !strings.HasPrefix(report, id) {
			t.Fatalf("got %s, want the report of %s first", list, id)
		}
		want(admin, http.StatusSeeOther, http.MethodPost, "/admin/reports", url.Values{"do": {"close"}, "id": {report}}, "")
		want(admin, http.StatusBadRequest, http.MethodPost, "/admin/reports", url.Values{"do": {"close"}, "id": {report}},
			"no open report")
		removal := url.Values{"do": {"remove"}, "id": {""}, "paste": {other}, "reason": {"spam"}}
		want(admin, http.StatusSeeOther, http.MethodPost, "/admin/reports", removal, "")
		m.wantStatus(http.StatusGone, "GET", "/"+other, "", "Accept", "text/html")
		want(admin, http.StatusOK, http.MethodGet, "/admin/reports", nil, "There are no open reports.")
		want(reader, http.StatusGone, http.MethodPost, "/"+other+"/report", complaint, "")
		want(admin, http.StatusOK, http.MethodGet, "/admin/audit", nil, "report.close "+report)
	})
}

// TestOrigins checks that the address of a client behind a proxy is kept as long as configured, and shown only to
// operators. By default, no statement concerns addresses.
func TestOrigins(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		program.Fixture(t, cfg)
		settings := []string{
			"GLUEPOT_HTTP_BASE_PATH=/api/v2", "GLUEPOT_HTTP_TRUSTED_PROXIES=127.0.0.1", "GLUEPOT_DATABASE_SLOW_STATEMENT=1ns",
			"GLUEPOT_SWEEP_INTERVAL=0", "GLUEPOT_LIMIT_ANONYMOUS_PASTES=9",
		}
		create := func(p *program.Process, path, body, address string) string {
			t.Helper()
			status, answer := send(t, p, http.MethodPost, path, body, "X-Forwarded-For", "203.0.113.9, "+address, "Content-Type",
				"application/json")
			var created struct {
				ID string `json:"_id"`
			}
			if err := json.Unmarshal([]byte(answer), &created); err != nil || status != http.StatusOK ||
				strings.Contains(answer, address) {
				t.Fatalf("got %d %s, %v, want a paste without the client's address", status, answer, err)
			}
			return created.ID
		}
		shows := func(id, want string) bool {
			_, stdout, stderr := program.Run(t, []string{"GLUEPOT_DATABASE_URL=" + cfg.URL}, "paste", "show", id, "--origin")
			return stdout == want && (want != "" || strings.Contains(stderr, "No address is stored for that paste"))
		}
		off := program.Serve(t, cfg.URL, settings...)
		if id := create(off, "/api/v2/paste", aPaste, "192.0.2.7"); !shows(id, "") {
			t.Error("got an address, want none without GLUEPOT_ORIGIN_RETENTION")
		}
		off.WaitForLog("request") // logged after its statements
		if strings.Contains(off.Stderr.String(), "paste_origins") {
			t.Error("got a statement about addresses without GLUEPOT_ORIGIN_RETENTION, want none")
		}
		on := program.Serve(t, cfg.URL, append(settings, "GLUEPOT_ORIGIN_RETENTION=24h")...)
		id := create(on, "/api/v2/paste", aPaste, "192.0.2.7")
		if !shows(id, "192.0.2.7\n") {
			t.Error("got another origin, want 192.0.2.7, which the proxy saw")
		}
		on.WaitForLog("request")
		if !strings.Contains(on.Stderr.String(), "paste_origins") {
			t.Error("got no statement about addresses in the log, want one: the check above proves nothing")
		}
		if _, stdout, _ := program.Run(t, []string{"GLUEPOT_DATABASE_URL=" + cfg.URL}, "audit", "list",
			"--json"); strings.Contains(
			stdout, "192.0.2.7") {
			t.Errorf("got %s, want no address in the audit log", stdout)
		}
		program.Serve(t, cfg.URL, append(settings, "GLUEPOT_ORIGIN_RETENTION=1ms", "GLUEPOT_SWEEP_INTERVAL=50ms")...)
		program.Eventually(t, "the address is swept", func() bool { return shows(id, "") })
	})
}
