package visit

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// Issue issues an access token to a user.
func (s *Site) Issue(username string) (id token.ID, secret string) {
	s.T.Helper()
	created, access, err := s.Tokens.Issue.Do(s.T.Context(), audit.Operator(), username,
		tokens.IssueInput{Name: "a browser"})
	if err != nil {
		s.T.Fatal(err)
	}
	return created.ID, access.Reveal()
}

// Asking returns a request, with the cookie of a session unless secret is "".
func (s *Site) Asking(method, path, secret string, form url.Values) *http.Request {
	s.T.Helper()
	r := httptest.NewRequestWithContext(s.T.Context(), method, path, strings.NewReader(form.Encode()))
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if secret != "" {
		r.AddCookie(SessionOf(secret))
	}
	return r
}

// SessionOf returns the cookie of a session.
func SessionOf(secret string) *http.Cookie {
	return &http.Cookie{Name: "gluepot-session", Value: secret}
}

// Session issues an access token, and starts a session with it.
func (s *Site) Session(username string) (id token.ID, secret string) {
	s.T.Helper()
	id, access := s.Issue(username)
	return id, s.SignedIn(access)
}

// SignedIn starts a session with an access token.
func (s *Site) SignedIn(access string) (secret string) {
	s.T.Helper()
	viewer, err := s.Tokens.SignIn.Do(s.T.Context(), access)
	if err != nil {
		s.T.Fatal(err)
	}
	session, err := s.Tokens.Sessions.Start(s.T.Context(), audit.By(token.Viewer{}, netip.Addr{}), viewer.User.ID,
		viewer.Token, "a browser", "")
	if err != nil {
		s.T.Fatal(err)
	}
	return session.Reveal()
}

// As requests a path with the cookie of a session.
func (s *Site) As(secret, path string) (answer *httptest.ResponseRecorder, rejected bool, err error) {
	s.T.Helper()
	answer = httptest.NewRecorder()
	rejected, err = s.Respond(answer, s.Asking(http.MethodGet, path, secret, nil))
	return answer, rejected, err
}

// ReadOnly starts a session that may only read.
func (s *Site) ReadOnly(username string) (secret string) {
	s.T.Helper()
	_, access, err := s.Tokens.Issue.Do(s.T.Context(), audit.Operator(), username, tokens.IssueInput{Scope: token.Read})
	if err != nil {
		s.T.Fatal(err)
	}
	return s.SignedIn(access.Reveal())
}

// Sending returns a request with a form and the cookie of a session. The form gets the CSRF token of that session
// unless it has one.
func (s *Site) Sending(secret, path string, form url.Values) *http.Request {
	s.T.Helper()
	if secret != "" && !form.Has(site.FieldCSRF) {
		withToken := url.Values{site.FieldCSRF: {site.CSRFToken(s.NewRequest(s.Asking(http.MethodGet, path, secret, nil),
			false))}}
		maps.Copy(withToken, form)
		form = withToken
	}
	return s.Asking(http.MethodPost, path, secret, form)
}

// Post sends a form with the cookie of a session.
func (s *Site) Post(secret, path string,
	form url.Values) (answer *httptest.ResponseRecorder, rejected bool, err error) {
	s.T.Helper()
	answer = httptest.NewRecorder()
	rejected, err = s.Respond(answer, s.Sending(secret, path, form))
	return answer, rejected, err
}

// User creates a user and returns its id.
func (s *Site) User(name string, public bool) user.ID {
	s.T.Helper()
	created, err := s.Users.Create.Do(s.T.Context(), audit.Operator(), users.CreateInput{Name: name,
		PublicProfile: public})
	if err != nil {
		s.T.Fatal(err)
	}
	return created.ID
}
