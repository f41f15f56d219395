package users_test

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
	"github.com/gluepot/gluepot/tests/modules"
)

func TestPrivateProfilesLookLikeNobody(t *testing.T) {
	t.Parallel()
	m := modules.New()
	m.CreateUser(t, users.CreateInput{Name: "Open", PublicProfile: true})
	m.CreateUser(t, users.CreateInput{Name: "Shut"})
	show, exists := m.Users.ShowProfile, m.Users.CheckExists
	if profile, err := show.Do(t.Context(), "oPEN"); err != nil || profile.Name.String() != "Open" ||
		profile.DefaultLanguage != "Autodetect" {
		t.Errorf("got %+v, error %v, want Open with the default language", profile, err)
	}
	_, private := show.Do(t.Context(), "shut")
	_, unknown := show.Do(t.Context(), "nobody")
	_, impossible := show.Do(t.Context(), "no body")
	if !errors.Is(private, unknown) || !errors.Is(impossible, unknown) {
		t.Errorf("got %v, %v and %v, want the same of all three", private, unknown, impossible)
	}
	modules.WantKind(t, "unknown", unknown, fault.NotFound)
	if err := exists.Do(t.Context(), "SHUT"); err != nil {
		t.Error(err)
	}
	modules.WantKind(t, "self", exists.Do(t.Context(), "Self"), fault.NotFound)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	modules.WantKind(t, "an outage", exists.Do(ctx, "open"), fault.Unavailable)
}

func TestCreatingUsersFollowsTheRules(t *testing.T) {
	t.Parallel()
	m := modules.New()
	create := m.Users.Create
	created, err := create.Do(t.Context(), audit.Operator(),
		users.CreateInput{Name: "Some.Body", Identities: map[string]string{"github": "1"}})
	if err != nil || created.Name.String() != "Some.Body" || created.DefaultLanguage != user.DefaultLanguage ||
		created.CreatedAt != m.Now || created.PublicProfile {
		t.Errorf("got %+v, %v, want a private profile of now with the default language", created, err)
	}
	for what, input := range map[string]users.CreateInput{
		"an impossible name":       {Name: "-"},
		"a reserved name":          {Name: "SELF"},
		"a line end in the avatar": {Name: "a", AvatarURL: "\n"},
		"a script as avatar":       {Name: "a", AvatarURL: "javascript:alert(1)"},
		"a long language":          {Name: "a", DefaultLanguage: strings.Repeat("x", 65)},
		"negative months":          {Name: "a", SupporterMonths: -1},
		"a service without an id":  {Name: "a", Identities: map[string]string{"github": ""}},
	} {
		_, err := create.Do(t.Context(), audit.Operator(), input)
		modules.WantKind(t, what, err, fault.Invalid)
	}
	_, err = create.Do(t.Context(), audit.Operator(), users.CreateInput{Name: "SOME.BODY"})
	modules.WantKind(t, "a name that is taken", err, fault.Conflict)
	if got, want := fault.MessageOf(err), "The username is taken. Choose another."; got != want {
		t.Errorf("got the message %q, want %q", got, want)
	}
}

func TestShowingAndListingUsers(t *testing.T) {
	t.Parallel()
	m := modules.New()
	show, list := m.Users.Show, m.Users.List
	for _, name := range []string{"b", "A", "c"} {
		m.CreateUser(t, users.CreateInput{Name: name, Identities: map[string]string{"github": name}})
	}
	account, err := show.Do(t.Context(), audit.Operator(), "B")
	if err != nil || account.Name.String() != "b" || !maps.Equal(account.Identities, map[string]string{"github": "b"}) {
		t.Errorf("got %+v, %v, want the private user b with a service", account, err)
	}
	_, err = show.Do(t.Context(), audit.Operator(), "nobody")
	modules.WantKind(t, "nobody", err, fault.NotFound)
	_, err = show.Do(t.Context(), audit.Operator(), "no body")
	modules.WantKind(t, "an impossible name", err, fault.Invalid)
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
		m.CreateUser(t, users.CreateInput{Name: fmt.Sprintf("u%04d", i)})
	}
	names = nil
	err = list.Do(t.Context(), audit.Operator(), func(u user.User) error {
		names = append(names, u.Name.Folded())
		_, err := m.UserStore.ByName(t.Context(), u.Name) // the callback may use the store
		return err
	})
	if err != nil || len(names) != more+3 || !slices.IsSorted(names) {
		t.Errorf("got %d names, error %v, want %d in their order", len(names), err, more+3)
	}
	enough := errors.New("enough")
	if err := list.Do(t.Context(), audit.Operator(), func(user.User) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("got %v, want the callback's error", err)
	}
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	m := modules.New()
	m.CreateUser(t, users.CreateInput{
		Name: "Somebody", AvatarURL: "https://example.com/before", DefaultLanguage: "Go", PublicProfile: true,
		Identities: map[string]string{"github": "1", "gitlab": "2"},
	})
	update, show := m.Users.Update, m.Users.Show
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
		t.Errorf("got %+v, %v, want %+v", got, err, want)
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
		modules.WantKind(t, what, err, fault.Invalid)
	}
	if got, err := show.Do(t.Context(), audit.Operator(), "somebody"); err != nil || got.User != want.User ||
		!maps.Equal(got.Identities, want.Identities) {
		t.Errorf("after refused changes: got %+v, %v, want %+v", got, err, want)
	}
	for name, kind := range map[string]fault.Kind{"nobody": fault.NotFound, "no body": fault.Invalid} {
		_, err := update.Do(t.Context(), audit.Operator(), name, change)
		modules.WantKind(t, "update "+name, err, kind)
		_, err = show.Do(t.Context(), audit.Operator(), name)
		modules.WantKind(t, "show "+name, err, kind)
	}
}

func TestDeletingAUserDeletesEverything(t *testing.T) {
	t.Parallel()
	m := modules.New()
	m.CreateUser(t, users.CreateInput{Name: "owner"})
	owner, _ := m.UserStore.ByName(t.Context(), modules.Name(t, "owner"))
	secret, viewer := m.IssueToken(t, "owner"), m.SignIn(t, "owner")
	id := m.CreatePaste(t, "owner", "never")
	renamed := owner
	renamed.Name = modules.Name(t, "another")
	modules.WantKind(t, "a user who was renamed since", m.Users.Delete.Do(t.Context(), audit.Operator(), renamed,
		false),
		fault.NotFound)
	if err := m.Users.Delete.Do(t.Context(), audit.Operator(), owner, false); err != nil {
		t.Errorf("got %v, want no error", err)
	}
	_, _, err := m.TokenStore.ByHash(t.Context(), secret.Hash())
	modules.WantKind(t, "the token", err, fault.NotFound)
	if count, err := m.PasteStore.ActiveCount(t.Context()); err != nil || count != 0 {
		t.Errorf("got %d pastes, %v, want none", count, err)
	}
	modules.WantKind(t, "a second time", m.Users.Delete.Do(t.Context(), audit.Operator(), owner, false), fault.NotFound)

	// A request that signed in before the deletion.
	_, err = m.Users.ShowSelf.Do(t.Context(), viewer)
	modules.WantKind(t, "the account", err, fault.Unauthenticated)
	_, err = m.Pastes.CreateOwn.Do(t.Context(), modules.By(viewer), modules.Draft("x"))
	modules.WantKind(t, "a new paste", err, fault.Unauthenticated)
	_, err = m.Pastes.EditOwn.Do(t.Context(), modules.By(viewer), string(id), paste.Changes{Title: new("x")})
	modules.WantKind(t, "an edit", err, fault.NotFound)
	modules.WantKind(t, "deleting", m.Pastes.DeleteOwn.Do(t.Context(), modules.By(viewer), string(id), ""), fault.NotFound)
	if ids, _, err := m.PasteStore.ActiveIDs(t.Context(), owner.ID, paste.Cursor{}, 1); err != nil || len(ids) != 0 {
		t.Errorf("got %v, %v, want no pastes of the deleted user", ids, err)
	}
}

// TestOutagesOfUsers checks that use cases report an outage as it is.
func TestOutagesOfUsers(t *testing.T) {
	t.Parallel()
	m := modules.New()
	m.CreateUser(t, users.CreateInput{Name: "somebody"})
	ctx, cancel := context.WithTimeout(t.Context(), -time.Second)
	defer cancel()
	for what, call := range map[string]func() error{
		"create": func() error {
			_, err := m.Users.Create.Do(ctx, audit.Operator(), users.CreateInput{Name: "a"})
			return err
		},
		"show":    func() error { _, err := m.Users.Show.Do(ctx, audit.Operator(), "somebody"); return err },
		"profile": func() error { _, err := m.Users.ShowProfile.Do(ctx, "somebody"); return err },
		"self": func() error {
			_, err := m.Users.ShowSelf.Do(ctx, token.Viewer{User: user.User{ID: "somebody"}})
			return err
		},
		"list": func() error { return m.Users.List.Do(ctx, audit.Operator(), func(user.User) error { return nil }) },
		"update": func() error {
			_, err := m.Users.Update.Do(ctx, audit.Operator(), "somebody", users.UpdateInput{})
			return err
		},
		"delete": func() error { return m.Users.Delete.Do(ctx, audit.Operator(), user.User{}, false) },
	} {
		modules.WantKind(t, what, call(), fault.Unavailable)
	}
}

func TestOwnersOfPastes(t *testing.T) {
	t.Parallel()
	m := modules.New()
	m.CreateUser(t, users.CreateInput{Name: "Epoxy", PublicProfile: true})
	m.CreateUser(t, users.CreateInput{Name: "mortar"})
	show := m.Users.ShowProfile.ByID
	for name, public := range map[string]bool{"epoxy": true, "mortar": false} {
		want, err := m.UserStore.ByName(t.Context(), modules.Name(t, name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := show(t.Context(), want.ID)
		if public && (err != nil || got != want) {
			t.Errorf("%s: got %v, %v, want %v", name, got, err, want)
		} else if !public {
			modules.WantKind(t, name, err, fault.NotFound)
		}
	}
	_, err := show(t.Context(), "unknown")
	modules.WantKind(t, "an unknown id", err, fault.NotFound)
}
