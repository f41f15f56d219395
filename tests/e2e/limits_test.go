package e2e

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/openapi"
	"github.com/gluepot/gluepot/tests/program"
)

// TestLimits checks that every operation is refused if a client sends too many requests, but the health checks are not.
func TestLimits(t *testing.T) {
	t.Parallel()
	p := program.Serve(t, database.SQLite(t).URL, "GLUEPOT_LIMIT_RATE=1", "GLUEPOT_LIMIT_BURST=1")
	contract, err := openapi.Shared()
	if err != nil {
		t.Fatal(err)
	}
	for _, operation := range contract.Operations() {
		// One request a second is allowed.
		program.Eventually(t, operation.Method+" "+operation.Target+" is refused", func() bool {
			answer, _ := exchange(t, p, operation.Method, operation.Target)
			if answer.StatusCode != http.StatusTooManyRequests {
				return false
			}
			if retry := answer.Header.Get("Retry-After"); retry != "1" {
				t.Errorf("%s %s: got Retry-After %q, want 1", operation.Method, operation.Target, retry)
			}
			return true
		})
	}
	wantStatus(t, p, "/healthz", http.StatusOK)
	wantStatus(t, p, "/readyz", http.StatusOK)
}

// TestWrongDeleteKeys tries delete keys through the API and the form. They count against the address, like other
// invalid secrets, but not against the session.
func TestWrongDeleteKeys(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	p := program.Serve(t, cfg.URL,
		"GLUEPOT_LIMIT_FAILED_SIGN_INS=3", "GLUEPOT_LIMIT_RATE=1000", "GLUEPOT_HTTP_TRUSTED_PROXIES=127.0.0.1")
	created, body := exchange(t, p, http.MethodPost, "/paste", "\n"+`{"pasties":[{"code":"x"}]}`)
	_, id, _ := strings.Cut(body, `{"_id":"`)
	id, _, _ = strings.Cut(id, `"`)
	const formType = "application/x-www-form-urlencoded"
	wantStatuses := func(what string, statuses []int, from, method, path, body string, header ...string) {
		t.Helper()
		for i, want := range statuses {
			header := append([]string{"X-Forwarded-For", from, "Content-Type", formType}, header...)
			answer, page := roundTrip(t, p, method, path, body, header...)
			if answer.StatusCode != want {
				t.Errorf("%s, request %d: got %d %s, want %d", what, i+1, answer.StatusCode, page, want)
			}
		}
	}
	tryByAPI := func(what string, statuses []int, from string, header ...string) {
		t.Helper()
		wantStatuses(what, statuses, from, http.MethodDelete, "/paste/"+id, "", append(header, "Gluepot-Delete-Key",
			"wrong")...)
	}
	tryByForm := func(what string, statuses []int, from string, header ...string) {
		t.Helper()
		wantStatuses(what, statuses, from, http.MethodPost, "/"+id+"/delete", "key=wrong", header...)
	}
	tryByAPI("through the API", []int{401, 401, 401, 429}, "192.0.2.1")
	tryByForm("through the form, same address", []int{429}, "192.0.2.1")
	wantStatuses("an invalid token, same address", []int{429}, "192.0.2.1", http.MethodGet, "/user/self", "",
		"Authorization", "made-up")
	wantStatuses("no secret, same address", []int{200}, "192.0.2.1", http.MethodGet, "/paste/"+id, "")
	tryByForm("through the form", []int{401, 401, 401, 429}, "192.0.2.2")
	tryByAPI("through the API, same address", []int{429}, "192.0.2.2")

	token := []string{"Authorization", program.EpoxyToken}
	tryByAPI("with a valid token", []int{401, 401, 401, 429}, "192.0.2.3", token...)
	wantStatuses("the token still works", []int{200}, "192.0.2.3", http.MethodGet, "/user/self", "", token...)
	epoxy := newSurfer(t, p)
	epoxy.wantPage(http.StatusSeeOther, "/pastes", http.MethodPost, "/sign-in", url.Values{"token": {program.EpoxyToken}})
	cookie := []string{"Cookie", "gluepot-session=" + epoxy.cookie("gluepot-session")}
	wantStatuses("a session", []int{200}, "192.0.2.4", http.MethodGet, "/pastes", "", cookie...)
	tryByForm("in a session", []int{401, 401, 401}, "192.0.2.4", cookie...)
	wantStatuses("the session still works", []int{200}, "192.0.2.4", http.MethodGet, "/pastes", "", cookie...)
	wantStatuses("the address is refused", []int{429}, "192.0.2.4", http.MethodGet, "/user/self", "", "Authorization",
		"made-up")
	wantStatuses("the right key", []int{200}, "192.0.2.5", http.MethodDelete, "/paste/"+id, "",
		"Gluepot-Delete-Key", created.Header.Get("Gluepot-Delete-Key"))
}

// TestNoLimitsByDefault sends more requests than any limit would allow.
func TestNoLimitsByDefault(t *testing.T) {
	t.Parallel()
	p := program.Serve(t, database.SQLite(t).URL)
	for range 200 {
		answer, _ := exchange(t, p, http.MethodGet, "/user/self")
		if answer.StatusCode != http.StatusUnauthorized {
			t.Fatalf("got %d with %v, want 401 and no limit", answer.StatusCode, answer.Header)
		}
	}
}

// TestAnonymousPastesAreLimited creates more pastes from one address than it may, on two nodes at once, and checks that
// others still can.
func TestAnonymousPastesAreLimited(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	program.Fixture(t, cfg)
	db := database.SQL(t, cfg)
	var nodes [2]*program.Process
	for i := range nodes {
		nodes[i] = program.Serve(t, cfg.URL, "GLUEPOT_LIMIT_ANONYMOUS_PASTES=5", "GLUEPOT_HTTP_TRUSTED_PROXIES=127.0.0.1",
			"GLUEPOT_ADMIN_ADDR=127.0.0.1:0", "GLUEPOT_LIMIT_RATE=1000", "GLUEPOT_SWEEP_INTERVAL=100ms")
	}
	const body = `{"pasties":[{"code":"x"}]}`
	create := func(node int, path, client string, headers ...string) *http.Response {
		content := body
		if path == "/raw" {
			content = "x"
		}
		answer, _ := exchange(t, nodes[node], http.MethodPost, path,
			append(headers, "X-Forwarded-For: "+client, "\n"+content)...)
		return answer
	}
	// createTogether creates 20 pastes at once, of which 5 must succeed.
	createTogether := func(clients ...string) {
		t.Helper()
		var (
			mu       sync.Mutex
			statuses = make(map[int]int)
			requests sync.WaitGroup
		)
		for i := range 20 {
			requests.Go(func() {
				answer := create(i%2, []string{"/paste", "/raw"}[i/2%2], clients[i%len(clients)])
				mu.Lock()
				defer mu.Unlock()
				statuses[answer.StatusCode]++
				if retry, err := strconv.Atoi(answer.Header.Get("Retry-After")); answer.StatusCode == http.StatusTooManyRequests &&
					(err != nil || retry < 600 || retry > 720) {
					t.Errorf("got Retry-After %q, want up to a fifth of an hour", answer.Header.Get("Retry-After"))
				}
			})
		}
		requests.Wait()
		if statuses[http.StatusOK] != 5 || statuses[http.StatusTooManyRequests] != 15 {
			t.Errorf("%v: got the statuses %v, want 5 pastes and 15 refusals", clients, statuses)
		}
	}
	createTogether("192.0.2.1")
	for i, want := range []string{`"anonymous";r=4;t=`, `"anonymous";r=3;t=`} {
		answer := create(i%2, "/paste", "192.0.2.77")
		const policy = `"requests";q=1000;w=1, "anonymous";q=5;w=3600`
		if got := answer.Header.Get("RateLimit"); !strings.Contains(got, want) ||
			answer.Header.Get("RateLimit-Policy") != policy {
			t.Errorf("got RateLimit %s with the policy %s, want %q with %s", got, answer.Header.Get("RateLimit-Policy"), want,
				policy)
		}
	}
	createTogether("2001:db8::1", "2001:db8::ffff:0:0:1") // both are of one network
	wantCreated := func(what string, answer *http.Response) {
		t.Helper()
		if answer.StatusCode != http.StatusOK {
			t.Errorf("%s: got %s, want 200", what, answer.Status)
		}
	}
	wantCreated("another network", create(0, "/paste", "2001:db8:0:1::1"))
	for range 6 {
		wantCreated("a token", create(1, "/paste", "192.0.2.1", owner))
	}
	code, _, stderr := program.Run(t, []string{"GLUEPOT_DATABASE_URL=" + cfg.URL, "GLUEPOT_LIMIT_ANONYMOUS_PASTES=1"},
		"paste", "create")
	if code != 0 {
		t.Errorf("an operator: got exit code %d, %s, want 0", code, stderr)
	}
	for _, minutes := range []int{12, 24} { // as if this much time had passed
		if _, err := db.Exec("UPDATE paste_quotas SET full_at = full_at - $1 * interval '1 minute'", minutes); err != nil {
			t.Fatal(err)
		}
		for range minutes / 12 {
			wantCreated("later", create(minutes/12%2, "/raw", "192.0.2.1"))
		}
		if answer := create(0, "/raw", "192.0.2.1"); answer.StatusCode != http.StatusTooManyRequests {
			t.Errorf("got %s with the quota used up, want 429", answer.Status)
		}
	}
	if _, err := db.Exec("UPDATE paste_quotas SET full_at = full_at - interval '1 hour'"); err != nil {
		t.Fatal(err)
	}
	program.Eventually(t, "the clients are forgotten", func() (empty bool) {
		return db.QueryRow("SELECT NOT EXISTS (SELECT 1 FROM paste_quotas)").Scan(&empty) == nil && empty
	})
	refusals := 0
	for _, node := range nodes {
		admin, _ := node.WaitForLog("serving metrics")["address"].(string)
		for line := range strings.Lines(scrape(t, admin, "/metrics")) {
			if count, ok := strings.CutPrefix(line, `gluepot_requests_limited_total{limit="anonymous_pastes"} `); ok {
				n, _ := strconv.Atoi(strings.TrimSpace(count))
				refusals += n
			}
		}
	}
	if refusals != 32 {
		t.Errorf("got %d refusals in the metrics, want 32", refusals)
	}
}

// TestLifetimes asks for longer lifetimes than the operator allows, and checks those in the answers.
func TestLifetimes(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	p := program.Serve(t, cfg.URL, "GLUEPOT_PASTE_MAX_LIFETIME=1y", "GLUEPOT_ANONYMOUS_DEFAULT_LIFETIME=1d",
		"GLUEPOT_ANONYMOUS_MAX_LIFETIME=1m")
	for _, c := range []struct{ path, body, token, want string }{
		{"/paste", `{"expiresIn":"never","pasties":[{"code":"x"}]}`, "", "1m"},
		{"/paste", `{"pasties":[{"code":"x"}]}`, "", "1d"},
		{"/paste", `{"expiresIn":"never","pasties":[{"code":"x"}]}`, owner, "1y"},
		{"/raw?expiresIn=1y", "x", "", "1m"},
	} {
		headers := []string{"Accept: application/json"}
		if c.token != "" {
			headers = append(headers, c.token)
		}
		answer, body := exchange(t, p, http.MethodPost, c.path, append(headers, "\n"+c.body)...)
		if answer.StatusCode != http.StatusOK || !strings.Contains(body, `"expiresIn":"`+c.want+`"`) ||
			strings.Contains(body, `"deletesAt":0`) {
			t.Errorf("%s %s: got %s %s, want a paste for %s", c.path, c.body, answer.Status, body, c.want)
		}
	}
}

// TestUserQuotas creates pastes with 64 clients of one user on two nodes at once. Exactly the quota must succeed.
func TestUserQuotas(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	program.Fixture(t, cfg)
	db := database.SQL(t, cfg)
	var nodes [2]*program.Process
	for i := range nodes {
		nodes[i] = program.Serve(t, cfg.URL, "GLUEPOT_USER_MAX_PASTES=20", "GLUEPOT_USER_MAX_BYTES=2000",
			"GLUEPOT_USER_PASTES_PER_HOUR=30")
	}
	if _, err := db.Exec("DELETE FROM pastes"); err != nil {
		t.Fatal(err)
	}
	create := func(node int, code string) (*http.Response, string) {
		return exchange(t, nodes[node], http.MethodPost, "/paste", owner, "\n"+`{"pasties":[{"code":"`+code+`"}]}`)
	}
	var (
		mu       sync.Mutex
		statuses = make(map[int]int)
		id       string
		requests sync.WaitGroup
	)
	for i := range 64 {
		requests.Go(func() {
			answer, body := create(i%2, "0123456789")
			mu.Lock()
			defer mu.Unlock()
			statuses[answer.StatusCode]++
			if answer.StatusCode == http.StatusOK {
				_, rest, _ := strings.Cut(body, `{"_id":"`)
				id, _, _ = strings.Cut(rest, `"`)
			} else if !strings.Contains(body, `"type":"quota"`) {
				t.Errorf("got %s, want a problem of the type quota", body)
			}
		})
	}
	requests.Wait()
	if statuses[http.StatusOK] != 20 || statuses[http.StatusForbidden] != 44 {
		t.Errorf("got the statuses %v, want 20 pastes and 44 refusals", statuses)
	}
	remove := func() {
		t.Helper()
		if answer, body := exchange(t, nodes[0], http.MethodDelete, "/paste/"+id, owner); answer.StatusCode != http.StatusOK {
			t.Fatalf("got %s %s, want the paste deleted", answer.Status, body)
		}
	}
	remove()
	if answer, _ := create(1, strings.Repeat("x", 1811)); answer.StatusCode != http.StatusForbidden {
		t.Errorf("a byte too many: got %s, want 403", answer.Status)
	}
	if answer, body := create(1, strings.Repeat("x", 1810)); answer.StatusCode != http.StatusOK {
		t.Errorf("a paste that fits: got %s %s, want 200", answer.Status, body)
	}
	if _, err := db.Exec("DELETE FROM pastes"); err != nil {
		t.Fatal(err)
	}
	pastes := 0
	for ; pastes < 12; pastes++ { // 21 of 30 are used
		answer, _ := create(pastes%2, "x")
		if answer.StatusCode == http.StatusTooManyRequests {
			if retry, err := strconv.Atoi(answer.Header.Get("Retry-After")); err != nil || retry < 1 || retry > 120 {
				t.Errorf("got Retry-After %q, want up to a thirtieth of an hour", answer.Header.Get("Retry-After"))
			}
			break
		}
	}
	if pastes != 9 {
		t.Errorf("got %d more pastes in this hour, want 9", pastes)
	}
	settings := []string{"GLUEPOT_DATABASE_URL=" + cfg.URL}
	if code, _, stderr := program.Run(t, settings, "user", "update", "epoxy", "--admin"); code != 0 {
		t.Fatal(stderr)
	}
	if answer, body := create(0, strings.Repeat("x", 3000)); answer.StatusCode != http.StatusOK {
		t.Errorf("an administrator: got %s %s, want no quota", answer.Status, body)
	}
}

// TestStoreFull fills the store, and checks that reading and deleting still work and that deleting makes room.
func TestStoreFull(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	p := program.Serve(t, cfg.URL, "GLUEPOT_STORE_MAX_BYTES=100000", "GLUEPOT_MCP=true")
	create := func() (*http.Response, string) {
		return exchange(t, p, http.MethodPost, "/paste", owner,
			"\n"+`{"pasties":[{"code":"`+strings.Repeat("x", 90000)+`"}]}`)
	}
	var ids []string
	for range 2 {
		answer, body := create()
		if answer.StatusCode != http.StatusOK {
			t.Fatalf("got %s %s, want a paste", answer.Status, body)
		}
		_, rest, _ := strings.Cut(body, `{"_id":"`)
		id, _, _ := strings.Cut(rest, `"`)
		ids = append(ids, id)
	}
	const full = "This server is full: you can read and delete pastes, but not add any. Try again later."
	if answer, body := create(); answer.StatusCode != http.StatusServiceUnavailable || !strings.Contains(body, full) {
		t.Errorf("got %s %s, want 503 and %q", answer.Status, body, full)
	}
	a := newAgent(t, p, program.EpoxyToken)
	a.wantRefusal("create_paste", arguments{"pasties": texts(arguments{"code": "x"})}, full)
	a.wantRefusal("edit_paste", arguments{"id": ids[0], "pasties": texts(arguments{"code": "x"})}, full)
	a.mustCall("read_paste", arguments{"id": ids[0]}, &toolPaste{})
	wantStatus(t, p, "/paste/"+ids[0], http.StatusOK)
	p.WaitForLog("the pastes use at least four fifths of GLUEPOT_STORE_MAX_BYTES: at the limit, no pastes can be created")
	a.mustCall("delete_paste", arguments{"id": ids[0]}, &struct{}{})
	for _, id := range ids[1:] {
		if answer, body := exchange(t, p, http.MethodDelete, "/paste/"+id, owner); answer.StatusCode != http.StatusOK {
			t.Errorf("got %s %s, want it deleted", answer.Status, body)
		}
	}
	program.Eventually(t, "there is room again", func() bool {
		answer, _ := create()
		return answer.StatusCode == http.StatusOK
	})
}

// TestLargeEdits checks that an edit with more values than the history can hold is refused. The history stays as it is,
// and its numbers continue.
func TestLargeEdits(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		program.Fixture(t, cfg)
		p := program.Serve(t, cfg.URL)
		type pasty struct {
			ID       string `json:"_id,omitempty"`
			Title    string `json:"title"`
			Language string `json:"language"`
			Code     string `json:"code"`
		}
		var document struct {
			ID      string  `json:"_id"`
			Pasties []pasty `json:"pasties"`
			Edits   []struct{ EditID int }
		}
		send := func(method, path string, body any) int {
			t.Helper()
			text, err := json.Marshal(body)
			if err != nil {
				t.Fatal(err)
			}
			answer, got := exchange(t, p, method, path, owner, "\n"+string(text))
			if answer.StatusCode == http.StatusOK {
				if err := json.Unmarshal([]byte(got), &document); err != nil {
					t.Fatal(err)
				}
			}
			return answer.StatusCode
		}
		send(http.MethodPost, "/paste", map[string]any{"pasties": slices.Repeat([]pasty{{Code: "x", Language: "Go"}}, 600)})
		path := "/paste/" + document.ID
		for number, title := range []string{"first", "second"} {
			if status := send(http.MethodPatch, path, map[string]any{"title": title}); status != http.StatusOK {
				t.Fatalf("title %s: got %d, want 200", title, status)
			}
			if n := len(document.Edits); n != number+1 || document.Edits[number].EditID != number {
				t.Errorf("title %s: got %+v, want %d edits, numbered from 0", title, document.Edits, number+1)
			}
			pasties := slices.Clone(document.Pasties)
			for i := range pasties {
				pasties[i].Title, pasties[i].Code = "new", "new" // 1,200 values
			}
			if status := send(http.MethodPatch, path, map[string]any{"pasties": pasties}); status != http.StatusBadRequest {
				t.Errorf("1,200 values: got %d, want 400", status)
			}
		}
	})
}
