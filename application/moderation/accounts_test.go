package moderation

import (
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// TestAdministratorsOnly has others than administrators ask for what only those may see. The store, which is nil, is
// never asked.
func TestAdministratorsOnly(t *testing.T) {
	t.Parallel()
	use := New(nil, nil, nil, nil, nil, time.Now)
	for what, viewer := range map[string]token.Viewer{
		"visitor":   {},
		"no user":   {User: user.User{Admin: true}},
		"user":      {User: user.User{ID: "epoxy"}},
		"suspended": {User: user.User{ID: "epoxy", Admin: true, Suspended: true}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			_, err := use.ListAccounts.Do(
				t.Context(), viewer, moderation.AccountFilter{}, moderation.ByName, moderation.AccountPlace{}, 1)
			if !fault.Is(err, fault.Forbidden) {
				t.Errorf("the list: got %v, want fault.Forbidden", err)
			}
			if _, err := use.ShowAccount.Do(t.Context(), viewer, "epoxy"); !fault.Is(err, fault.Forbidden) {
				t.Errorf("a user: got %v, want fault.Forbidden", err)
			}
		})
	}
	root := token.Viewer{User: user.User{ID: "root", Admin: true}}
	filter := moderation.AccountFilter{Name: "\x00"}
	_, err := use.ListAccounts.Do(t.Context(), root, filter, moderation.ByName, moderation.AccountPlace{}, 1)
	if !fault.Is(err, fault.Invalid) {
		t.Errorf("a name that no user can have: got %v, want fault.Invalid", err)
	}
}
