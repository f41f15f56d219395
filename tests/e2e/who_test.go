package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/openapi"
	"github.com/gluepot/gluepot/tests/program"
)

// pasteRights says what the owner of a paste in each state may do, and after the slash what everybody else may.
//
// The first columns say what they see of it by its id: its text (T), that it exists (k: a ciphertext, or a page that
// asks for a key, asks before it burns the paste, or says that it was removed), or nothing (-). Embedding a paste shows
// it to everybody. A burning paste has no history and thus no repository. The next columns say which lists contain it
// (k), and the last whether they may change it (y), or are told that it does not exist (n). Only the operator has the
// command of the column show.
const pasteRights = `
state      v2   cipher  page  file  embed  mcp  git  pull  show  own  public  search  starred  edit  delete  star
public     T/T  -/-     T/T   T/T   T/T    T/T  T/T  T/T   T     k/-  k/k     k/k     k/k      y/n   y/n     y/y
unlisted   T/T  -/-     T/T   T/T   T/T    T/T  T/T  T/T   T     k/-  -/-     k/-     k/k      y/n   y/n     y/y
private    T/-  -/-     T/-   T/-   -/-    T/-  T/-  T/-   T     k/-  -/-     k/-     k/-      y/n   y/n     y/n
expired    -/-  -/-     -/-   -/-   -/-    -/-  -/-  -/-   -     -/-  -/-     -/-     -/-      n/n   n/n     n/n
removed    -/-  -/-     k/k   k/k   k/k    -/-  -/-  -/-   -     -/-  -/-     -/-     -/-      n/n   n/n     n/n
hidden     -/-  -/-     -/-   -/-   -/-    -/-  -/-  -/-   -     -/-  -/-     -/-     -/-      n/n   n/n     n/n
burning    T/-  -/-     T/k   T/-   -/-    T/-  -/-  T/-   T     k/-  -/-     -/-     -/-      y/n   y/n     n/n
encrypted  -/-  k/k     k/k   -/-   -/-    -/-  -/-  k/k   k     k/-  -/-     -/-     -/-      n/n   y/n     n/n
`

// actorRights says why an actor may not do what the state of a paste allows, or - if it may. The owner has a token
// (owner), a read-only one (reading), or a blocked network (blocked). Other actors have used up their quota (full), or
// are suspended. Each message of MCP is a POST, which is refused for a suspended user whatever it says.
const actorRights = `
actor          create     edit       delete     star       own        mcp
visitor        -          sign-in    sign-in    sign-in    sign-in    -
stranger       -          -          -          -          -          -
administrator  -          -          -          -          -          -
owner          -          -          -          -          -          -
reading        read-only  read-only  read-only  read-only  -          -
blocked        blocked    blocked    -          blocked    -          -
full           quota      quota      -          -          -          -
suspended      suspended  suspended  suspended  suspended  suspended  suspended
`

var (
	states, pasteCells = readTable(pasteRights)
	actors, actorCells = readTable(actorRights)
)

// readTable returns the names of the rows, and the cells by row and column.
func readTable(text string) (rows []string, cells map[string]map[string]string) {
	cells = make(map[string]map[string]string)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	header := strings.Fields(lines[0])
	for _, line := range lines[1:] {
		fields := strings.Fields(line)
		rows = append(rows, fields[0])
		cells[fields[0]] = make(map[string]string)
		for i, cell := range fields {
			cells[fields[0]][header[i]] = cell
		}
	}
	return rows, cells
}

const newTitle = "another title, which is longer"

// ways are the ways to do the action of a column through each entrypoint. ID stands for the paste's id. Those that read
// come first: the others leave pastes in lists.
var ways = []struct {
	column, entrypoint string
	ask                way
}{
	{"v2", "v2", api(http.MethodGet, "/paste/ID", "")},
	{"v2", "raw", api(http.MethodGet, "/raw/ID", "")},
	{"v2", "raw, a pasty", api(http.MethodGet, "/raw/ID/pasty001", "")},
	{"cipher", "v2", api(http.MethodGet, "/encrypted/ID", "")},
	{"page", "page", browse(http.MethodGet, "/ID", nil)},
	{"file", "page", browse(http.MethodGet, "/ID.txt", nil)},
	{"embed", "page", browse(http.MethodGet, "/ID/embed", nil)},
	{"mcp", "mcp", tool("read_paste", arguments{"id": "ID"})},
	{"mcp", "mcp resource", message("resources/read", arguments{"uri": "paste://ID"})},
	{"git", "git", git(http.MethodGet, "/info/refs?service=git-upload-pack", "")},
	{"git", "git without discovery", git(http.MethodPost, "/git-upload-pack",
		"0014command=ls-refs\n00010009peel\n0000")},
	{"git", "raw, a revision", api(http.MethodGet, "/raw/ID/pasty001/original", "")},
	{"pull", "command", command("pull", "ID")},
	{"show", "operator", command("paste", "show", "ID", "--json")},

	{"own", "v2", api(http.MethodGet, "/user/self/pastes", "")},
	{"own", "list", api(http.MethodGet, "/list/own", "")},
	{"own", "page", browse(http.MethodGet, "/pastes", nil)},
	{"own", "mcp", tool("list_my_pastes", arguments{})},
	{"own", "command", command("list", "--json")},
	{"public", "list of a user", api(http.MethodGet, "/list/user/owner", "")},
	{"public", "list of recent ones", api(http.MethodGet, "/list/recent", "")},
	{"public", "page of a user", browse(http.MethodGet, "/~owner", nil)},
	{"public", "page of recent ones", browse(http.MethodGet, "/recent", nil)},
	{"public", "feed", browse(http.MethodGet, "/~owner/feed.atom", nil)},
	{"search", "list", api(http.MethodGet, "/list/search?q=needle", "")},
	{"search", "page", browse(http.MethodGet, "/search?q=needle", nil)},
	{"search", "mcp", tool("search_pastes", arguments{"query": "needle"})},
	{"search", "command", command("find", "needle", "--json")},
	{"starred", "list", api(http.MethodGet, "/list/starred", "")},
	{"starred", "page", browse(http.MethodGet, "/starred", nil)},
	{"starred", "command", command("list", "--starred", "--json")},

	{"create", "v2", api(http.MethodPost, "/paste", aPaste)},
	{"create", "raw", api(http.MethodPost, "/raw", "text")},
	{"create", "raw, put", api(http.MethodPut, "/raw", "text")},
	{"create", "raw, put with a name", api(http.MethodPut, "/raw/a.txt", "text")},
	{"create", "encrypted", api(http.MethodPost, "/encrypted",
		`{"version":1,"cipher":"`+strings.Repeat("A", 60)+`","salt":""}`)},
	{"create", "page", browse(http.MethodPost, "/", url.Values{"code": {"text"}})},
	{"create", "mcp", tool("create_paste", arguments{"pasties": texts(arguments{"code": "text"})})},
	{"create", "command", push},
	{"edit", "v2", api(http.MethodPatch, "/paste/ID", `{"title":"`+newTitle+`"}`)},
	{"edit", "page", editOnPage},
	{"edit", "mcp", tool("edit_paste", arguments{"id": "ID", "title": newTitle})},
	{"delete", "v2", api(http.MethodDelete, "/paste/ID", "")},
	{"delete", "page", browse(http.MethodPost, "/ID/delete", nil)},
	{"delete", "mcp", tool("delete_paste", arguments{"id": "ID"})},
	{"delete", "command", command("drop", "ID")},
	{"star", "v2", api(http.MethodPut, "/paste/ID/star", "")},
	{"star", "v2, removed", api(http.MethodDelete, "/paste/ID/star", "")},
	{"star", "page", browse(http.MethodPost, "/ID/star", url.Values{"do": {"star"}})},
	{"star", "command", command("star", "ID")},
}

// way does something with a paste. For entrypoints other than HTTP, the status is the corresponding one.
type way func(t *testing.T, a *actor, d *paste.Document) (status int, text string)

// apiRequests are the requests of all calls of api.
var apiRequests []request

func api(method, path, body string) way {
	apiRequests = append(apiRequests, with(method, path))
	return func(t *testing.T, a *actor, d *paste.Document) (int, string) {
		path := strings.Replace(path, "ID", string(d.ID), 1)
		return send(t, a.server, method, path, body, a.headers("Bearer "+a.token)...)
	}
}

// browse requests a page in the actor's session, and keeps no cookies.
func browse(method, path string, form url.Values) way {
	return func(t *testing.T, a *actor, d *paste.Document) (int, string) {
		browser := a.browser
		browser.t = t
		answer, text := browser.ask(method, strings.Replace(path, "ID", string(d.ID), 1), form)
		if strings.HasPrefix(answer.Header.Get("Location"), "/sign-in") {
			return http.StatusUnauthorized, "You are not signed in"
		}
		return answer.StatusCode, text
	}
}

func editOnPage(t *testing.T, a *actor, d *paste.Document) (int, string) {
	return browse(http.MethodPost, "/ID/edit", url.Values{
		"base": {d.Revision()}, "title": {newTitle}, "visibility": {d.Visibility.String()}, "snippet": {"pasty001"},
		"name": {"a.txt"}, "language": {"Plain Text"}, "code": {"needle"},
	})(t, a, d)
}

// message sends a message of MCP.
func message(method string, params arguments) way {
	return func(t *testing.T, a *actor, d *paste.Document) (int, string) {
		body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
		must(t, err)
		status, text := send(t, a.server, http.MethodPost, "/mcp", strings.Replace(string(body), "ID", string(d.ID), 1),
			append(slices.Clone(jsonRPC), a.headers("Bearer "+a.token)...)...)
		if strings.Contains(text, `"isError":true`) || strings.Contains(text, `"error":{`) {
			status = statusOf[reason(text)]
		}
		return status, text
	}
}

func tool(name string, in arguments) way {
	return message("tools/call", arguments{"name": name, "arguments": in})
}

func command(args ...string) way {
	return func(t *testing.T, a *actor, d *paste.Document) (int, string) {
		with := slices.Clone(args)
		if i := slices.Index(with, "ID"); i >= 0 {
			with[i] = string(d.ID)
		}
		code, text, stderr := program.Run(t, a.settings, with...)
		if code != 0 {
			return statusOf[reason(stderr)], stderr
		}
		return http.StatusOK, text
	}
}

func push(t *testing.T, a *actor, d *paste.Document) (int, string) {
	file := filepath.Join(t.TempDir(), "a.txt")
	must(t, os.WriteFile(file, []byte("text"), 0o600))
	return command("push", file)(t, a, d)
}

// git requests a repository. Without a token, its 401 means the same as a 404: Git sends credentials only after a 401.
func git(method, path, body string) way {
	return func(t *testing.T, a *actor, d *paste.Document) (int, string) {
		secret := base64.StdEncoding.EncodeToString([]byte("x:" + a.token))
		status, text := send(t, a.server, method, "/"+string(d.ID)+".git"+path, body,
			a.headers("Basic "+secret, "Git-Protocol", "version=2")...)
		switch {
		case status == http.StatusOK:
			text = d.Pasties[0].Code
		case status == http.StatusUnauthorized && a.token == "":
			status = http.StatusNotFound
		}
		return status, text
	}
}

// reasons are parts of the sentences of refusals, with the reasons.
var reasons = [][2]string{
	{"may only read", "read-only"}, {"suspended", "suspended"}, {"network is blocked", "blocked"},
	{"exceed your limit", "quota"}, {"here is no paste with that id", "none"}, {"esource not found", "none"},
	{"There is nothing here", "none"}, {"This paste no longer exists", "none"}, {"This paste was removed", "none"},
	{"key after the # is missing", "key"}, {"token is missing or not valid", "sign-in"},
	{"You are not signed in", "sign-in"}, {"not logged in", "sign-in"}, {"gluepot login", "sign-in"},
	{"You are no longer signed in", "sign-in"}, {"This is not the paste", "sign-in"},
}

var statusOf = map[string]int{
	"read-only": http.StatusForbidden, "suspended": http.StatusForbidden, "blocked": http.StatusForbidden,
	"quota": http.StatusForbidden, "none": http.StatusNotFound, "sign-in": http.StatusUnauthorized, "key": http.StatusOK,
}

func reason(text string) string {
	for _, pair := range reasons {
		if strings.Contains(text, pair[0]) {
			return pair[1]
		}
	}
	return text
}

// outcome returns y if something was done, n if the answer is that the paste does not exist, or the reason of a
// refusal.
func outcome(status int, text string) string {
	if status < http.StatusBadRequest {
		return "y"
	}
	why := reason(text)
	switch {
	case why == "none" && (status == http.StatusNotFound || status == http.StatusGone):
		return "n"
	case status == statusOf[why]:
		return why
	}
	return fmt.Sprint(status, " ", why)
}

// sight returns a cell that says what an answer shows of a paste.
func sight(status int, text string, d *paste.Document) string {
	switch {
	case len(d.Pasties) > 0 && strings.Contains(text, d.Pasties[0].Code):
		return "T"
	case d.Title != "" && strings.Contains(text, d.Title):
		return "the title"
	case status == http.StatusOK || status == http.StatusGone:
		return "k"
	case status == http.StatusNotFound:
		return "-"
	}
	return outcome(status, text)
}

// actor is somebody who uses Gluepot.
type actor struct {
	name     string
	id       user.ID // empty for a visitor and the operator
	token    string
	server   *program.Process // or a proxy in a blocked network
	browser  visitor
	settings []string // of commands
}

// headers returns headers with this Authorization, or without it for visitors.
func (a *actor) headers(header string, others ...string) []string {
	if a.token == "" {
		return others
	}
	return append([]string{"Authorization", header}, others...)
}

// rights is a server with its users and pastes.
type rights struct {
	store   *gormstore.Store
	pastes  *gormstore.Pastes
	actors  []*actor
	samples map[string]*paste.Document // a paste in each state, to read
}

// openRights starts a server, and stores users with pastes in each state.
func openRights(t *testing.T, cfg gormstore.Config) *rights {
	t.Helper()
	const maxBytes = 1 << 17
	store, operator := database.Open(t, cfg), []string{"GLUEPOT_DATABASE_URL=" + cfg.URL}
	r := &rights{store: store, pastes: gormstore.NewPastes(store), samples: make(map[string]*paste.Document)}
	server := program.Serve(t, cfg.URL, trustTests, "GLUEPOT_MCP=true", "GLUEPOT_RECENT=true",
		fmt.Sprint("GLUEPOT_USER_MAX_BYTES=", maxBytes))
	blocked := &program.Process{Address: startProxy(t, server, "192.0.2.7")}
	for _, name := range actors {
		a := &actor{name: name, server: server, browser: visitor{t: t, p: server}}
		if name != "visitor" {
			r.signUp(t, a)
			a.browser.signIn(a.token)
		}
		if name == "blocked" {
			a.server, a.browser.p = blocked, blocked
		}
		a.settings = []string{"GLUEPOT_SERVER=http://" + a.server.Address, "GLUEPOT_TOKEN=" + a.token, "HOME=" + t.TempDir()}
		r.actors = append(r.actors, a)
	}
	for _, state := range states {
		r.samples[state] = r.newPaste(t, state, "owner", "needle in a paste that is "+state)
	}
	for _, a := range r.actors[1:] {
		for _, sample := range r.samples {
			must(t, r.pastes.Star(t.Context(), netip.Addr{}, a.id, sample.ID))
		}
		if a.name == "full" || a.name == "administrator" {
			r.newPaste(t, "private", a.id, strings.Repeat("x", maxBytes))
		}
	}
	for _, line := range []string{
		"user suspend suspended --reason spam --hide-pastes", "block add 192.0.2.0/24 --reason spam",
	} {
		if code, _, stderr := program.Run(t, operator, strings.Fields(line)...); code != 0 {
			t.Fatalf("%s: got exit code %d, %s, want 0", line, code, stderr)
		}
	}
	r.actors = append(r.actors, &actor{name: "operator", settings: operator})
	return r
}

// signUp stores an actor's user, unless it is the owner's, and issues a token.
func (r *rights) signUp(t *testing.T, a *actor) {
	t.Helper()
	a.id = user.ID(a.name)
	if a.name == "reading" || a.name == "blocked" {
		a.id = "owner"
	} else {
		name, err := user.ParseName(a.name)
		must(t, err)
		database.CreateUser(t, r.store, user.User{
			ID: a.id, Name: name, Admin: a.name == "administrator", PublicProfile: true, CreatedAt: time.Now(),
		})
	}
	secret := token.Generate()
	a.token = secret.Reveal()
	created := token.Token{ID: token.ID(a.name), Owner: a.id, Hash: secret.Hash(), CreatedAt: time.Now()}
	if a.name == "reading" {
		created.Scope = token.Read
	}
	must(t, gormstore.NewTokens(r.store).Create(t.Context(), netip.Addr{}, auditlog.Entry{}, created))
}

// startProxy returns the address of a proxy that forwards requests to the server with another client address.
func startProxy(t *testing.T, server *program.Process, client string) (address string) {
	t.Helper()
	transport := new(http.Transport) // the default one loses idle connections when a test server closes
	t.Cleanup(transport.CloseIdleConnections)
	proxy := httptest.NewServer(&httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: server.Address})
		// With the client's body, the proxy cuts off an answer that comes before it has sent the body.
		body, _ := io.ReadAll(r.In.Body)
		r.Out.Body = io.NopCloser(bytes.NewReader(body))
		for _, name := range []string{"X-Forwarded-Proto", "X-Forwarded-Host"} {
			r.Out.Header[name] = r.In.Header[name]
		}
		r.Out.Header.Set("X-Forwarded-For", client)
	}})
	t.Cleanup(proxy.Close)
	return proxy.Listener.Addr().String()
}

// newPaste stores a paste in a state. A hidden one belongs to the suspended user.
func (r *rights) newPaste(t *testing.T, state string, owner user.ID, code string) *paste.Document {
	t.Helper()
	moderation := gormstore.NewModeration(r.store)
	d := &paste.Document{
		Paste: paste.Paste{ID: paste.ID(ident.New()), Owner: owner, CreatedAt: time.Now(), Burns: state == "burning"},
		Content: paste.Content{
			Title: "title-" + state, Visibility: paste.Public, Lifetime: paste.Never,
			Pasties: []paste.Pasty{{ID: "pasty001", Title: "a.txt", Language: "Plain Text", Code: code}},
		},
	}
	switch state {
	case "unlisted", "burning":
		d.Visibility = paste.Unlisted
	case "private":
		d.Visibility = paste.Private
	case "expired":
		d.ExpiresAt = time.Now().Add(-time.Minute)
	case "hidden":
		d.Owner = "suspended"
	case "encrypted":
		d.Content = paste.Content{Cipher: &paste.Cipher{Version: paste.CipherVersion, Data: make([]byte, 60)}}
	}
	must(t, r.pastes.CreateDocument(t.Context(), *d))
	switch state {
	case "removed":
		must(t, moderation.Remove(t.Context(), audit.Operator().Entry("paste.remove", string(d.ID), "spam"), d.ID, "spam"))
	case "hidden":
		_, err := moderation.Hide(t.Context(), d.Owner, 10)
		must(t, err)
	}
	return d
}

// revision returns a paste's revision, which changes with each edit, or "" if the paste does not exist.
func (r *rights) revision(t *testing.T, id paste.ID) string {
	t.Helper()
	d, err := r.pastes.DocumentByID(t.Context(), id)
	if fault.Is(err, fault.NotFound) {
		return ""
	}
	must(t, err)
	return d.Revision()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// want returns the expected cell for an actor. A suspended user has no session.
func (a *actor) want(column, entrypoint, state string, owner user.ID) string {
	own, others, differs := strings.Cut(pasteCells[state][column], "/")
	if differs && (a.id == "" || a.id != owner || a.name == "suspended") {
		own = others
	}
	name, action := a.name, column
	if column == "starred" {
		action = "own"
	}
	switch {
	case strings.HasPrefix(entrypoint, "mcp") && actorCells[name]["mcp"] == "suspended":
		return "suspended"
	case strings.HasPrefix(entrypoint, "page") && name == "suspended":
		name = "visitor"
	case entrypoint == "command" && column == "own" && name == "visitor": // the list of pastes pushed from this machine
		return "-"
	}
	why := actorCells[name][action]
	if why == "" || why == "-" || own == "n" && (why == "blocked" || why == "quota") {
		return own
	}
	return why
}

// TestWhoMayDoWhat reads, lists and changes a paste in each state as each actor through each entrypoint, and compares
// the answers with the tables above. The client's commands do not open the database, so they run only on SQLite.
func TestWhoMayDoWhat(t *testing.T) {
	t.Parallel()
	wantEvery(t, apiRequests, func(o openapi.Operation) bool {
		reads := o.Method == http.MethodGet
		return (!reads || strings.Contains(o.Name, "{id}") || strings.HasPrefix(o.Target, "/list/")) &&
			o.Name != "POST /open/{id}" // see TestBurnOnce
	})
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		r := openRights(t, cfg)
		for _, w := range ways {
			if w.entrypoint == "command" && !strings.HasPrefix(cfg.URL, "sqlite") {
				continue
			}
			for _, a := range r.actors {
				if (w.column == "show") != (a.name == "operator") {
					continue
				}
				t.Run(w.column+"/"+w.entrypoint+"/"+a.name, func(t *testing.T) {
					switch w.column {
					case "create", "edit", "delete", "star":
						r.wantChanges(t, a, w.column, w.entrypoint, w.ask)
					case "own", "public", "search", "starred":
						status, text := w.ask(t, a, r.samples["public"])
						for _, state := range states {
							got := outcome(status, text)
							if got == "y" {
								got = map[bool]string{true: "k", false: "-"}[strings.Contains(text, string(r.samples[state].ID))]
							}
							wantCell(t, state, got, a.want(w.column, w.entrypoint, state, r.samples[state].Owner))
						}
					default:
						for _, state := range states {
							status, text := w.ask(t, a, r.samples[state])
							wantCell(t, state, sight(status, text, r.samples[state]), a.want(w.column, w.entrypoint, state,
								r.samples[state].Owner))
						}
					}
				})
			}
		}
	})
}

func wantCell(t *testing.T, state, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %s, want %s", state, got, want)
	}
}

// wantChanges lets an actor change a new paste in each state, and checks the outcome.
func (r *rights) wantChanges(t *testing.T, a *actor, act, entrypoint string, change way) {
	t.Helper()
	tested := states
	if act == "create" || entrypoint == "command" { // which uses the API
		tested = states[:1]
	}
	for _, state := range tested {
		owner := user.ID("owner")
		if a.name == "full" || a.name == "suspended" {
			owner = a.id
		}
		d := r.newPaste(t, state, owner, "needle")
		want := a.want(act, entrypoint, state, d.Owner)
		if act == "create" && want == "" {
			want = "y"
		}
		before := r.revision(t, d.ID)
		status, text := change(t, a, d)
		got := outcome(status, text)
		if why := actorCells[a.name][act]; want == "n" && got == why { // either may be checked first
			want = why
		}
		if entrypoint == "page" && state == "removed" && want == "sign-in" && status == http.StatusGone {
			want = "n" // the page tells everybody
		}
		wantCell(t, state, got, want)
		wantChange := got == "y" && (act == "edit" || act == "delete")
		if changed := r.revision(t, d.ID) != before; changed != wantChange {
			t.Errorf("%s: got %s, and the paste changed: %t, want %t", state, got, changed, wantChange)
		}
	}
}
