package search_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gluepot/gluepot/application/search"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	domain "github.com/gluepot/gluepot/domain/search"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/tests/modules"
)

func TestSearch(t *testing.T) {
	t.Parallel()
	m := modules.New()
	m.CreateUser(t, users.CreateInput{Name: "epoxy", PublicProfile: true})
	owner, err := m.UserStore.ByName(t.Context(), modules.Name(t, "epoxy"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range search.Page + 1 {
		created := paste.Document{Paste: paste.Paste{
			ID: paste.ID(fmt.Sprintf("paste%03d", i)), Owner: owner.ID, CreatedAt: m.Now.Add(time.Duration(i) * time.Second),
		}}
		language := []string{"Go", "C++", "strange"}[min(2, i)]
		created.Visibility, created.Pasties = paste.Public, []paste.Pasty{{ID: "p", Language: language, Code: "needle"}}
		if err := m.PasteStore.CreateDocument(t.Context(), created); err != nil {
			t.Fatal(err)
		}
	}
	find := m.Search.Find
	first, err := find.Do(t.Context(), token.Viewer{}, "needle", domain.Cursor{})
	if err != nil || len(first.Pastes) != search.Page || !first.More {
		t.Fatalf("got %d pastes, more: %v, %v, want a page and more", len(first.Pastes), first.More, err)
	}
	rest, err := find.Do(t.Context(), token.Viewer{}, "needle", first.Pastes[search.Page-1].Cursor)
	if err != nil || len(rest.Pastes) != 1 || rest.Pastes[0].ID != "paste000" || rest.More {
		t.Errorf("got %v, %v, want the oldest and no more", rest, err)
	}
	for text, want := range map[string]int{
		"language:golang": 1, "language:cpp": 1, "language:Strange": search.Page - 1, "language:other": 0,
		"needle language:go": 1,
	} {
		if got, err := find.Do(t.Context(), token.Viewer{}, text, domain.Cursor{}); err != nil || len(got.Pastes) != want {
			t.Errorf("%s: got %d pastes, %v, want %d", text, len(got.Pastes), err, want)
		}
	}
	_, err = find.Do(t.Context(), token.Viewer{}, "ne", domain.Cursor{})
	modules.WantKind(t, "too short a word", err, fault.Invalid)
	_, err = find.Do(t.Context(), token.Viewer{}, "mine:", domain.Cursor{})
	modules.WantKind(t, "a visitor's own", err, fault.Unauthenticated)
	n, err := m.Search.Rebuild.Do(t.Context(), audit.Operator(), func(int) {})
	if err != nil || n != search.Page+1 {
		t.Errorf("got %d pastes, %v, want %d", n, err, search.Page+1)
	}
}
