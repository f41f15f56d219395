package account_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/tests/visit/embedded"
)

// TestOwnForms sends every form about accounts and of administrators without a CSRF token, with tokens of other
// sessions, and with the right one. It takes the routes from the site, so that it covers new ones.
func TestOwnForms(t *testing.T) {
	t.Parallel()
	s := embedded.New(t)
	s.User("root", false)
	s.User("mortar", true)
	if _, err := s.Users.Update.Do(t.Context(), audit.Operator(), "root",
		users.UpdateInput{Admin: new(true)}); err != nil {
		t.Fatal(err)
	}
	_, own := s.Session("root")
	_, otherSession := s.Session("root")
	_, others := s.Session("mortar")
	valueOf := func(secret string) string {
		return site.CSRFToken(s.NewRequest(s.Asking(http.MethodGet, "/", secret, nil), false))
	}
	const message = "does not belong to your current session"
	forms := 0
	for _, page := range s.Routes() {
		pattern := page.Path
		if !strings.HasPrefix(pattern, site.PathAccount) && !strings.HasPrefix(pattern, site.PathAdmin) || page.Post == nil {
			continue
		}
		forms++
		t.Run(pattern, func(t *testing.T) {
			for what, value := range map[string]string{
				"none": "", "made up": strings.Repeat("A", 69), "of another user": valueOf(others),
				"of the user's other session": valueOf(otherSession), "cut": valueOf(own)[:40],
				"another nonce": "a" + valueOf(own)[1:],
			} {
				answer, _, err := s.Post(own, pattern, url.Values{site.FieldCSRF: {value}})
				if !fault.Is(err, fault.Forbidden) || !strings.Contains(fault.MessageOf(err), message) {
					t.Errorf("%s: got %v, %d, want fault.Forbidden", what, err, answer.Code)
				}
			}
			if _, _, err := s.Post(own, pattern, nil); strings.Contains(fault.MessageOf(err), message) {
				t.Errorf("got %v with the token of the session, want the form read", err)
			}
		})
	}
	if forms < 9 {
		t.Errorf("got %d forms, want at least 9", forms)
	}
}
