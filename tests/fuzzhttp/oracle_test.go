package fuzzhttp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gluepot/gluepot/tests/openapi"
)

// complaint describes a defect of an answer. The same defect has the same class.
type complaint struct{ class, detail string }

// etags has the first ETag of each language.
type etags struct {
	mu         sync.Mutex
	byLanguage map[string]string
}

func (e *etags) of(language string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.byLanguage[language]
}

// same reports whether a language's ETag is the same as the first one.
func (e *etags) same(language, etag string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.byLanguage == nil {
		e.byLanguage = map[string]string{}
	}
	if e.byLanguage[language] == "" {
		e.byLanguage[language] = etag
	}
	return e.byLanguage[language] == etag
}

// verdict collects the defects of the answers to a script.
type verdict []complaint

func (v *verdict) add(class, format string, args ...any) {
	*v = append(*v, complaint{class, fmt.Sprintf(format, args...)})
}

func (v verdict) of(class string) (complaint, bool) {
	i := slices.IndexFunc(v, func(c complaint) bool { return c.class == class })
	if i < 0 {
		return complaint{}, false
	}
	return v[i], true
}

// check sends a script to a site, and judges the answers.
func (s *site) check(script *script) (v verdict) {
	expected, complete, err := s.reference.expect(script)
	if err != nil {
		v.add("the reference failed", "%v", err)
		return v
	}
	headless := func(i int) bool {
		return i < len(expected) && expected[i].request != nil && expected[i].request.Method == http.MethodHead
	}
	answers, _, end := script.exchange(s.Address, script.delivery, headless)
	for i, a := range answers {
		if i >= len(expected) {
			if complete || i > len(expected) || !isOwn(a) { // the reference's last answer may be lost
				v.add("more answers than requests", "%d of %d expected: %v", i+1, len(expected), a)
			}
			break
		}
		var answerVerdict verdict
		s.judge(&answerVerdict, expected[i], a)
		for _, c := range answerVerdict {
			v.add(c.class, "the answer no. %d: %s\n%v", i+1, c.detail, a)
		}
	}
	s.judgeEnd(&v, script, expected, answers, end)
	for _, i := range script.twins {
		if i+1 < len(answers) && script.delivery != reset {
			if a, b := anonymous(answers[i]), anonymous(answers[i+1]); a != b {
				v.add("a private profile differs from an unknown one", "%q\n%q", a, b)
			}
		}
	}
	return v
}

// judgeEnd judges the end of the connection, and looks for missing answers.
func (s *site) judgeEnd(v *verdict, script *script, expected []expectation, answers []*answer, end error) {
	switch {
	case script.delivery == reset:
		if !errors.Is(end, io.EOF) && !cutOff(end) {
			v.add("nonsense before a reset", "%v", end)
		}
	case errors.Is(end, errNotHTTP) && !cutOff(end):
		v.add("nonsense", "after %d answers: %v", len(answers), end)
	case !errors.Is(end, io.EOF) && !cutOff(end):
		v.add("hangs", "after %d of %d answers: %v", len(answers), len(expected), end)
	case len(answers) < len(expected):
		missing := expected[len(answers)]
		switch {
		case cutOff(end), expected[len(expected)-1].last && script.delivery != lockstep:
			// The kernel resets a connection that is closed before everything was read, and drops what is in transit.
			s.lost.Add(1)
		case script.delivery == held && missing.request == nil:
			// The reference saw the end of the data, while the server timed out.
		case missing.request == nil:
			v.add("net/http's answer is missing", "after %d of %d answers: %v", len(answers), len(expected), missing.own)
		default:
			v.add("an answer is missing", "after %d of %d answers: to %s %.200q", len(answers), len(expected),
				missing.request.Method,
				missing.request.RequestURI)
		}
	}
}

var (
	requestIDPattern = regexp.MustCompile(`^[0-9a-f]{32}$`)
	proxyIDPattern   = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)
	datePattern      = regexp.MustCompile(`Date: [^\r]*`)
)

// anonymous returns an answer without the parts that differ every time.
func anonymous(a *answer) string {
	text := a.head + string(a.body)
	if id := a.header.Get("X-Request-Id"); id != "" {
		text = strings.ReplaceAll(text, id, "ID")
		// The ids of clients differ in length.
		text = strings.Replace(text, "Content-Length: "+strconv.Itoa(len(a.body)), "Content-Length: N", 1)
	}
	return datePattern.ReplaceAllString(text, "Date")
}

// isOwn reports whether an answer looks like one of net/http itself.
func isOwn(a *answer) bool {
	plain := len(a.body) == 0 || a.header.Get("Content-Type") == "text/plain; charset=utf-8"
	return a.status >= 400 && plain && a.header.Get("X-Request-Id") == ""
}

func (s *site) judge(v *verdict, e expectation, a *answer) {
	if e.request == nil {
		s.refusals.Add(1)
		if a.status != e.own.status || !bytes.Equal(a.body, e.own.body) || !isOwn(a) {
			v.add(fmt.Sprintf("%d for a malformed request", a.status), "net/http answers %v", e.own)
		}
		return
	}
	w := s.ask(e.request)
	if isOwn(a) {
		v.add(fmt.Sprintf("net/http's %d at %s", a.status, name(w.endpoint)), "%.100s %.1000q is not malformed",
			e.request.Method,
			e.request.RequestURI)
		return
	}
	s.ownAnswers.Add(1)
	if a.status == http.StatusServiceUnavailable {
		s.unavailable.Add(1)
	} else if !slices.Contains(w.statuses, a.status) {
		v.add(fmt.Sprintf("%d for %d at %s", a.status, w.statuses[0], name(w.endpoint)),
			"%.100s %.1000q: the status is %d, not one of %v", e.request.Method, e.request.RequestURI, a.status, w.statuses)
	}
	var answerVerdict verdict
	s.judgeHeader(&answerVerdict, e.request, w, a)
	switch {
	case e.request.Method != http.MethodHead:
		s.judgeBody(&answerVerdict, e.request, w, a)
	case w.body != "" && w.endpoint != ownPastes && a.status == http.StatusOK &&
		a.header.Get("Content-Length") != strconv.Itoa(len(w.body)):
		answerVerdict.add("wrong length for HEAD", "%q", a.header.Get("Content-Length"))
	}
	if s.contract != nil {
		if err := s.contract.Check(s.base, openapi.Answer{
			Method: e.request.Method, Target: e.request.URL.EscapedPath(), Status: a.status, Header: a.header, Body: a.body,
		}); err != nil {
			answerVerdict.add("not as documented", "%v", err)
		}
	}
	for _, c := range answerVerdict {
		v.add(c.class+" at "+name(w.endpoint), "%s", c.detail)
	}
	s.log.expect(a.header.Get("X-Request-Id"), newRequestLine(s, e.request, w, a.status))
}

func name(e endpoint) string {
	if e == nothing {
		return "no endpoint"
	}
	return route[e]
}

const (
	mediaJSON    = "application/json"
	mediaProblem = "application/problem+json"
)

// judgeHeader checks the headers of an answer of the program.
func (s *site) judgeHeader(v *verdict, r *http.Request, w want, a *answer) {
	get := func(key string) string { return strings.Join(a.header.Values(key), "|") }
	if get("Date") == "" {
		v.add("no Date", "")
	}
	s.judgeID(v, r, get("X-Request-Id"))
	if get("X-Content-Type-Options") != "nosniff" {
		v.add("no nosniff", "")
	}
	policy := "default-src 'none'; frame-ancestors 'none'"
	isText := (w.endpoint == text || w.endpoint == firstText) && reads(r.Method)
	if isText && a.status < 400 && a.status != http.StatusNoContent {
		policy += "; sandbox"
	}
	mediaOK := mediaJSON
	if w.endpoint == nothing && reads(r.Method) && a.status < 400 { // the page at "/"
		mediaOK = "text/html; charset=utf-8"
		policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
			"connect-src 'self'; base-uri 'none'; " +
			"form-action 'none'; frame-ancestors 'none'"
	}
	if w.endpoint.answersLink() && a.status == http.StatusOK && !strings.HasPrefix(r.Header.Get("Accept"), mediaJSON) {
		mediaOK = "text/plain; charset=utf-8"
	}
	if got := get("Content-Security-Policy"); got != policy {
		v.add("wrong Content-Security-Policy", "got %q, want %q", got, policy)
	}
	if got := get("Referrer-Policy"); got != "no-referrer" {
		v.add("wrong Referrer-Policy", "%q", got)
	}
	hasBody := a.status != http.StatusNoContent && a.status != http.StatusNotModified
	contentType := get("Content-Type")
	switch accept := r.Header.Values("Accept"); {
	case !hasBody && contentType != "":
		v.add("Content-Type without a body", "%q", contentType)
	case !hasBody:
	case a.status == http.StatusOK || len(accept) == 0:
		if contentType != mediaOK {
			v.add("wrong Content-Type", "%q", contentType)
		}
	case len(accept) == 1 && accept[0] == mediaProblem:
		if contentType != mediaProblem {
			v.add("wrong Content-Type", "%q", contentType)
		}
	case contentType != mediaJSON && contentType != mediaProblem:
		v.add("wrong Content-Type", "%q", contentType)
	}
	want := map[string]string{}
	switch a.status {
	case http.StatusUnauthorized:
		if want["Www-Authenticate"] = w.challenge; w.challenge == "" {
			want["Www-Authenticate"] = "*"
		}
	case http.StatusMethodNotAllowed, http.StatusNoContent:
		want["Allow"] = "*"
	case http.StatusServiceUnavailable:
		want["Retry-After"] = "*"
	}
	isLanguage := w.endpoint == byName || w.endpoint == byExtension
	switch {
	case (w.endpoint == self || w.endpoint == ownPastes) &&
		(a.status == http.StatusOK || a.status == http.StatusUnauthorized):
		want["Cache-Control"] = "private, no-store"
	case (w.endpoint == document || w.endpoint == text || w.endpoint == firstText) && reads(r.Method):
		if token, sure := tokenOf(r.Header.Values("Authorization")); !sure {
			want["Cache-Control"] = "*"
		} else if token != "" {
			want["Cache-Control"] = "private, no-store"
		} else if want["Cache-Control"] = "no-store"; a.status < 400 {
			want["Cache-Control"], want["Etag"] = "no-cache", "*"
		}
	case takesBody(s.base, r) || w.endpoint == document && r.Method == http.MethodDelete:
		want["Cache-Control"] = "private, no-store"
	case isLanguage && a.status < 400 && a.status != http.StatusNoContent:
		want["Cache-Control"], want["Etag"] = "public, max-age=3600", "*"
	case a.status == http.StatusOK && w.endpoint != nothing && w.endpoint != alive && w.endpoint != ready:
		want["Cache-Control"] = "no-cache"
	default:
		want["Cache-Control"] = "*"
	}
	for key, value := range want {
		if got := get(key); got == "" || value != "*" && got != value {
			v.add("wrong "+key, "got %q, want %q", got, value)
		}
	}
	if w.language != "" && a.status < 400 && !s.etags.same(w.language, get("Etag")) {
		v.add("another ETag", "got %q, want %q", get("Etag"), s.etags.of(w.language))
	}
	if allow := get("Allow"); allow != "" && w.endpoint != nothing {
		got, want := strings.Split(allow, ", "), append(methods(w.endpoint), http.MethodOptions)
		if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			v.add("wrong Allow", "%q", allow)
		}
	}
	_, fromPage := r.Header["Origin"]
	if origin := get("Access-Control-Allow-Origin"); fromPage != (origin == "*") || !fromPage && origin != "" {
		v.add("wrong Access-Control-Allow-Origin", "%q", origin)
	}
}

// judgeID checks that an id is accepted only from trusted proxies.
func (s *site) judgeID(v *verdict, r *http.Request, id string) {
	ids := r.Header.Values("X-Request-Id")
	switch {
	case s.trusting && len(ids) == 1 && proxyIDPattern.MatchString(ids[0]):
		if id != ids[0] {
			v.add("the proxy's request id is not kept", "got %q, want %q", id, ids[0])
		}
	case s.trusting && slices.Contains(ids, id):
	case !requestIDPattern.MatchString(id):
		v.add("an id of the client's own is believed", "%q", id)
	}
}

func (s *site) judgeBody(v *verdict, r *http.Request, w want, a *answer) {
	if a.status == http.StatusNoContent || a.status == http.StatusNotModified {
		return // readAnswer would take a body for the next answer
	}
	if a.status != http.StatusOK {
		judgeProblem(v, a)
		return
	}
	if w.body != "" {
		if string(a.body) != w.body && (w.endpoint != ownPastes || !endsList(a.body, w.body)) {
			v.add("wrong body", "want %s", w.body)
		}
		return
	}
	switch w.endpoint {
	case count:
		var c struct{ NumPastes int }
		if err := exactly(a.body, &c, "numPastes"); err != nil || c.NumPastes < w.atLeast {
			v.add("wrong count", "want at least %d: %v", w.atLeast, err)
		}
	case expiryTime:
		var e struct{ Result int64 }
		if err := exactly(a.body, &e, "result"); err != nil {
			v.add("no time", "%v", err)
		}
	case create, createText, upload, firstText:
		if link := string(a.body); w.endpoint.answersLink() && !strings.HasPrefix(r.Header.Get("Accept"), mediaJSON) {
			absolute := strings.HasPrefix(link, "http://") || r.Host == "" // without a host the link is only a path
			if !absolute || !strings.HasSuffix(link, a.header.Get("Location")+"\n") {
				v.add("no link", "%q", link)
			}
			return
		}
		var p struct{ Pasties, Edits []json.RawMessage }
		err := exactly(a.body, &p, "_id", "ownerId", "title", "createdAt", "expiresIn", "deletesAt", "stars", "isPrivate",
			"isPublic", "tags",
			"encrypted", "pasties", "edits")
		if err != nil || len(p.Pasties) == 0 || len(p.Edits) > 0 {
			v.add("no new paste", "%v", err)
		}
	case byName, byExtension:
		var l struct {
			Name, Mode, Color string
			Mimes, Ext        []string
		}
		err := exactly(a.body, &l, "name", "mode", "mimes", "ext", "color?")
		switch {
		case err != nil:
			v.add("no language", "%v", err)
		case l.Name == "" || w.language != "" && l.Name != w.language:
			v.add("another language", "got %q, want %q", l.Name, w.language)
		}
	case self, ownPastes: // with several tokens
		for _, account := range accounts {
			if slices.Contains(account[:], string(a.body)) || w.endpoint == ownPastes && endsList(a.body, account[1]) {
				return
			}
		}
		v.add("nobody's account", "")
	case nothing: // except the page at "/"
		if r.URL.Path != "/" || !strings.Contains(string(a.body), "<title>Gluepot: the interface</title>") {
			v.add("unexpected body", "%s %q", r.Method, r.RequestURI)
		}
	default:
		v.add("unexpected body", "%s %q", r.Method, r.RequestURI)
	}
}

// endsList reports whether a list of pastes ends with the expected one, after newer pastes.
func endsList(list []byte, want string) bool {
	var ids, last []string
	if json.Unmarshal(list, &ids) != nil || json.Unmarshal([]byte(want), &last) != nil || len(ids) < len(last) {
		return false
	}
	return slices.Equal(ids[len(ids)-len(last):], last)
}

func judgeProblem(v *verdict, a *answer) {
	var p struct {
		Type, Title, Detail, StatusMessage, RequestID string
		Status                                        int
	}
	if err := exactly(a.body, &p, "type", "title", "status", "detail", "statusMessage", "requestId"); err != nil {
		v.add("no error object", "%v", err)
		return
	}
	if p.Type != "about:blank" || p.Title != http.StatusText(a.status) || p.Status != a.status || p.Detail == "" ||
		p.StatusMessage != p.Detail || p.RequestID != a.header.Get("X-Request-Id") {
		v.add("wrong error object", "%+v", p)
	}
}

// exactly decodes an object with exactly these fields, in this order. A field with a question mark is optional.
func exactly(body []byte, into any, fields ...string) error {
	decoder := json.NewDecoder(bytes.NewReader(body))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return errors.New("the body is not an object")
	}
	for _, field := range fields {
		field, optional := strings.CutSuffix(field, "?")
		if optional && !decoder.More() {
			continue
		}
		if key, err := decoder.Token(); err != nil || key != field {
			return fmt.Errorf("got %v, want %q", key, field)
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return err
		}
		if string(value) == "null" {
			return fmt.Errorf("%q is null", field)
		}
	}
	if token, err := decoder.Token(); err != nil || token != json.Delim('}') {
		return fmt.Errorf("got %v, want the end of the object", token)
	}
	return json.Unmarshal(body, into)
}
