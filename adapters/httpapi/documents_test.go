package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"go.uber.org/zap"

	"github.com/gluepot/gluepot/adapters/httpapi/wire"
	"github.com/gluepot/gluepot/application/languages"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
	"github.com/gluepot/gluepot/tests/fake"
)

// pasteModules returns use cases over an empty store, and the token of a user.
func pasteModules(tb testing.TB, change func(*pastes.Options)) (Modules, string) {
	tb.Helper()
	store := new(fake.Store)
	name, err := user.ParseName("epoxy")
	if err == nil {
		err = fake.Identities{Store: store}.Enroll(tb.Context(), netip.Addr{}, auditlog.Entry{},
			user.User{ID: "epoxy001", Name: name}, identity.Credentials{}, identity.Admission{})
	}
	secret := token.Generate()
	if err == nil {
		entry := token.Token{ID: "k1", Owner: "epoxy001", Hash: secret.Hash(), CreatedAt: time.Now()}
		err = fake.Tokens{Store: store}.Create(tb.Context(), netip.Addr{}, auditlog.Entry{}, entry)
	}
	if err != nil {
		tb.Fatal(err)
	}
	options := pastes.Options{Rules: paste.Rules{
		Limits: paste.DefaultLimits(), NewID: ident.New,
		Language: func(name, _, _ string) (string, bool) { return "Go", name == "Go" || name == paste.Autodetect },
		Diff:     func(before, _ string) string { return before },
	}}
	if change != nil {
		change(&options)
	}
	return Modules{
		Users:     users.New(nil, nil, paste.Lifetimes{}, nil, time.Now),
		Tokens:    tokens.New(fake.Tokens{Store: store}, nil, time.Now),
		Pastes:    pastes.New(fake.Pastes{Store: store}, nil, options, time.Now),
		Languages: languages.New(copies{}),
	}, secret.Reveal()
}

func newPasteAPI(tb testing.TB, cfg Config, change func(*pastes.Options)) (*API, string) {
	tb.Helper()
	modules, secret := pasteModules(tb, change)
	api, err := New(cfg, modules, func(context.Context) error { return nil }, zap.NewNop())
	if err != nil {
		tb.Fatal(err)
	}
	return api, secret
}

// send sends a request with a body. It has a Content-Length only if body is a string.
func send(api http.Handler, method, target string, body any, headers ...string) *httptest.ResponseRecorder {
	reader, ok := body.(io.Reader)
	if text, isText := body.(string); isText {
		reader, ok = strings.NewReader(text), true
	}
	if !ok {
		reader = http.NoBody
	}
	r := httptest.NewRequest(method, target, reader)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	recorder := httptest.NewRecorder()
	api.ServeHTTP(recorder, r)
	return recorder
}

// pasteJSON is a paste as clients see it.
type pasteJSON struct {
	ID      string `json:"_id"`
	Title   string
	Pasties []struct {
		ID                    string `json:"_id"`
		Title, Language, Code string
	}
	Edits []json.RawMessage
}

func parsePaste(tb testing.TB, answer *httptest.ResponseRecorder) (p pasteJSON) {
	tb.Helper()
	if answer.Code != http.StatusOK {
		tb.Fatalf("got %d %s, want 200", answer.Code, answer.Body)
	}
	if err := json.Unmarshal(answer.Body.Bytes(), &p); err != nil {
		tb.Fatalf("got %v in %.1000s, want a paste", err, answer.Body)
	}
	return p
}

func TestReadingLongPastes(t *testing.T) {
	t.Parallel()
	for _, length := range []int{1 << 20, maxBufferedText + 1} { // buffered, and not
		t.Run(strconv.Itoa(length), func(t *testing.T) { readLongPaste(t, strings.Repeat("ü\n", length/3+1)) })
	}
}

func readLongPaste(t *testing.T, code string) {
	t.Helper()
	cfg := DefaultConfig()
	cfg.PasteMaxBody, cfg.MaxMemory = 8<<20, 128<<20
	api, secret := newPasteAPI(t, cfg, nil)
	paste := parsePaste(t, send(api, http.MethodPost, "/raw?isPrivate=false", code, "Authorization", secret,
		"Accept", mediaJSON))
	if paste.Pasties[0].Code != code {
		t.Errorf("got %d bytes, want the code that was sent", len(paste.Pasties[0].Code))
	}
	raw := send(api, http.MethodGet, "/raw/"+paste.ID+"/"+paste.Pasties[0].ID, nil)
	if raw.Body.String() != code || raw.Header().Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("got %d bytes of %s, want the code as it was sent", raw.Body.Len(), raw.Header().Get("Content-Type"))
	}
	for _, target := range []string{"/paste/" + paste.ID, "/raw/" + paste.ID + "/" + paste.Pasties[0].ID} {
		whole := send(api, http.MethodGet, target, nil)
		etag := whole.Header().Get("ETag")
		head := send(api, http.MethodHead, target, nil)
		length := whole.Header().Get("Content-Length")
		if head.Header().Get("ETag") != etag || head.Header().Get("Content-Length") != length || head.Body.Len() > 0 {
			t.Errorf("HEAD %s: got %v, want what GET has, %v", target, head.Header(), whole.Header())
		}
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			cached := send(api, method, target, nil, "If-None-Match", etag)
			if cached.Code != http.StatusNotModified || cached.Body.Len() > 0 || etag == "" ||
				cached.Header().Get("ETag") != etag {
				t.Errorf("%s %s: got %d %v, want 304 and the ETag %s", method, target, cached.Code, cached.Header(), etag)
			}
		}
	}
}

// TestETagBesideAnotherCacheControl lets an embedder's handler set Cache-Control.
func TestETagBesideAnotherCacheControl(t *testing.T) {
	t.Parallel()
	api, secret := newPasteAPI(t, DefaultConfig(), nil)
	paste := parsePaste(t, send(api, http.MethodPost, "/paste", simplePaste, "Authorization", secret))
	outer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=5")
		api.ServeHTTP(w, r)
	})
	answer := request(outer, http.MethodGet, "/paste/"+paste.ID, nil).Header()
	if answer.Get("ETag") == "" || answer.Get("Cache-Control") != "max-age=5" {
		t.Errorf("got %v, want an ETag and the embedder's Cache-Control", answer)
	}
}

func TestTokenRequired(t *testing.T) {
	t.Parallel()
	api, secret := newPasteAPI(t, DefaultConfig(), func(o *pastes.Options) { o.TokenRequired = true })
	for _, c := range []struct {
		target, body string
		headers      []string
		status       int
	}{
		{"/paste", simplePaste, nil, http.StatusUnauthorized},
		{"/paste", "not JSON", nil, http.StatusUnauthorized},
		{"/paste", simplePaste, []string{"Authorization", ""}, http.StatusUnauthorized},
		{"/paste", simplePaste, []string{"Content-Encoding", "gzip"}, http.StatusUnsupportedMediaType},
		{"/raw", "x", nil, http.StatusUnauthorized},
		{"/raw", "", nil, http.StatusUnauthorized},
		{"/paste", simplePaste, []string{"Authorization", secret}, http.StatusOK},
		{"/raw", "x", []string{"Authorization", secret}, http.StatusOK},
	} {
		if answer := send(api, http.MethodPost, c.target, c.body, c.headers...); answer.Code != c.status {
			t.Errorf("%s %q %v: got %d, want %d", c.target, c.body, c.headers, answer.Code, c.status)
		}
	}
}

// TestPagesOfOtherSites checks that a page of another site cannot use up its visitor's quota of anonymous pastes.
func TestPagesOfOtherSites(t *testing.T) {
	t.Parallel()
	limited, secret := newPasteAPI(t, DefaultConfig(), func(o *pastes.Options) {
		o.AnonymousQuota = paste.Quota{Pastes: 6, Window: time.Hour}
	})
	unlimited, _ := newPasteAPI(t, DefaultConfig(), nil)
	for _, c := range []struct {
		api    *API
		site   string
		token  string
		status int
	}{
		{limited, "cross-site", "", http.StatusUnauthorized},
		{limited, "cross-site", secret, http.StatusOK},
		{limited, "same-origin", "", http.StatusOK},
		{limited, "none", "", http.StatusOK},
		{limited, "", "", http.StatusOK}, // no browser
		{unlimited, "cross-site", "", http.StatusOK},
	} {
		for path, body := range map[string]string{"/paste": simplePaste, "/raw": "x"} {
			answer := send(c.api, http.MethodPost, path, body, "Sec-Fetch-Site", c.site, "Authorization", c.token)
			if answer.Code != c.status {
				t.Errorf("%s from %q with the token %q: got %d %s, want %d", path, c.site, c.token, answer.Code,
					answer.Body, c.status)
			}
		}
	}
}

const simplePaste = `{"pasties":[{"code":"x"}]}`

// FuzzCreate sends arbitrary bodies. Those that are accepted are JSON, and are stored as they were sent.
func FuzzCreate(f *testing.F) {
	for _, seed := range []string{
		simplePaste, "\ufeff" + simplePaste,
		`{"pasties":[{"code":"a\r\nb\u0000\ud800","title":"é","language":null,"x":[{}]}],"tags":["a,b",""],"title":"t"}`,
		`{"pasties":[{"code":""}],"pasties":null}`,
		`{"tags":"a","isPrivate":true,"encrypt":false,"expiresIn":"1w","pasties":[{"code":"x"}]}`,
		"{\"pasties\":[{\"code\":\"\xff\"}]}", `{}`, `[]`, `{"a":[[[[]]]]}`, `{"pasties":[{"code":"x"}]} {}`,
		`{"pasties":[{"code":"x"},]}`,
	} {
		f.Add([]byte(seed))
	}
	api, secret := newPasteAPI(f, DefaultConfig(), nil)
	f.Fuzz(func(t *testing.T, body []byte) {
		answer := send(api, http.MethodPost, "/paste", bytes.NewReader(body), "Authorization", secret)
		if answer.Code == http.StatusBadRequest {
			return
		}
		created := parsePaste(t, answer)
		text := bytes.TrimPrefix(body, []byte(wire.ByteOrderMark))
		var fields map[string]any
		if !utf8.Valid(body) || json.Unmarshal(text, &fields) != nil {
			t.Fatalf("%q: got 200, want 400, since it is not a JSON object", body)
		}
		title, _ := fields["title"].(string)
		list, _ := fields["pasties"].([]any)
		if created.Title != title || len(created.Pasties) != len(list) {
			t.Fatalf("%q: got %+v, want the title %q and %d pasties", body, created, title, len(list))
		}
		for i, element := range list {
			pasty, _ := element.(map[string]any)
			code, _ := pasty["code"].(string)
			if code = strings.ReplaceAll(code, "\r\n", "\n"); created.Pasties[i].Code != code {
				t.Errorf("%q: got the code %q, want %q", body, created.Pasties[i].Code, code)
			}
		}
		if again := send(api, http.MethodGet, "/paste/"+created.ID, nil,
			"Authorization", secret); again.Body.String() != answer.Body.String() {
			t.Errorf("%q: got %s, want what was answered first, %s", body, again.Body, answer.Body)
		}
		deletion := send(api, http.MethodDelete, "/paste/"+created.ID, nil, "Authorization", secret)
		if deletion.Code != http.StatusOK {
			t.Errorf("%q: got %d, want the paste to be deleted", body, deletion.Code)
		}
	})
}

// FuzzEdit sends arbitrary changes to a paste. Those that are refused change nothing. Those that are accepted are
// stored, and sending the result back changes nothing.
func FuzzEdit(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"title":"new"}`, `{"pasties":[{"_id":"ID","code":"b"}]}`, `{"pasties":[{"_id":"ID"},{"code":"new"}]}`,
		`{"pasties":[{"_id":null,"code":"x"}]}`,
		`{"tags":[],"isPrivate":true,"stars":"x","edits":{},"createdAt":null}`, `{"pasties":[]}`,
		`{"pasties":[{"_id":"ID"},{"_id":"ID"}]}`,
		`{"title":5}`, `not JSON`,
	} {
		f.Add([]byte(seed))
	}
	api, secret := newPasteAPI(f, DefaultConfig(), nil)
	f.Fuzz(func(t *testing.T, body []byte) {
		creation := send(api, http.MethodPost, "/paste", simplePaste, "Authorization", secret)
		before := parsePaste(t, creation)
		defer send(api, http.MethodDelete, "/paste/"+before.ID, nil, "Authorization", secret)
		body = bytes.ReplaceAll(body, []byte("ID"), []byte(before.Pasties[0].ID))
		answer := send(api, http.MethodPatch, "/paste/"+before.ID, bytes.NewReader(body), "Authorization", secret)
		now := send(api, http.MethodGet, "/paste/"+before.ID, nil, "Authorization", secret)
		switch answer.Code {
		case http.StatusBadRequest:
			if now.Body.String() != creation.Body.String() {
				t.Errorf("%q: got %s, want nothing changed of %s", body, now.Body, creation.Body)
			}
		default:
			after := parsePaste(t, answer)
			if now.Body.String() != answer.Body.String() {
				t.Errorf("%q: got %s, want what was answered, %s", body, now.Body, answer.Body)
			}
			resent := send(api, http.MethodPatch, "/paste/"+before.ID, answer.Body.String(), "Authorization", secret)
			if again := parsePaste(t, resent); len(again.Edits) != len(after.Edits) {
				t.Errorf("%q: got %d edits after the paste was sent back, want %d", body, len(again.Edits), len(after.Edits))
			}
		}
	})
}
