package application

import (
	"maps"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/fault"
)

// TestUpdate changes what is named and nothing else, and nothing at all when a rule is broken.
func TestUpdate(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.user(t, users.New{Name: "Somebody", AvatarURL: "before", DefaultLanguage: "Go", PublicProfile: true, Services: map[string]string{"github": "1", "gitlab": "2"}})
	update, show := users.NewUpdate(w.users), users.NewShow(w.users)
	before, err := show.Do(t.Context(), "somebody")
	if err != nil {
		t.Fatal(err)
	}
	avatar, private, months := "after", false, int32(3)
	want := before
	want.AvatarURL, want.PublicProfile, want.SupporterMonths = avatar, private, months
	want.Services = map[string]string{"gitlab": "2", "codeberg": "3"}
	change := users.Change{AvatarURL: &avatar, PublicProfile: &private, SupporterMonths: &months, Services: map[string]string{"github": "", "codeberg": "3", "never": ""}}
	got, err := update.Do(t.Context(), "SOMEBODY", change)
	if err != nil || got.User != want.User || !maps.Equal(got.Services, want.Services) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}

	unprintable, long, negative := "\n", strings.Repeat("x", 65), int32(-1)
	for what, wrong := range map[string]users.Change{
		"avatar":   {AvatarURL: &unprintable, Contributor: new(bool)},
		"language": {DefaultLanguage: &long},
		"months":   {AvatarURL: &avatar, SupporterMonths: &negative},
		"service":  {Services: map[string]string{long: "1"}},
	} {
		_, err := update.Do(t.Context(), "somebody", wrong)
		wantKind(t, what, err, fault.Invalid)
	}
	if got, err := show.Do(t.Context(), "somebody"); err != nil || got.User != want.User || !maps.Equal(got.Services, want.Services) {
		t.Errorf("after changes that were refused: %+v, %v, want %+v", got, err, want)
	}
	for name, kind := range map[string]fault.Kind{"nobody": fault.NotFound, "no body": fault.Invalid} {
		_, err := update.Do(t.Context(), name, change)
		wantKind(t, "update "+name, err, kind)
		_, err = show.Do(t.Context(), name)
		wantKind(t, "show "+name, err, kind)
		_, err = users.NewDelete(w.users).Do(t.Context(), name)
		wantKind(t, "delete "+name, err, kind)
	}
	if id, err := users.NewDelete(w.users).Do(t.Context(), "SOMEbody"); id != before.ID || err != nil {
		t.Errorf("deleted %q, %v, want %q", id, err, before.ID)
	}
}
