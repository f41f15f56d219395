package paste

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/domain/fault"
)

// version is the part of a paste that its edits record.
type version struct {
	title   string
	pasties map[string]Pasty
}

func versionOf(c Content) version {
	v := version{c.Title, map[string]Pasty{}}
	for _, p := range c.Pasties {
		v.pasties[p.ID] = p
	}
	return v
}

// TestHistoryLeadsBack edits pastes at random and then walks back through every version that the history has.
func TestHistoryLeadsBack(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	accepted, refused, steps := 0, 0, 0
	for range 300 {
		rules := testRules().withLargeHistory()
		rules.Limits.Edits = 1 + random.IntN(60)
		d, err := rules.Create(Draft{Pasties: pasties(code("first\n"), code("x"))}, true, created)
		if err != nil {
			t.Fatal(err)
		}
		versions := map[int64]version{} // by the number of the edit that follows
		for range 1 + random.IntN(12) {
			changes := randomChanges(random, d)
			got, err := rules.Edit(d, changes, edited)
			if err != nil {
				refused++
				wantFault(t, "random changes", err, fault.Invalid, "")
				continue
			}
			accepted++
			checkEdit(t, rules, d, changes, got)
			if len(got.NewEdits) > 0 {
				versions[got.NewEdits[0].Number] = versionOf(d.Content)
			}
			d = got.Document
		}
		steps += walkBack(t, d.Content, versions)
	}
	if accepted < 300 || refused < 300 || steps < 300 {
		t.Errorf("got %d edits accepted, %d refused and %d undone, want at least 300 each", accepted, refused, steps)
	}
}

// walkBack checks every version that the edits lead back to, and returns how many.
func walkBack(t *testing.T, c Content, versions map[int64]version) (steps int) {
	t.Helper()
	for len(c.Edits) > 0 {
		number := c.Edits[len(c.Edits)-1].Number
		older, err := before(c)
		if err != nil {
			t.Fatalf("going back from %.300v: got %v, want no error", c, err)
		}
		if got := versionOf(older); !reflect.DeepEqual(got, versions[number]) {
			t.Fatalf("got %.300q before edit %d, want %.300q", got, number, versions[number])
		}
		wantRestored(t, c, older)
		c = older
		steps++
	}
	return steps
}

// before returns the content before its newest edit, or the content itself if it has none.
func before(c Content) (Content, error) {
	if len(c.Edits) == 0 {
		return c, nil
	}
	older := Original
	for _, e := range c.Edits {
		if e.Number != c.Edits[len(c.Edits)-1].Number {
			older = fmt.Sprint(e.Number)
		}
	}
	return c.AsOf(older)
}

// wantRestored checks that an edit turns the newer content into the older one. Restored pasties get new ids.
func wantRestored(t *testing.T, newer, older Content) {
	t.Helper()
	rules := testRules().withLargeHistory()
	rules.Limits.Edits = 100
	rules.Language = func(name, _, _ string) (string, bool) { return name, true }
	got, err := rules.Edit(Document{Content: newer}, newer.To(older), edited)
	if err != nil {
		t.Fatalf("restoring %.300v: got %v, want no error", older, err)
	}
	for i, p := range got.Pasties {
		if want := older.Pasties[i]; p.Title != want.Title || p.Language != want.Language || p.Code != want.Code {
			t.Fatalf("got %.300q, want %.300q", p, want)
		}
	}
	if got.Title != older.Title || len(got.Pasties) != len(older.Pasties) {
		t.Fatalf("got %.300v, want %.300v", got.Content, older)
	}
}

func TestAsOf(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x\n", 1<<20)
	c := Content{Title: "now", Pasties: []Pasty{{"one", "", "Go", long}}}
	c.Edits = []Edit{{Number: 3, Text: "first"}, {Number: 7, Text: "second"}}
	for edit, title := range map[string]string{Original: "first", "3": "second", "7": "now"} {
		if got, err := c.AsOf(edit); err != nil || got.Title != title {
			t.Errorf("%s: got %q, %v, want %q", edit, got.Title, err, title)
		}
	}
	for _, edit := range []string{"", "0", "8", "03", "+3", "-3", "ORIGINAL"} {
		if _, err := c.AsOf(edit); !errors.Is(err, errNoEdit) {
			t.Errorf("%q: got %v, want %v", edit, err, errNoEdit)
		}
	}
	if got, err := (Content{Title: "t"}).AsOf(Original); err != nil || got.Title != "t" {
		t.Errorf("without edits: got %q, %v, want t", got.Title, err)
	}
	c.Edits = append(c.Edits, Edit{Number: 8, Type: EditPastyCode, Metadata: []string{"one"},
		Text: DiffHeader + "@@ -1 +1 @@\n-a\n+b\n"})
	if _, err := c.AsOf("7"); !errors.Is(err, errUnknown) {
		t.Errorf("got %v, want %v", err, errUnknown)
	}
	c.Edits = nil
	for i := range 200 {
		c.Edits = append(c.Edits, Edit{Number: int64(i), Type: EditPastyCode, Metadata: []string{"one"}, Text: DiffHeader})
	}
	if _, err := c.AsOf("100"); err != nil {
		t.Error(err)
	}
	if _, err := c.AsOf(Original); !errors.Is(err, errTooFar) {
		t.Errorf("got %v, want %v", err, errTooFar)
	}
}

// TestAsOfImports reads imported histories that do not match the paste.
func TestAsOfImports(t *testing.T) {
	t.Parallel()
	content := func(e Edit) Content {
		return Content{Title: "title", Pasties: []Pasty{{"one", "", "Go", "x\n"}},
			Edits: []Edit{{Number: 7, Text: "first"}, e}}
	}
	for what, e := range map[string]Edit{
		"an unknown pasty":        {Type: EditPastyTitle, Metadata: []string{"two"}},
		"no pasty":                {Type: EditPastyCode},
		"an added pasty, missing": {Type: EditPastyAdded, Metadata: []string{"two", "", "Go"}},
		"half a removed pasty":    {Type: EditPastyRemoved, Metadata: []string{"two"}},
		"an unknown type":         {Type: 6, Metadata: []string{"one"}},
		"a diff of other code":    {Type: EditPastyCode, Metadata: []string{"one"}, Text: replaceDiff("x\n", "y\n")},
	} {
		e.Number = 8
		got, err := content(e).AsOf("7")
		if !errors.Is(err, errUnknown) || !reflect.DeepEqual(got, Content{}) {
			t.Errorf("%s: got %v, error %v, want %v", what, got, err, errUnknown)
		}
	}
	last := content(Edit{Number: 8, Type: EditPastyCode, Metadata: []string{"one"}, Text: replaceDiff("y", "x\n")})
	older, err := before(last)
	if err != nil || older.Pasties[0].Code != "y" || older.Title != "title" || len(older.Edits) != 1 {
		t.Errorf("got %v, %v, want one edit and the code before it", older, err)
	}
	if last.Pasties[0].Code != "x\n" || len(last.Edits) != 2 {
		t.Errorf("got %v, want the original unmodified", last)
	}
	if first, err := before(older); err != nil || first.Title != "first" || len(first.Edits) != 0 {
		t.Errorf("got %v, %v, want the first title and no edits", first, err)
	}
	if same, err := before(Content{Title: "t"}); err != nil || same.Title != "t" {
		t.Errorf("got %v, %v, want the same content", same, err)
	}
}

// TestVersions edits pastes at random, and compares each version with what AsOf returns.
func TestVersions(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8))
	compared := 0
	for range 100 {
		rules := testRules().withLargeHistory()
		rules.Limits.Edits = 1 + random.IntN(60)
		d, err := rules.Create(Draft{Pasties: pasties(code("first\n"), code("x"))}, true, created)
		if err != nil {
			t.Fatal(err)
		}
		for range 1 + random.IntN(12) {
			if got, err := rules.Edit(d, randomChanges(random, d), edited); err == nil {
				d = got.Document
			}
		}
		versions, err := d.Versions(free)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range versions {
			edit := Original
			if i > 0 {
				edit = fmt.Sprint(v.Edits[0].Number)
			}
			want, err := d.AsOf(edit)
			if err != nil {
				t.Fatal(err)
			}
			if got := versionOf(v.Content); !reflect.DeepEqual(got, versionOf(want)) {
				t.Fatalf("got %.300q at %s, want %.300q", got, edit, versionOf(want))
			}
			compared++
		}
	}
	if compared < 200 {
		t.Errorf("got %d versions, want at least 200", compared)
	}
}

// TestVersionsOfImports checks that versions begin after the newest entry that does not match the paste, and that a
// history that is too long is refused.
func TestVersionsOfImports(t *testing.T) {
	t.Parallel()
	c := Content{Title: "t", Edits: []Edit{
		{Number: 0, Type: EditTitle, Text: "r"}, {Number: 1, Type: EditPastyTitle, Metadata: []string{"gone"}},
		{Number: 2, Type: EditTitle, Text: "s"},
	}}
	versions, err := c.Versions(free)
	if err != nil || len(versions) != 2 || versions[0].Title != "s" || versions[1].Title != "t" ||
		versions[0].Edits != nil {
		t.Errorf("got %v, %v, want the two newest", versions, err)
	}
	large := Content{Pasties: []Pasty{{ID: "a", Code: strings.Repeat("x", maxVersions/4)}}}
	for i := range 4 {
		large.Edits = append(large.Edits, Edit{Number: int64(i), Type: EditPastyCode, Metadata: []string{"a"}})
	}
	if _, err := large.Versions(free); !errors.Is(err, errLongHistory) {
		t.Errorf("more than 32 MiB: got %v, want %v", err, errLongHistory)
	}
	var many Content
	for i := range 1000 {
		many.Pasties = append(many.Pasties, Pasty{ID: fmt.Sprint(i)})
		many.Edits = append(many.Edits, Edit{Number: int64(i), Type: EditPastyTitle, Metadata: []string{fmt.Sprint(i)}})
	}
	if _, err := many.Versions(free); !errors.Is(err, errLongHistory) {
		t.Errorf("a thousand pasties in a thousand versions: got %v, want %v", err, errLongHistory)
	}
	refusal := errors.New("no memory")
	refuse := func(bytes int64) error {
		if bytes > maxVersions/2 {
			return refusal
		}
		return nil
	}
	if _, err := large.Versions(refuse); !errors.Is(err, refusal) {
		t.Errorf("got %v, want the error of the claim", err)
	}
}

// free grants every claim.
func free(int64) error { return nil }
