package idp

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
)

// GitHub answers as a GitHub Enterprise Server does (docs.github.com, "Authorizing OAuth apps" and "Get the
// authenticated user").
type GitHub struct {
	URL string

	ID    int64 // of the user who is signed in there
	Login string

	mu    sync.Mutex
	codes map[string]url.Values // the requests that got them
}

// StartGitHub runs a GitHub that knows an installation, until the test ends.
func StartGitHub(t testing.TB) *GitHub {
	t.Helper()
	g := &GitHub{ID: 77, Login: "ann-example", codes: make(map[string]url.Values)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /login/oauth/authorize", g.authorize)
	mux.HandleFunc("POST /login/oauth/access_token", g.token)
	mux.HandleFunc("GET /api/v3/user", g.user)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	g.URL = server.URL
	return g
}

func (g *GitHub) authorize(w http.ResponseWriter, r *http.Request) {
	request := r.URL.Query()
	back, err := url.Parse(request.Get("redirect_uri"))
	if err != nil || request.Get("client_id") != ClientID || request.Get("code_challenge_method") != "S256" ||
		request.Get("scope") != "" {
		http.Error(w, "not as documented", http.StatusNotFound)
		return
	}
	code := rand.Text()
	g.mu.Lock()
	g.codes[code] = request
	g.mu.Unlock()
	back.RawQuery = url.Values{"code": {code}, "state": {request.Get("state")}}.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

// token answers errors with 200, as GitHub does.
func (g *GitHub) token(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	request, ok := g.codes[r.PostFormValue("code")]
	delete(g.codes, r.PostFormValue("code"))
	g.mu.Unlock()
	challenge := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	answer := url.Values{}
	switch {
	case r.PostFormValue("client_id") != ClientID || r.PostFormValue("client_secret") != ClientSecret:
		answer.Set("error", "incorrect_client_credentials")
	case !ok || request.Get("redirect_uri") != r.PostFormValue("redirect_uri") ||
		request.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(challenge[:]):
		answer.Set("error", "bad_verification_code")
	default:
		answer = url.Values{"access_token": {"gho_test"}, "scope": {""}, "token_type": {"bearer"}}
	}
	w.Header().Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	_, _ = fmt.Fprint(w, answer.Encode())
}

func (g *GitHub) user(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer gho_test" {
		http.Error(w, `{"message":"Bad credentials"}`, http.StatusUnauthorized)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"id": g.ID, "login": g.Login,
		"avatar_url": "https://avatars.example/u/77?v=4"})
}
