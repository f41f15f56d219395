// Package idp runs identity providers for tests that sign in: a certified OpenID Connect provider, and one that follows
// GitHub's documentation.
package idp

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// The credentials of installations at each provider.
const (
	ClientID     = "gluepot-test"
	ClientSecret = "a secret of the test's"
)

// Provider is an OpenID Connect provider.
type Provider struct {
	URL string // and issuer

	mu        sync.Mutex
	behaviour Behaviour
	storage   *storage
	stopped   chan struct{}
}

// Behaviour says what a provider does.
type Behaviour struct {
	Account Account // who is signed in at the provider
	// Tamper changes the claims of each ID token before it is signed.
	Tamper func(claims map[string]any)
	// Intercept answers a request instead of the provider if it returns true.
	Intercept func(w http.ResponseWriter, r *http.Request) bool
}

// Behave changes what the provider does with later requests.
func (p *Provider) Behave(change func(*Behaviour)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.behaviour)
}

func (p *Provider) currentBehaviour() Behaviour {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.behaviour
}

// Account is a provider's user.
type Account struct {
	Subject, Name, Email string
	Verified             bool     // whether Email is
	Groups               []string // as UserInfo lists them
}

// Start runs a provider that knows installations at these addresses, until the test ends.
func Start(t testing.TB, publicURLs ...string) *Provider {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p := &Provider{behaviour: Behaviour{Account: Account{Subject: "sub-77", Name: "Ann Example"}},
		stopped: make(chan struct{})}
	p.storage = &storage{provider: p, key: key, requests: make(map[string]*authRequest)}
	for _, public := range publicURLs {
		p.storage.redirects = append(p.storage.redirects, public+"/sign-in/oidc/callback", public+"/sign-in/gitlab/callback")
	}
	var provider http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		behaviour := p.currentBehaviour()
		if behaviour.Intercept != nil && behaviour.Intercept(w, r) {
			return
		}
		if behaviour.Tamper == nil || !strings.HasSuffix(r.URL.Path, "/token") {
			provider.ServeHTTP(w, r)
			return
		}
		answer := httptest.NewRecorder()
		provider.ServeHTTP(answer, r)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(answer.Code)
		_, _ = w.Write(p.tamper(t, behaviour.Tamper, answer.Body.Bytes()))
	}))
	t.Cleanup(func() {
		close(p.stopped)
		server.Close()
	})
	p.URL = server.URL
	config := &op.Config{CodeMethodS256: true}
	if provider, err = op.NewProvider(config, p.storage, op.StaticIssuer(p.URL), op.WithAllowInsecure()); err != nil {
		t.Fatal(err)
	}
	return p
}

// tamper returns an answer of the token endpoint with other claims in its ID token.
func (p *Provider) tamper(t testing.TB, change func(map[string]any), answer []byte) []byte {
	var fields, claims map[string]any
	if json.Unmarshal(answer, &fields) != nil || fields["id_token"] == nil {
		return answer
	}
	token, err := jose.ParseSigned(fmt.Sprint(fields["id_token"]), []jose.SignatureAlgorithm{jose.RS256})
	if err == nil {
		err = json.Unmarshal(token.UnsafePayloadWithoutVerification(), &claims)
	}
	if err != nil {
		t.Error(err)
		return answer
	}
	change(claims)
	fields["id_token"] = p.Sign(t, claims)
	text, _ := json.Marshal(fields)
	return text
}

// Sign returns an ID token that the provider signed.
func (p *Provider) Sign(t testing.TB, claims map[string]any) string {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: p.storage.key},
		(&jose.SignerOptions{}).WithHeader("kid", keyID))
	if err != nil {
		t.Error(err)
		return ""
	}
	text, _ := json.Marshal(claims)
	token, err := signer.Sign(text)
	if err != nil {
		t.Error(err)
		return ""
	}
	compact, _ := token.CompactSerialize()
	return compact
}

// Visit follows redirects from a provider as a browser does, and returns the address of the callback.
func Visit(t testing.TB, address string) *url.URL {
	t.Helper()
	for range 5 {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultTransport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		next, err := answer.Location()
		if err != nil {
			t.Fatalf("GET %s: got %s %s, want another address", address, answer.Status, body)
		}
		if strings.HasSuffix(next.Path, "/callback") && strings.Contains(next.Path, "/sign-in/") {
			return next
		}
		address = next.String()
	}
	t.Fatal("got five redirects, none to a callback, want one")
	return nil
}

// storage holds the provider's data.
type storage struct {
	op.Storage // its other methods are not called

	provider  *Provider
	key       *rsa.PrivateKey
	redirects []string

	mu       sync.Mutex
	requests map[string]*authRequest // by id, code and access token
}

const keyID = "key"

type signingKey struct{ key any }

func (signingKey) SignatureAlgorithm() jose.SignatureAlgorithm { return jose.RS256 }
func (signingKey) Algorithm() jose.SignatureAlgorithm          { return jose.RS256 }
func (signingKey) Use() string                                 { return "sig" }
func (k signingKey) Key() any                                  { return k.key }
func (signingKey) ID() string                                  { return keyID }

func (s *storage) SigningKey(context.Context) (op.SigningKey, error) { return signingKey{s.key}, nil }
func (s *storage) KeySet(context.Context) ([]op.Key, error) {
	return []op.Key{signingKey{&s.key.PublicKey}}, nil
}
func (s *storage) SignatureAlgorithms(context.Context) ([]jose.SignatureAlgorithm, error) {
	return []jose.SignatureAlgorithm{jose.RS256}, nil
}
func (s *storage) Health(context.Context) error { return nil }

// authRequest is the request of a browser that wants to sign in. Every browser is already signed in at the provider.
type authRequest struct {
	*oidc.AuthRequest

	id      string
	account Account
}

func (a *authRequest) GetID() string          { return a.id }
func (a *authRequest) GetACR() string         { return "" }
func (a *authRequest) GetAMR() []string       { return nil }
func (a *authRequest) GetAudience() []string  { return []string{a.ClientID} }
func (a *authRequest) GetAuthTime() time.Time { return time.Now() }
func (a *authRequest) GetClientID() string    { return a.ClientID }
func (a *authRequest) GetCodeChallenge() *oidc.CodeChallenge {
	return &oidc.CodeChallenge{Challenge: a.CodeChallenge, Method: a.CodeChallengeMethod}
}
func (a *authRequest) GetNonce() string                   { return a.Nonce }
func (a *authRequest) GetRedirectURI() string             { return a.RedirectURI }
func (a *authRequest) GetResponseType() oidc.ResponseType { return a.ResponseType }
func (a *authRequest) GetResponseMode() oidc.ResponseMode { return a.ResponseMode }
func (a *authRequest) GetScopes() []string                { return a.Scopes }
func (a *authRequest) GetState() string                   { return a.State }
func (a *authRequest) GetSubject() string                 { return a.account.Subject }
func (a *authRequest) Done() bool                         { return true }

var errUnknown = errors.New("unknown")

func (s *storage) keep(key string, request *authRequest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[key] = request
}

func (s *storage) find(key string) (*authRequest, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	request, ok := s.requests[key]
	if !ok {
		return nil, errUnknown
	}
	return request, nil
}

func (s *storage) CreateAuthRequest(_ context.Context, params *oidc.AuthRequest, _ string) (op.AuthRequest, error) {
	if params.CodeChallenge == "" || params.CodeChallengeMethod != oidc.CodeChallengeMethodS256 || params.Nonce == "" ||
		params.State == "" {
		return nil, oidc.ErrInvalidRequest().WithDescription("no PKCE, nonce or state")
	}
	request := &authRequest{AuthRequest: params, id: rand.Text(), account: s.provider.currentBehaviour().Account}
	s.keep(request.id, request)
	return request, nil
}

func (s *storage) AuthRequestByID(_ context.Context, id string) (op.AuthRequest, error) {
	return s.find(id)
}

func (s *storage) AuthRequestByCode(_ context.Context, code string) (op.AuthRequest, error) {
	return s.find("code " + code)
}

func (s *storage) SaveAuthCode(_ context.Context, id, code string) error {
	request, err := s.find(id)
	if err == nil {
		s.keep("code "+code, request)
	}
	return err
}

// DeleteAuthRequest lets a code work only once.
func (s *storage) DeleteAuthRequest(_ context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, request := range s.requests {
		if request.id == id && !strings.HasPrefix(key, "token ") {
			delete(s.requests, key)
		}
	}
	return nil
}

func (s *storage) CreateAccessToken(_ context.Context, request op.TokenRequest) (string, time.Time, error) {
	authorization, ok := request.(*authRequest)
	if !ok {
		return "", time.Time{}, errUnknown
	}
	id := rand.Text()
	s.keep("token "+id, authorization)
	return id, time.Now().Add(time.Hour), nil
}

func (s *storage) GetClientByClientID(_ context.Context, id string) (op.Client, error) {
	if id != ClientID {
		return nil, errUnknown
	}
	return client{s}, nil
}

func (s *storage) AuthorizeClientIDSecret(_ context.Context, id, secret string) error {
	if id != ClientID || secret != ClientSecret {
		return errUnknown
	}
	return nil
}

func (s *storage) SetUserinfoFromScopes(_ context.Context, info *oidc.UserInfo, subject, _ string, _ []string) error {
	info.Subject = subject
	return nil
}

func (s *storage) GetPrivateClaimsFromScopes(context.Context, string, string, []string) (map[string]any, error) {
	return map[string]any{}, nil
}

// SetUserinfoFromToken answers the UserInfo endpoint. ID tokens do not contain these claims.
func (s *storage) SetUserinfoFromToken(_ context.Context, info *oidc.UserInfo, token, _, _ string) error {
	request, err := s.find("token " + token)
	if err != nil {
		return err
	}
	info.Subject = request.account.Subject
	for _, scope := range request.Scopes {
		switch scope {
		case oidc.ScopeProfile:
			info.PreferredUsername, info.Picture = request.account.Name, "https://id.example/ann.png"
		case oidc.ScopeEmail:
			info.Email, info.EmailVerified = request.account.Email, oidc.Bool(request.account.Verified)
		}
	}
	info.AppendClaims("groups", request.account.Groups)
	return nil
}

// client is an installation as the provider knows it.
type client struct{ *storage }

func (client) GetID() string                       { return ClientID }
func (c client) RedirectURIs() []string            { return c.redirects }
func (client) PostLogoutRedirectURIs() []string    { return nil }
func (client) ApplicationType() op.ApplicationType { return op.ApplicationTypeWeb }
func (client) AuthMethod() oidc.AuthMethod         { return oidc.AuthMethodBasic }
func (client) ResponseTypes() []oidc.ResponseType {
	return []oidc.ResponseType{oidc.ResponseTypeCode}
}
func (client) GrantTypes() []oidc.GrantType        { return []oidc.GrantType{oidc.GrantTypeCode} }
func (c client) LoginURL(id string) string         { return c.provider.URL + "/authorize/callback?id=" + id }
func (client) AccessTokenType() op.AccessTokenType { return op.AccessTokenTypeBearer }
func (client) IDTokenLifetime() time.Duration      { return time.Minute }
func (client) DevMode() bool                       { return true }
func (client) RestrictAdditionalIdTokenScopes() func([]string) []string {
	return func(scopes []string) []string { return scopes }
}
func (client) RestrictAdditionalAccessTokenScopes() func([]string) []string {
	return func(scopes []string) []string { return scopes }
}
func (client) IsScopeAllowed(string) bool           { return true }
func (client) IDTokenUserinfoClaimsAssertion() bool { return false }
func (client) ClockSkew() time.Duration             { return 0 }

// Misbehave makes a provider hang, fail, redirect or send a megabyte or nonsense at paths with this suffix.
func (p *Provider) Misbehave(how, suffix string) {
	intercept := func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, suffix) {
			return false
		}
		switch how {
		case "hangs":
			select {
			case <-r.Context().Done():
			case <-p.stopped:
			}
		case "fails":
			http.Error(w, "out of order", http.StatusInternalServerError)
		case "redirects":
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		case "sends a megabyte":
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(append([]byte(`{"id":1,"x":"`), bytes.Repeat([]byte("x"), 1<<20)...))
			_, _ = io.WriteString(w, `"}`)
		case "sends nonsense":
			_, _ = io.WriteString(w, "<html>")
		}
		return true
	}
	p.Behave(func(b *Behaviour) { b.Intercept = intercept })
}
