package fuzzhttp

import (
	"net/http"
	"slices"
	"strings"

	"github.com/gluepot/gluepot/tests/program"
)

// endpoint is what a path names.
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
	alive
	ready
)

// route is the pattern of an endpoint in the log, without the base path and a slash at its end.
var route = [...]string{
	exists: "/user/:username/exists", profile: "/user/:username", self: "/user/self", ownPastes: "/user/self/pastes",
	byName: "/data/language", byExtension: "/data/languageExt", count: "/data/numPastes", alive: "/healthz", ready: "/readyz",
}

// find returns what a decoded path names below a base path, and the username in it.
func find(base, path string) (found endpoint, username string) {
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
	for _, e := range []endpoint{self, ownPastes, byName, byExtension, count} {
		if path == route[e] {
			return e, ""
		}
	}
	rest, ok := strings.CutPrefix(path, "/user/")
	if !ok {
		return nothing, ""
	}
	found = profile
	if name, ok := strings.CutSuffix(rest, "/exists"); ok {
		found, rest = exists, name
	}
	if strings.Contains(rest, "/") {
		return nothing, ""
	}
	return found, rest
}

// The answers of program.Fixture's data, by the lower-case names of the users.
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

	// accounts has the self view and the pastes for each valid token.
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

	// languages has the name of the language that a query finds; empty stands for a missing parameter.
	languages = map[endpoint]map[string]string{
		byName: {
			"name=Rust": "Rust", "name=rUST": "Rust", "name=C%2B%2B": "C++", "name=C++": "C++",
			"name=C%252B%252B": "C++", "name=cpp": "C++",
			"name=golang": "Go", "name=js": "JavaScript", "name=C%23": "C#", "name=Plain+Text": "Plain Text",
			"name=Plain%20Text": "Plain Text",
			"x=%zz&name=Rust":   "Rust", "": "", "name=": "", "name": "", "NAME=Rust": "", "extension=rs": "",
		},
		byExtension: {
			"extension=rs": "Rust", "extension=.rs": "Rust", "extension=RS": "Rust", "extension=%2Ers": "Rust", "extension=md": "Markdown",
			"extension=ts": "TypeScript", "extension=h": "C", "extension=m": "Objective-C", "extension=sql": "SQL",
			"extension=txt":               "Plain Text",
			"&&extension=rs&extension=go": "Rust", "": "", "extension=": "", "extension": "", "ext=rs": "", "name=Rust": "",
		},
	}
)

// want is what may be answered to a request.
type want struct {
	endpoint  endpoint
	statuses  []int
	body      string // of a 200, where it is known
	language  string // of a 200, where it is known
	challenge string // of a 401, where it is known
}

// ask returns what the documentation has for a request.
func (s *site) ask(r *http.Request) want {
	found, username := find(s.base, r.URL.Path)
	w := want{endpoint: found}
	slash := strings.Contains(strings.ToLower(r.URL.RawPath), "%2f")
	if slash {
		w.endpoint = nothing // an encoded slash separates nothing, and is in no name
	}
	switch {
	case r.Method == http.MethodOptions:
		w.statuses = []int{http.StatusNoContent, http.StatusMethodNotAllowed}
		if w.endpoint == nothing {
			w.statuses = append(w.statuses, http.StatusNotFound)
		}
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.statuses = []int{http.StatusMethodNotAllowed}
		switch {
		case slash || username == "" && (found == exists || found == profile):
			w.statuses = append(w.statuses, http.StatusNotFound) // a path of a pattern's shape that names nothing
		case found == nothing:
			w.statuses = []int{http.StatusNotFound}
		}
	default:
		s.askGet(&w, r, username)
	}
	return w
}

func (s *site) askGet(w *want, r *http.Request, username string) {
	ok := []int{http.StatusOK}
	w.statuses = ok
	switch w.endpoint {
	case nothing:
		w.statuses = []int{http.StatusNotFound}
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
		name, known := languages[w.endpoint][query]
		switch {
		case !known:
			w.statuses = []int{http.StatusOK, http.StatusNotFound, http.StatusBadRequest, http.StatusNotModified}
		case name == "":
			w.statuses = []int{http.StatusBadRequest}
		default:
			w.language = name
			w.statuses = conditional(r.Header.Values("If-None-Match"), s.etags.of(name))
		}
	case count:
		w.body = `{"numPastes":5}`
	case alive, ready:
		w.body = `{"status":"ok"}`
	}
}

func (w *want) askToken(values []string) {
	view := 0
	if w.endpoint == ownPastes {
		view = 1
	}
	if len(values) > 1 { // nothing is promised of which one counts
		w.statuses = []int{http.StatusOK, http.StatusUnauthorized}
		return
	}
	sent := strings.Trim(strings.Join(values, ""), " \t")
	scheme, rest, found := strings.Cut(sent, " ")
	if scheme = strings.ToLower(scheme); scheme == "bearer" || scheme == "token" {
		sent = ""
		if found {
			sent = strings.Trim(rest, " \t")
		}
	}
	if account, ok := accounts[sent]; ok {
		w.body = account[view]
		return
	}
	w.statuses, w.challenge = []int{http.StatusUnauthorized}, `Bearer error="invalid_token"`
	if sent == "" {
		w.challenge = "Bearer"
	}
}

// conditional returns the statuses for If-None-Match, as far as they are certain. etag is "" while unknown.
func conditional(values []string, etag string) []int {
	const readable = 1 << 10 // bytes; what is longer may be ignored
	switch {
	case len(values) == 0:
		return []int{http.StatusOK}
	case len(strings.Join(values, "")) > readable:
	case slices.Contains(values, "*"), etag != "" && (slices.Contains(values, etag) || slices.Contains(values, "W/"+etag)):
		return []int{http.StatusNotModified}
	}
	return []int{http.StatusOK, http.StatusNotModified}
}

// asciiLower folds ASCII alone: other letters are in no name.
func asciiLower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
