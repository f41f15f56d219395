package fuzzhttp

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gluepot/gluepot/tests/program"
)

// endpoint is an endpoint of the program.
type endpoint int

const (
	nothing endpoint = iota
	exists
	profile
	self
	ownPastes
	byName
	byExtension
	count
	create
	document
	createText
	upload // PUT of a file's name, outside the API
	firstText
	text
	expiryTime
	alive
	ready
)

// route has the pattern of each endpoint in the log, without the base path and a trailing slash.
var route = [...]string{
	exists: "/user/:username/exists", profile: "/user/:username", self: "/user/self", ownPastes: "/user/self/pastes",
	byName: "/data/language", byExtension: "/data/languageExt", count: "/data/numPastes",
	create: "/paste", document: "/paste/:id", createText: "/raw", upload: "/:id", firstText: "/raw/:id",
	text: "/raw/:id/:pastyId", expiryTime: "/time/expiresInToUnixTime",
	alive: "/healthz", ready: "/readyz",
}

// find returns the endpoint of a request below a base path, and the username or the ids in its path.
func find(base string, r *http.Request) (e endpoint, username string) {
	if e, username = findPath(base, r.URL.Path); e != nothing || r.Method != http.MethodPut {
		return e, username
	}
	name := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/"), "/")
	reserved := append(strings.Split(strings.Trim(base, "/"), "/")[:1], "healthz", "readyz")
	if base == "" {
		reserved = append(reserved[1:], "user", "data", "paste", "raw", "encrypted", "open", "time", "docs", "list")
		reserved = append(reserved, "openapi.yaml", "openapi.json")
	}
	if !strings.HasPrefix(r.URL.Path, "/") || strings.Contains(name, "/") || slices.Contains(reserved, name) {
		return nothing, ""
	}
	return upload, name
}

func findPath(base, path string) (ep endpoint, username string) {
	path = strings.TrimSuffix(path, "/")
	for _, e := range []endpoint{alive, ready} {
		if path == route[e] {
			return e, ""
		}
	}
	path, ok := strings.CutPrefix(path, base)
	if !ok {
		return nothing, ""
	}
	for _, e := range []endpoint{self, ownPastes, byName, byExtension, count, create, createText, expiryTime} {
		if path == route[e] {
			return e, ""
		}
	}
	if id, ok := strings.CutPrefix(path, "/paste/"); ok && !strings.Contains(id, "/") {
		return document, id
	}
	if ids, ok := strings.CutPrefix(path, "/raw/"); ok && strings.Count(ids, "/") <= 1 {
		return []endpoint{firstText, text}[strings.Count(ids, "/")], ids
	}
	rest, ok := strings.CutPrefix(path, "/user/")
	if !ok {
		return nothing, ""
	}
	ep = profile
	if name, ok := strings.CutSuffix(rest, "/exists"); ok {
		ep, rest = exists, name
	}
	if strings.Contains(rest, "/") {
		return nothing, ""
	}
	return ep, rest
}

// methods returns the methods of an endpoint, apart from OPTIONS.
func methods(e endpoint) []string {
	switch e {
	case create:
		return []string{http.MethodPost}
	case createText:
		return []string{http.MethodPost, http.MethodPut}
	case upload:
		return []string{http.MethodPut}
	case firstText:
		return []string{http.MethodGet, http.MethodHead, http.MethodPut}
	case document:
		return []string{http.MethodGet, http.MethodHead, http.MethodPatch, http.MethodDelete}
	}
	return []string{http.MethodGet, http.MethodHead}
}

// answersLink reports whether an endpoint answers with the link of a new paste. The path of firstText also accepts
// uploads, and its GET never finds a text here.
func (e endpoint) answersLink() bool { return e == createText || e == upload || e == firstText }

// takesBody reports whether the program reads the body of a request.
func takesBody(base string, r *http.Request) bool {
	e, _ := find(base, r)
	if strings.Contains(strings.ToLower(r.URL.RawPath), "%2f") {
		return false
	}
	switch r.Method {
	case http.MethodPost:
		return e == create || e == createText
	case http.MethodPut:
		return e == createText || e == upload || e == firstText
	}
	return r.Method == http.MethodPatch && e == document
}

// anonymousPaste is the only paste of the fixture whose id these tests request. Nobody can change it.
const anonymousPaste = `{"_id":"nobodys1","ownerId":"","title":"","createdAt":1704164645,` +
	`"expiresIn":"never","deletesAt":0,"stars":1,` +
	`"isPrivate":false,"isPublic":false,"tags":[],"encrypted":false,"pasties":[],"edits":[]}`

// expiries has the answers to queries of expiryTime, or "" for 400.
var expiries = map[string]string{
	"createdAt=1588441258&expiresIn=1w": `{"result":1589046058}`, "expiresIn=OneHour&createdAt=0": `{"result":3600}`,
	"createdAt=5&expiresIn=never": `{"result":0}`, "createdAt=-1&expiresIn=1w": "", "createdAt=1.5&expiresIn=1w": "",
	"createdAt=1&expiresIn=3h": "",
	"":                         "", "createdAt=9223372036854775807&expiresIn=1h": "",
}

// Answers about program.Fixture.
var (
	profiles = map[string]string{
		"epoxy": `{"_id":"epoxy001","username":"Epoxy","avatarUrl":"https://example.com/a?b=<c>&d","defaultLang":"C++",` +
			`"publicProfile":true,"supporterLength":24,"contributor":true}`,
		"putty": `{"_id":"putty001","username":"putty","avatarUrl":"","defaultLang":"Autodetect",` +
			`"publicProfile":true,"supporterLength":0,"contributor":false}`,
		"ep_xy.a-b": `{"_id":"prefix01","username":"ep_xy.a-b","avatarUrl":"","defaultLang":"Go",` +
			`"publicProfile":true,"supporterLength":0,"contributor":false}`,
	}
	private = "mortar"

	// accounts has the user's own view and list of pastes for each valid token.
	accounts = map[string][2]string{
		program.EpoxyToken: {
			strings.TrimSuffix(profiles["epoxy"], "}") +
				`,"stars":["nobodys1","oldest01"],"serviceIds":{"github":"4815162342","gitlab":"108"}}`,
			`["expires1","tie0000b","tie0000a","oldest01"]`,
		},
		program.MortarToken: {
			`{"_id":"mortar01","username":"mortar","avatarUrl":"","defaultLang":"Go","publicProfile":false,` +
				`"supporterLength":0,"contributor":false,"stars":[],"serviceIds":{"github":"23"}}`,
			`[]`,
		},
	}

	// languages has the name of the language that a query finds, or "" for a missing parameter.
	languages = map[endpoint]map[string]string{
		byName: {
			"name=Rust": "Rust", "name=rUST": "Rust", "name=C%2B%2B": "C++", "name=C++": "C++",
			"name=C%252B%252B": "C++", "name=cpp": "C++",
			"name=golang": "Go", "name=js": "JavaScript", "name=C%23": "C#", "name=Plain+Text": "Plain Text",
			"name=Plain%20Text": "Plain Text",
			"x=%zz&name=Rust":   "Rust", "": "", "name=": "", "name": "", "NAME=Rust": "", "extension=rs": "",
		},
		byExtension: {
			"extension=rs": "Rust", "extension=.rs": "Rust", "extension=RS": "Rust", "extension=%2Ers": "Rust",
			"extension=md": "Markdown",
			"extension=ts": "TypeScript", "extension=h": "C", "extension=m": "Objective-C", "extension=sql": "SQL",
			"extension=txt":               "Plain Text",
			"&&extension=rs&extension=go": "Rust", "": "", "extension=": "", "extension": "", "ext=rs": "", "name=Rust": "",
		},
	}
)

// want describes the answers that a request may get.
type want struct {
	endpoint  endpoint
	statuses  []int
	body      string // of a 200, or "" for any
	language  string // of a 200, or "" for any
	atLeast   int    // least count of a 200
	challenge string // of a 401, or "" for any
}

// ask returns the answers that the documentation allows for a request.
func (s *site) ask(r *http.Request) want {
	e, username := find(s.base, r)
	w := want{endpoint: e}
	slash := strings.Contains(strings.ToLower(r.URL.RawPath), "%2f")
	if slash {
		w.endpoint = nothing // an escaped slash separates nothing, and no name contains one
	}
	switch {
	case r.Method == http.MethodOptions:
		w.statuses = []int{http.StatusNoContent, http.StatusMethodNotAllowed}
		if w.endpoint == nothing {
			w.statuses = append(w.statuses, http.StatusNotFound)
		}
	case w.endpoint != nothing && !slices.Contains(methods(w.endpoint), r.Method) || w.endpoint == nothing &&
		!reads(r.Method):
		w.statuses = []int{http.StatusMethodNotAllowed}
		switch {
		case slash || username == "" && (e == exists || e == profile) ||
			(e == document || e == text || e == firstText) && strings.Contains("/"+username+"/", "//"):
			w.statuses = append(w.statuses, http.StatusNotFound) // a path that matches a pattern but names nothing
		case e == nothing:
			w.statuses = []int{http.StatusNotFound}
		}
	case w.endpoint == create, w.endpoint == createText, w.endpoint == upload,
		(w.endpoint == document || w.endpoint == firstText) && !reads(r.Method):
		w.askWrite(r)
	default:
		s.askGet(&w, r, username)
	}
	return w
}

func reads(method string) bool { return method == http.MethodGet || method == http.MethodHead }

// askWrite is for requests that create or change pastes. Their senders may change none of the pastes that they name.
func (w *want) askWrite(r *http.Request) {
	body, hasBody := r.Body.(*readBody)
	switch {
	case !hasBody: // DELETE
	case body.large:
		w.statuses = []int{http.StatusRequestEntityTooLarge}
		return
	case body.broken:
		w.statuses = []int{http.StatusBadRequest, http.StatusRequestTimeout}
		return
	case strings.Trim(strings.ToLower(strings.Join(r.Header.Values("Content-Encoding"), ",")), " \t,") != "":
		w.statuses = []int{http.StatusUnsupportedMediaType}
		return
	}
	token, sure := tokenOf(r.Header.Values("Authorization"))
	_, valid := accounts[token]
	switch {
	case !sure:
		w.statuses = []int{http.StatusOK, http.StatusBadRequest, http.StatusUnauthorized, http.StatusNotFound}
	case !valid && (token != "" || w.endpoint == document):
		w.wantRefusal(token)
	case w.endpoint == document:
		w.statuses = []int{http.StatusNotFound}
	case !utf8.Valid(body.Bytes()), body.Len() == 0, w.endpoint == create && !isObject(body.Bytes()):
		w.statuses = []int{http.StatusBadRequest}
	default:
		w.statuses = []int{http.StatusOK, http.StatusBadRequest}
		if !valid { // public, private and tagged pastes need an owner
			w.statuses = append(w.statuses, http.StatusUnauthorized)
		}
	}
}

func isObject(body []byte) bool {
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	return json.Valid(body) && bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{"))
}

func (s *site) askGet(w *want, r *http.Request, username string) {
	ok := []int{http.StatusOK}
	w.statuses = ok
	switch w.endpoint {
	case nothing:
		w.statuses = []int{http.StatusNotFound}
		if r.URL.Path == "/" {
			w.statuses = askFront(r.Header)
		}
	case exists:
		name := asciiLower(username)
		if w.body = `""`; profiles[name] == "" && name != private {
			w.statuses = []int{http.StatusNotFound}
		}
	case profile:
		if w.body = profiles[asciiLower(username)]; w.body == "" {
			w.statuses = []int{http.StatusNotFound}
		}
	case self, ownPastes:
		w.askToken(r.Header.Values("Authorization"))
	case byName, byExtension:
		query, _, _ := strings.Cut(r.URL.RawQuery, "&x="+canary)
		name, inModel := languages[w.endpoint][query]
		switch {
		case !inModel:
			w.statuses = []int{http.StatusOK, http.StatusNotFound, http.StatusBadRequest, http.StatusNotModified}
		case name == "":
			w.statuses = []int{http.StatusBadRequest}
		default:
			w.language = name
			w.statuses = conditional(r.Header.Values("If-None-Match"), s.etags.of(name))
		}
	case count: // the pastes of the fixture and those created since
		w.atLeast = 5
	case document:
		w.statuses = []int{http.StatusNotFound}
		if username == "nobodys1" {
			w.body, w.statuses = anonymousPaste, ok
			if token, sure := tokenOf(r.Header.Values("Authorization")); !sure || token == "" {
				w.statuses = conditional(r.Header.Values("If-None-Match"), "")
			}
		}
	case text, firstText: // the requested paste has no pasties
		w.statuses = []int{http.StatusNotFound}
	case expiryTime:
		body, inModel := expiries[r.URL.RawQuery]
		switch {
		case !inModel:
			w.statuses = []int{http.StatusOK, http.StatusBadRequest}
		case body == "":
			w.statuses = []int{http.StatusBadRequest}
		}
		w.body = body
	case alive, ready:
		w.body = `{"status":"ok"}`
	}
}

// askFront returns the statuses of "/", which has a page.
func askFront(header http.Header) []int {
	if header.Values("If-None-Match") == nil {
		return []int{http.StatusOK}
	}
	return []int{http.StatusOK, http.StatusNotModified}
}

func (w *want) askToken(values []string) {
	view := 0
	if w.endpoint == ownPastes {
		view = 1
	}
	token, sure := tokenOf(values)
	if !sure {
		w.statuses = []int{http.StatusOK, http.StatusUnauthorized}
		return
	}
	if account, ok := accounts[token]; ok {
		w.body = account[view]
		return
	}
	w.wantRefusal(token)
}

func (w *want) wantRefusal(token string) {
	w.statuses, w.challenge = []int{http.StatusUnauthorized}, `Bearer error="invalid_token"`
	if token == "" {
		w.challenge = "Bearer"
	}
}

// tokenOf returns the token of Authorization, and false if there are several, because it is undefined which one counts.
func tokenOf(values []string) (token string, sure bool) {
	if len(values) > 1 {
		return "", false
	}
	value := strings.Trim(strings.Join(values, ""), " \t")
	scheme, rest, hasRest := strings.Cut(value, " ")
	if scheme = strings.ToLower(scheme); scheme == "bearer" || scheme == "token" {
		value = ""
		if hasRest {
			value = strings.Trim(rest, " \t")
		}
	}
	return value, true
}

// conditional returns the statuses that If-None-Match may cause. etag is "" while it is unknown.
func conditional(values []string, etag string) []int {
	const readable = 1 << 10 // bytes; longer values may be ignored
	switch {
	case len(values) == 0:
		return []int{http.StatusOK}
	case len(strings.Join(values, "")) > readable:
	case slices.Contains(values, "*"), etag != "" && (slices.Contains(values, etag) || slices.Contains(values, "W/"+etag)):
		return []int{http.StatusNotModified}
	}
	return []int{http.StatusOK, http.StatusNotModified}
}

// asciiLower folds only ASCII: names have no other letters.
func asciiLower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
