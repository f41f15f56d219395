package application

import (
	"fmt"
	"testing"
	"time"

	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

func TestPublicPastesOfWhoHasAProfile(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.user(t, users.CreateInput{Name: "Epoxy", PublicProfile: true})
	w.user(t, users.CreateInput{Name: "mortar"})
	for _, owner := range []string{"epoxy", "mortar"} {
		found, err := w.userStore.ByName(t.Context(), mustName(t, owner))
		if err != nil {
			t.Fatal(err)
		}
		for i := range pastes.PageSize + 1 {
			made := paste.Document{Paste: paste.Paste{
				ID: paste.ID(fmt.Sprintf("%s%03d", owner, i)), Owner: found.ID,
				CreatedAt: w.now.Add(time.Duration(i) * time.Second),
			}}
			made.Visibility, made.Pasties = paste.Public, []paste.Pasty{{ID: "p"}}
			if err := w.pasteStore.CreateDocument(t.Context(), made); err != nil {
				t.Fatal(err)
			}
		}
	}
	list := w.pastes.Browse.Public
	first, err := list(t.Context(), "EPOXY", paste.Selection{})
	if err != nil || first.Owner.Name.String() != "Epoxy" || len(first.Pastes) != pastes.PageSize || !first.More {
		t.Fatalf("got %d pastes of %v, more: %v, %v, want the first page and more", len(first.Pastes), first.Owner.Name,
			first.More, err)
	}
	rest, err := list(t.Context(), "epoxy", paste.Selection{After: first.Pastes[len(first.Pastes)-1].Cursor()})
	if err != nil || len(rest.Pastes) != 1 || rest.Pastes[0].ID != "epoxy000" || rest.More {
		t.Errorf("got %v, more: %v, %v, want the oldest and no more", rest.Pastes, rest.More, err)
	}
	for _, name := range []string{"mortar", "nobody", "", "a b"} {
		_, err := list(t.Context(), name, paste.Selection{})
		wantKind(t, name, err, fault.NotFound)
	}
}

func TestOwnersOfPastes(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.user(t, users.CreateInput{Name: "Epoxy", PublicProfile: true})
	w.user(t, users.CreateInput{Name: "mortar"})
	show := w.users.ShowProfile.ByID
	for name, shown := range map[string]bool{"epoxy": true, "mortar": false} {
		known, err := w.userStore.ByName(t.Context(), mustName(t, name))
		if err != nil {
			t.Fatal(err)
		}
		found, err := show(t.Context(), known.ID)
		if shown && (err != nil || found != known) {
			t.Errorf("%s: got %v, %v, want the user", name, found, err)
		} else if !shown {
			wantKind(t, name, err, fault.NotFound)
		}
	}
	_, err := show(t.Context(), "unknown")
	wantKind(t, "an unknown id", err, fault.NotFound)
}
