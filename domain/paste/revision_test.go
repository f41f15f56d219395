package paste

import (
	"fmt"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
)

func TestRevision(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for i, c := range []Content{
		{},
		{Title: "a"},
		{Visibility: Public},
		{Visibility: Private},
		{Tags: []string{"a"}},
		{Tags: []string{"a", "b"}},
		{Tags: []string{"ab"}},
		{Pasties: []Pasty{{ID: "a"}}},
		{Pasties: []Pasty{{Title: "a"}}},
		{Pasties: []Pasty{{Language: "a"}}},
		{Pasties: []Pasty{{Code: "a"}}},
		{Pasties: []Pasty{{Code: "a"}, {Code: "b"}}},
		{Pasties: []Pasty{{Code: "b"}, {Code: "a"}}},
		{Pasties: []Pasty{{Title: "ab", Code: "c"}}},
		{Pasties: []Pasty{{Title: "a", Code: "bc"}}},
	} {
		revision := c.Revision()
		if other, ok := seen[revision]; ok {
			t.Errorf("got %s for the contents %d and %d, want one for each", revision, other, i)
		}
		seen[revision] = i
		c.Edits, c.Lifetime = []Edit{{ID: "a"}}, "1h"
		if got := c.Revision(); got != revision {
			t.Errorf("content %d: got %s with a history, want %s as without", i, got, revision)
		}
	}
}

// TestEditOfARevision edits with changes that are based on the current revision, and on another.
func TestEditOfARevision(t *testing.T) {
	t.Parallel()
	rules := testRules()
	document := Document{Content: Content{Title: "old", Pasties: []Pasty{{ID: "a", Language: "Go", Code: "old"}}}}
	old, title, missing := "old", "new", []PastyChanges{{ID: "gone"}}
	for i, c := range []struct {
		changes Changes
		want    string
	}{
		{Changes{Title: &title, Base: document.Revision()}, "new "},
		{Changes{Title: &title, Base: "another"}, " conflict"},
		{Changes{Title: &old, Base: "another"}, "old "}, // sent twice, for example: nothing is lost
		{Changes{Title: &title}, "new "},
		{Changes{Pasties: missing, Base: document.Revision()}, " invalid"},
		{Changes{Pasties: missing, Base: "another"}, " conflict"},
	} {
		got, err := rules.Edit(document, c.changes, time.Unix(1, 0))
		if text := fmt.Sprint(got.Title, " ", fault.KindOf(err)); text != c.want {
			t.Errorf("changes %d: got %s, want %s", i, text, c.want)
		}
	}
}
