package application

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

func TestCreatingUsersHoldsTheRules(t *testing.T) {
	t.Parallel()
	w := newWorld()
	create := w.users.Create
	created, err := create.Do(t.Context(), audit.Operator(),
		users.CreateInput{Name: "Some.Body", Identities: map[string]string{"github": "1"}})
	if err != nil || created.Name.String() != "Some.Body" || created.DefaultLanguage != user.DefaultLanguage ||
		created.CreatedAt != w.now || created.PublicProfile {
		t.Errorf("got %+v, %v, want a private profile made now with the default language", created, err)
	}
	for what, wanted := range map[string]users.CreateInput{
		"an impossible name":       {Name: "-"},
		"a reserved name":          {Name: "SELF"},
		"a line end in the avatar": {Name: "a", AvatarURL: "\n"},
		"a script as avatar":       {Name: "a", AvatarURL: "javascript:alert(1)"},
		"a long language":          {Name: "a", DefaultLanguage: strings.Repeat("x", 65)},
		"negative months":          {Name: "a", SupporterMonths: -1},
		"a service without an id":  {Name: "a", Identities: map[string]string{"github": ""}},
	} {
		_, err := create.Do(t.Context(), audit.Operator(), wanted)
		wantKind(t, what, err, fault.Invalid)
	}
	_, err = create.Do(t.Context(), audit.Operator(), users.CreateInput{Name: "SOME.BODY"})
	wantKind(t, "a name that is taken", err, fault.Conflict)
	if got, want := fault.MessageOf(err), "The username is taken. Choose another."; got != want {
		t.Errorf("got the message %q, want %q", got, want)
	}
}

func TestShowingAndListingUsers(t *testing.T) {
	t.Parallel()
	w := newWorld()
	show, list := w.users.Show, w.users.List
	for _, name := range []string{"b", "A", "c"} {
		w.user(t, users.CreateInput{Name: name, Identities: map[string]string{"github": name}})
	}
	account, err := show.Do(t.Context(), audit.Operator(), "B")
	if err != nil || account.Name.String() != "b" || !maps.Equal(account.Identities, map[string]string{"github": "b"}) {
		t.Errorf("got %+v, %v, want the private user b with a service", account, err)
	}
	_, err = show.Do(t.Context(), audit.Operator(), "nobody")
	wantKind(t, "nobody", err, fault.NotFound)
	_, err = show.Do(t.Context(), audit.Operator(), "no body")
	wantKind(t, "an impossible name", err, fault.Invalid)
	var names []string
	if err := list.Do(t.Context(), audit.Operator(), func(u user.User) error {
		names = append(names, u.Name.String())
		return nil
	}); err != nil {
		t.Error(err)
	}
	if want := []string{"A", "b", "c"}; !slices.Equal(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
	const more = 1200 // than are read at once
	for i := range more {
		w.user(t, users.CreateInput{Name: fmt.Sprintf("u%04d", i)})
	}
	names = nil
	err = list.Do(t.Context(), audit.Operator(), func(u user.User) error {
		names = append(names, u.Name.Folded())
		_, err := w.userStore.ByName(t.Context(), u.Name) // nothing waits for the visitor
		return err
	})
	if err != nil || len(names) != more+3 || !slices.IsSorted(names) {
		t.Errorf("got %d names, error %v, want %d in their order", len(names), err, more+3)
	}
	enough := errors.New("enough")
	if err := list.Do(t.Context(), audit.Operator(), func(user.User) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("got %v, want the visitor's error", err)
	}
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.user(t, users.CreateInput{
		Name: "Somebody", AvatarURL: "https://example.com/before", DefaultLanguage: "Go", PublicProfile: true,
		Identities: map[string]string{"github": "1", "gitlab": "2"},
	})
	update, show := w.users.Update, w.users.Show
	before, err := show.Do(t.Context(), audit.Operator(), "somebody")
	if err != nil {
		t.Fatal(err)
	}
	avatar, private, months := "https://example.com/after", false, int32(3)
	want := before
	want.AvatarURL, want.PublicProfile, want.SupporterMonths = avatar, private, months
	want.Identities = map[string]string{"gitlab": "2", "codeberg": "3"}
	change := users.UpdateInput{
		AvatarURL: &avatar, PublicProfile: &private, SupporterMonths: &months,
		Identities: map[string]string{"github": "", "codeberg": "3", "never": ""},
	}
	got, err := update.Do(t.Context(), audit.Operator(), "SOMEBODY", change)
	if err != nil || got.User != want.User || !maps.Equal(got.Identities, want.Identities) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}

	unprintable, quoted, long, negative := "\n", `https://example.com/"onload="x`, strings.Repeat("x", 257), int32(-1)
	for what, wrong := range map[string]users.UpdateInput{
		"avatar":   {AvatarURL: &unprintable, Contributor: new(bool)},
		"quotes":   {AvatarURL: &quoted},
		"language": {DefaultLanguage: &long},
		"months":   {AvatarURL: &avatar, SupporterMonths: &negative},
		"service":  {Identities: map[string]string{long: "1"}},
	} {
		_, err := update.Do(t.Context(), audit.Operator(), "somebody", wrong)
		wantKind(t, what, err, fault.Invalid)
	}
	if got, err := show.Do(t.Context(), audit.Operator(), "somebody"); err != nil || got.User != want.User ||
		!maps.Equal(got.Identities, want.Identities) {
		t.Errorf("after changes that were refused: %+v, %v, want %+v", got, err, want)
	}
	for name, kind := range map[string]fault.Kind{"nobody": fault.NotFound, "no body": fault.Invalid} {
		_, err := update.Do(t.Context(), audit.Operator(), name, change)
		wantKind(t, "update "+name, err, kind)
		_, err = show.Do(t.Context(), audit.Operator(), name)
		wantKind(t, "show "+name, err, kind)
	}
}

func TestDeletingAUserTakesEverythingAlong(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.user(t, users.CreateInput{Name: "owner"})
	owner, _ := w.userStore.ByName(t.Context(), mustName(t, "owner"))
	secret, viewer := w.token(t, "owner"), w.viewer(t, "owner")
	id := w.paste(t, "owner", "never")
	renamed := owner
	renamed.Name = mustName(t, "another")
	wantKind(t, "one who has another name by now", w.users.Delete.Do(t.Context(), audit.Operator(), renamed, false),
		fault.NotFound)
	if err := w.users.Delete.Do(t.Context(), audit.Operator(), owner, false); err != nil {
		t.Errorf("got %v, want no error", err)
	}
	_, _, err := w.tokenStore.ByHash(t.Context(), secret.Hash())
	wantKind(t, "the token", err, fault.NotFound)
	if count, err := w.pasteStore.ActiveCount(t.Context()); err != nil || count != 0 {
		t.Errorf("got %d pastes, %v, want none", count, err)
	}
	wantKind(t, "a second time", w.users.Delete.Do(t.Context(), audit.Operator(), owner, false), fault.NotFound)

	// A request that had signed in before.
	_, err = w.users.ShowSelf.Do(t.Context(), viewer)
	wantKind(t, "the account", err, fault.Unauthenticated)
	_, err = w.pastes.CreateOwn.Do(t.Context(), by(viewer), snippet("x"))
	wantKind(t, "a new paste", err, fault.Unauthenticated)
	_, err = w.pastes.EditOwn.Do(t.Context(), by(viewer), string(id), paste.Changes{Title: new("x")})
	wantKind(t, "an edit", err, fault.NotFound)
	wantKind(t, "deleting", w.pastes.DeleteOwn.Do(t.Context(), by(viewer), string(id), ""), fault.NotFound)
	if ids, _, err := w.pasteStore.ActiveIDs(t.Context(), owner.ID, paste.Cursor{}, 1); err != nil || len(ids) != 0 {
		t.Errorf("got %v, %v, want nothing of a user who is gone", ids, err)
	}
}

func mustName(t *testing.T, s string) user.Name {
	t.Helper()
	name, err := user.ParseName(s)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// A use case adds nothing of its own to an outage.
func TestOutagesOfUsers(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.user(t, users.CreateInput{Name: "somebody"})
	gone, cancel := context.WithTimeout(t.Context(), -time.Second)
	defer cancel()
	for what, call := range map[string]func() error{
		"create": func() error {
			_, err := w.users.Create.Do(gone, audit.Operator(), users.CreateInput{Name: "a"})
			return err
		},
		"show":    func() error { _, err := w.users.Show.Do(gone, audit.Operator(), "somebody"); return err },
		"profile": func() error { _, err := w.users.ShowProfile.Do(gone, "somebody"); return err },
		"self": func() error {
			_, err := w.users.ShowSelf.Do(gone, token.Viewer{User: user.User{ID: "somebody"}})
			return err
		},
		"list": func() error { return w.users.List.Do(gone, audit.Operator(), func(user.User) error { return nil }) },
		"update": func() error {
			_, err := w.users.Update.Do(gone, audit.Operator(), "somebody", users.UpdateInput{})
			return err
		},
		"delete": func() error { return w.users.Delete.Do(gone, audit.Operator(), user.User{}, false) },
	} {
		wantKind(t, what, call(), fault.Unavailable)
	}
}
