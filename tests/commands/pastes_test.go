package commands

import (
	"strings"
	"testing"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
)

func TestPasteCreate(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.do("user create epoxy")
	for line, want := range map[string]string{
		"paste create --owner epoxy": "Created the paste RANDOMID.\n",
		"paste create --anonymous":   "Created the paste RANDOMID.\n",
		"paste create --owner epoxy --json": `{"id":"RANDOMID","ownerId":"RANDOMID","createdAt":"TIME","expiresAt":null,` +
			`"active":true}` + "\n",
		"paste create --anonymous --json": `{"id":"RANDOMID","ownerId":"","createdAt":"TIME","expiresAt":null,` +
			`"active":true}` + "\n",
		"paste create --anonymous --expires-in 1h --json": `{"id":"RANDOMID","ownerId":"","createdAt":"TIME","expiresAt":"TIME",` +
			`"active":true}` + "\n",
	} {
		wantLike(t, line, i.do(line), want)
	}
	wantStats(i, `{"users":1,"tokens":0,"activePastes":5,"expiredUnsweptPastes":0,"waitingStars":0}`)
}

// TestPasteList is of one user's, newest first, those that have expired included.
func TestPasteList(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.do("user create epoxy")
	i.do("paste create --anonymous")
	first := i.field("paste create --owner epoxy --expires-in 1h --json", "id")
	second := i.field("paste create --owner epoxy --json", "id")
	i.expire(first)
	text, lines := i.do("paste list epoxy"), i.do("paste list epoxy --json")
	wantLike(t, "paste list", text, "ID        CREATED              EXPIRES              STATE\n"+
		"RANDOMID  YYYY-MM-DD HH:MM:SS  never                active\n"+
		"RANDOMID  YYYY-MM-DD HH:MM:SS  YYYY-MM-DD HH:MM:SS  expired\n")
	wantLike(t, "paste list --json", lines, `{"id":"RANDOMID","ownerId":"RANDOMID","createdAt":"TIME","expiresAt":null,"active":true}
{"id":"RANDOMID","ownerId":"RANDOMID","createdAt":"TIME","expiresAt":"TIME","active":false}
`)
	for _, got := range []string{text, lines} {
		if !strings.Contains(got, second) || strings.Index(got, second) > strings.Index(got, first) {
			t.Errorf("got %s, want %s before %s", got, second, first)
		}
	}
	wantStats(i, `{"users":1,"tokens":0,"activePastes":2,"expiredUnsweptPastes":1,"waitingStars":0}`)
}

// expire makes a paste one that expired long ago.
func (i installation) expire(id string) {
	i.Helper()
	db := database.SQL(i.T, gormstore.Config{URL: gormstore.URL(i.url)})
	if _, err := db.Exec("UPDATE pastes SET expires_at = created_at WHERE id = ?", id); err != nil {
		i.Fatal(err)
	}
}

func TestPasteStar(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.do("user create epoxy")
	for _, step := range []struct{ line, want string }{
		{"paste star epoxy first", "Starred first for epoxy.\n"},
		{"paste star epoxy second --json", `{"starred":"second","user":"epoxy"}` + "\n"},
		{"paste unstar epoxy first", "Took the star for first from epoxy.\n"},
		{"paste unstar epoxy second --json", `{"unstarred":"second","user":"epoxy"}` + "\n"},
	} {
		if got := i.do(step.line); got != step.want {
			t.Errorf("%s: got %q, want %q", step.line, got, step.want)
		}
	}
	i.wantRefused("paste unstar epoxy first", "The user has no star for a paste with that id.")
}

// TestPasteDelete leaves a star that waits for the paste to come back.
func TestPasteDelete(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.do("user create epoxy")
	first, second := i.field("paste create --owner epoxy --json", "id"), i.field("paste create --owner epoxy --json", "id")
	i.do("paste star epoxy " + first)
	if got, want := i.do("paste delete "+first), "Deleted the paste "+first+".\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	wantStats(i, `{"users":1,"tokens":0,"activePastes":1,"expiredUnsweptPastes":0,"waitingStars":1}`)
	if got, want := i.do("paste delete "+second+" --json"), `{"deleted":"`+second+`"}`+"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	i.wantRefused("paste delete "+first, "There is no paste with that id.")
}
