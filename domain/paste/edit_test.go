package paste

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
)

var edited = created.Add(time.Hour)

// importedPaste returns a paste with an edit, and with values that no rule allows, as imports can have.
func importedPaste() Document {
	return Document{
		Paste: Paste{ID: "paste", Owner: "owner", CreatedAt: created},
		Content: Content{
			Title: "title", Visibility: Public, Tags: []string{"a", "b"}, Lifetime: Never,
			Pasties: []Pasty{
				{"one", "main.go", "Go", "package main\n"},
				{"two", strings.Repeat("x", 5000), "Klingon", "a\r\nb"},
			},
			Edits: []Edit{{ID: "early", Number: 4, Type: EditTitle, Text: "before", At: created}},
		},
		Stars: 3,
	}
}

func reference(id string) PastyChanges { return PastyChanges{ID: id} }

// summaries describes each edit in a line.
func summaries(edits []Edit) (all []string) {
	for _, e := range edits {
		all = append(all, fmt.Sprintf("%d %q %.40q", e.Type, e.Metadata, e.Text))
	}
	return all
}

func TestEdit(t *testing.T) {
	t.Parallel()
	x5000 := strings.Repeat("x", 5000)
	for what, c := range map[string]struct {
		changes Changes
		want    func(*Document) // makes the expected changes
		edits   []string
	}{
		"title": {
			Changes{Title: new("new")},
			func(d *Document) { d.Title = "new" },
			[]string{`0 [] "title"`},
		},
		"an empty title": {
			Changes{Title: new("")},
			func(d *Document) { d.Title = "" },
			[]string{`0 [] "title"`},
		},
		"a pasty's title": {
			Changes{Pasties: []PastyChanges{{ID: "one", Title: new("x.py")}, reference("two")}},
			func(d *Document) { d.Pasties[0].Title = "x.py" },
			[]string{`1 ["one"] "main.go"`},
		},
		"a pasty's language": {
			Changes{Pasties: []PastyChanges{{ID: "one", Language: new("PY")}, reference("two")}},
			func(d *Document) { d.Pasties[0].Language = "Python" },
			[]string{`2 ["one"] "Go"`},
		},
		"a language to detect from the new title and code": {
			Changes{Pasties: []PastyChanges{{ID: "one", Title: new(""), Language: new("Autodetect"), Code: new("#!python")},
				reference("two")}},
			func(d *Document) { d.Pasties[0] = Pasty{"one", "", "Python", "#!python"} },
			[]string{`1 ["one"] "main.go"`, `2 ["one"] "Go"`, `3 ["one"] "--- \n+++ \n@@ -1,1 +1,1 @@\n-package main\n"`},
		},
		"the same language by another name": {
			Changes{Pasties: []PastyChanges{{ID: "one", Language: new("golang")}, reference("two")}}, nil, nil,
		},
		"the same language, detected": {
			Changes{Pasties: []PastyChanges{{ID: "one", Language: new("Autodetect")}, reference("two")}}, nil, nil,
		},
		"code": {
			Changes{Pasties: []PastyChanges{{ID: "one", Code: new("x\r\ny")}, reference("two")}},
			func(d *Document) { d.Pasties[0].Code = "x\r\ny" },
			[]string{`3 ["one"] "--- \n+++ \n@@ -1,1 +1,2 @@\n-package main\n"`},
		},
		"code with Unix lines": {
			Changes{Pasties: []PastyChanges{{ID: "one", Code: new("x\r\ny")}, reference("two")}, UnixLines: true},
			func(d *Document) { d.Pasties[0].Code = "x\ny" },
			[]string{`3 ["one"] "--- \n+++ \n@@ -1,1 +1,2 @@\n-package main\n"`},
		},
		"empty code": {
			Changes{Pasties: []PastyChanges{{ID: "one", Code: new("")}, reference("two")}},
			func(d *Document) { d.Pasties[0].Code = "" },
			[]string{`3 ["one"] "--- \n+++ \n@@ -1,1 +0,0 @@\n-package main\n"`},
		},
		"the same code with CRLF, with Unix lines": {
			Changes{UnixLines: true, Pasties: []PastyChanges{{ID: "one", Code: new("package main\r\n")}, reference("two")}},
			nil, nil,
		},
		"stored CRLF, with Unix lines": {
			Changes{Pasties: []PastyChanges{reference("one"), {ID: "two", Code: new("a\r\nb")}}, UnixLines: true}, nil, nil,
		},
		"one pasty more": {
			Changes{UnixLines: true, Pasties: []PastyChanges{
				{Title: new("new.go"), Code: new("a\r\nb")}, reference("one"), reference("two"),
			}},
			func(d *Document) { d.Pasties = slices.Insert(d.Pasties, 0, Pasty{"id1", "new.go", "Go", "a\nb"}) },
			[]string{`4 ["id1" "new.go" "Go"] "a\nb"`},
		},
		"one pasty less": {
			Changes{Pasties: []PastyChanges{reference("two")}},
			func(d *Document) { d.Pasties = d.Pasties[1:] },
			[]string{`5 ["one" "main.go" "Go"] "package main\n"`},
		},
		"another order": {
			Changes{Pasties: []PastyChanges{reference("two"), reference("one")}},
			func(d *Document) { slices.Reverse(d.Pasties) },
			nil,
		},
		"everything": {
			Changes{Title: new("new"), Pasties: []PastyChanges{
				{Code: new("first")},
				{ID: "two", Title: new("t"), Language: new("go"), Code: new("c")},
				{Code: new("second"), Language: new("py")},
			}},
			func(d *Document) {
				d.Title = "new"
				d.Pasties = []Pasty{{"id1", "", "Plain Text", "first"}, {"two", "t", "Go", "c"}, {"id2", "", "Python", "second"}}
			},
			[]string{
				`0 [] "title"`, fmt.Sprintf(`1 ["two"] %.40q`, x5000), `2 ["two"] "Klingon"`,
				`3 ["two"] "--- \n+++ \n@@ -1,2 +1,1 @@\n-a\r\n-b\n\\ No ne"`,
				`5 ["one" "main.go" "Go"] "package main\n"`, `4 ["id1" "" "Plain Text"] "first"`, `4 ["id2" "" "Python"] "second"`,
			},
		},
		"tags": {Changes{Tags: []string{"c,b", "b"}}, func(d *Document) {
			d.Tags = []string{"b", "c"}
		}, nil},
		"no tags":              {Changes{Tags: []string{}}, func(d *Document) { d.Tags = nil }, nil},
		"no tags, in a string": {Changes{Tags: []string{""}}, func(d *Document) { d.Tags = nil }, nil},
		"private": {Changes{Private: new(true), Public: new(false)}, func(d *Document) {
			d.Visibility = Private
		}, nil},
		"unlisted":                  {Changes{Public: new(false)}, func(d *Document) { d.Visibility = Unlisted }, nil},
		"nothing":                   {Changes{}, nil, nil},
		"no pasties":                {Changes{Pasties: []PastyChanges{}}, nil, nil},
		"the same tags":             {Changes{Tags: []string{" b", "a", "a"}}, nil, nil},
		"the same visibility":       {Changes{Private: new(false), Public: new(true)}, nil, nil},
		"pasties without changes":   {Changes{Pasties: []PastyChanges{reference("one"), reference("two")}}, nil, nil},
		"the whole paste":           {fullChanges(importedPaste()), nil, nil},
		"a string of the same tags": {Changes{Tags: []string{"a,b"}}, nil, nil},
	} {
		before := importedPaste()
		got, err := testRules().withLargeHistory().Edit(before, c.changes, edited)
		if err != nil {
			t.Errorf("%s: got %v, want no error", what, err)
			continue
		}
		if !reflect.DeepEqual(before, importedPaste()) {
			t.Errorf("%s: got %+v, want the original unmodified", what, before)
		}
		want := importedPaste()
		if c.want != nil {
			c.want(&want)
		}
		if summary := summaries(got.NewEdits); !slices.Equal(summary, c.edits) {
			t.Errorf("%s: got the edits %q, want %q", what, summary, c.edits)
		}
		ids := map[string]bool{"early": true}
		for _, e := range got.NewEdits {
			if e.Number != 5 || e.At != edited.Truncate(time.Second) || ids[e.ID] || e.ID == "" {
				t.Errorf("%s: got %+v, want number 5, a new id and the time of the edit", what, e)
			}
			ids[e.ID] = true
		}
		want.Edits = append(want.Edits, got.NewEdits...)
		if !reflect.DeepEqual(got.Document, want) {
			t.Errorf("%s: got %.300v, want %.300v", what, got.Document, want)
		}
		if got.Changed != (c.want != nil) || got.Dropped != 0 {
			t.Errorf("%s: got changed %v and %d dropped, want changed %v and 0", what, got.Changed, got.Dropped, c.want != nil)
		}
	}
}

func (r Rules) withLargeHistory() Rules {
	r.Limits.HistoryBytes = 100_000
	return r
}

// fullChanges returns the changes of a client that sends the whole paste back as it is.
func fullChanges(d Document) Changes {
	c := Changes{Title: &d.Title, Private: new(d.Visibility == Private), Public: new(d.Visibility == Public), Tags: d.Tags}
	for _, p := range d.Pasties {
		c.Pasties = append(c.Pasties, PastyChanges{ID: p.ID, Title: &p.Title, Language: &p.Language, Code: &p.Code})
	}
	return c
}

// TestEditOfOddImports edits an import whose values break every rule. Values that an edit does not change may stay.
func TestEditOfOddImports(t *testing.T) {
	t.Parallel()
	odd := importedPaste()
	odd.Title, odd.Tags = strings.Repeat("x", 2000), []string{strings.Repeat("y", 200), "a,b", " c", ""}
	odd.Pasties = append(odd.Pasties, Pasty{"one", "", "Autodetect", "\r\n"}, Pasty{"four", "", "unknown", ""})
	odd.Pasties = append(odd.Pasties, Pasty{"five", "", "", strings.Repeat("z", 20_000)})
	got, err := testRules().withLargeHistory().Edit(odd, fullChanges(odd), edited)
	if err != nil || got.Changed || !reflect.DeepEqual(got.Document, odd) {
		t.Errorf("got %.300v, %v, want nothing changed", got, err)
	}
	changes := fullChanges(odd)
	changes.Pasties[1].Title, changes.Pasties[2].Title, changes.Public = new(""), new("one.go"), new(false)
	odd.Pasties = slices.Clone(odd.Pasties)
	longTitle := odd.Pasties[1].Title
	odd.Pasties[1].Title, odd.Pasties[2].Title, odd.Visibility = "", "one.go", Unlisted
	got, err = testRules().withLargeHistory().Edit(got.Document, changes, edited)
	edits := []string{fmt.Sprintf(`1 ["two"] %.40q`, longTitle), `1 ["one"] ""`}
	if odd.Edits = got.Edits; err != nil || !reflect.DeepEqual(got.Document, odd) ||
		!slices.Equal(summaries(got.NewEdits), edits) {
		t.Errorf("got %.300v, %v, want %.300v", got, err, odd)
	}
	// An edit may remove something even if the rest still exceeds the limits.
	empty := PastyChanges{Code: new("")}
	got, err = testRules().Edit(odd, Changes{Pasties: []PastyChanges{
		reference("five"), reference("two"), reference("four"), empty, empty,
	}}, edited)
	if err != nil || len(got.Pasties) != 5 {
		t.Errorf("got %d pasties, %v, want 5", len(got.Pasties), err)
	}
	_, err = testRules().Edit(odd, Changes{Pasties: append(fullChanges(odd).Pasties, PastyChanges{Code: new("")})}, edited)
	wantFault(t, "one more than too many", err, fault.Invalid, "pasties")
	changes = fullChanges(odd)
	changes.Pasties[4].Code = new(strings.Repeat("z", 20_001))
	_, err = testRules().Edit(odd, changes, edited)
	wantFault(t, "one byte more than too much", err, fault.Invalid, "pasties")
}

func TestEditRefuses(t *testing.T) {
	t.Parallel()
	with := func(second PastyChanges) Changes { return Changes{Pasties: []PastyChanges{reference("two"), second}} }
	for what, c := range map[string]struct {
		changes  Changes
		mentions string
	}{
		"an unknown pasty": {with(reference("three")), "pasties[1]._id"},
		"another case":     {with(reference("ONE")), "pasties[1]._id"},
		"a pasty twice":    {with(reference("two")), "pasties[1]._id"},
		"a long title":     {Changes{Title: new(strings.Repeat("x", 1025))}, "title"},
		"a broken title":   {Changes{Title: new("\xff")}, "title"},
		"a pasty's long title": {with(PastyChanges{ID: "one", Title: new(strings.Repeat("x", 4097))}),
			"pasties[1].title"},
		"another pasty's long title": {with(PastyChanges{ID: "one", Title: new(strings.Repeat("x", 5000))}),
			"pasties[1].title"},
		"an unknown language":      {with(PastyChanges{ID: "one", Language: new("Klingon")}), "pasties[1].language"},
		"an empty language":        {with(PastyChanges{ID: "one", Language: new("")}), "pasties[1].language"},
		"broken code":              {with(PastyChanges{ID: "one", Code: new("\xff")}), "pasties[1].code"},
		"a new pasty without code": {with(PastyChanges{Title: new("x")}), "pasties[1].code"},
		"a new pasty's language":   {with(PastyChanges{Code: new("x"), Language: new("")}), "pasties[1].language"},
		"a new pasty's title": {with(PastyChanges{Code: new("x"), Title: new(strings.Repeat("x", 4097))}),
			"pasties[1].title"},
		"too many pasties":     {Changes{Pasties: slices.Repeat([]PastyChanges{{Code: new("")}}, 5)}, "at most 4"},
		"too much code":        {with(PastyChanges{ID: "one", Code: new(strings.Repeat("x", 5000))}), "10000 bytes"},
		"private while public": {Changes{Private: new(true)}, "isPrivate, isPublic"},
		"private and public":   {Changes{Private: new(true), Public: new(true)}, "isPrivate, isPublic"},
		"too many tags":        {Changes{Tags: []string{numberedTags(101)}}, "tags"},
		"a long tag":           {Changes{Tags: []string{strings.Repeat("x", 101)}}, "tags"},
	} {
		c.changes.Title = cmp.Or(c.changes.Title, new("changed before the error"))
		before := importedPaste()
		got, err := testRules().Edit(before, c.changes, edited)
		wantFault(t, what, err, fault.Invalid, c.mentions)
		if !reflect.DeepEqual(before, importedPaste()) || got.Changed {
			t.Errorf("%s: got %+v and %+v, want nothing changed", what, got, before)
		}
	}
}

// TestEditNumbers checks that each request that records something gets the next number, from 0.
func TestEditNumbers(t *testing.T) {
	t.Parallel()
	d, rules := importedPaste(), testRules()
	d.Edits = nil
	for i, c := range []struct {
		changes Changes
		want    []int64
	}{
		{Changes{Tags: []string{"x"}}, nil},
		{Changes{Title: new("1"), Pasties: []PastyChanges{reference("one"), {Code: new("")}}}, []int64{0, 0, 0}},
		{Changes{Title: new("1")}, []int64{0, 0, 0}},
		{Changes{Title: new("2")}, []int64{0, 0, 0, 1}},
		{Changes{Title: new("3"), Private: new(false)}, []int64{0, 0, 0, 1, 2}},
	} {
		got, err := rules.withLargeHistory().Edit(d, c.changes, edited)
		if err != nil {
			t.Fatal(err)
		}
		var numbers []int64
		for _, e := range got.Edits {
			numbers = append(numbers, e.Number)
		}
		if !slices.Equal(numbers, c.want) {
			t.Errorf("edit %d: got %v, want %v", i, numbers, c.want)
		}
		d = got.Document
	}
}

// TestEditTimes checks that edits have times in whole seconds, and never earlier than the edit before.
func TestEditTimes(t *testing.T) {
	t.Parallel()
	d, first := importedPaste(), created.Truncate(time.Second)
	d.Edits[0].At = first
	for _, c := range []struct{ at, want time.Duration }{
		{-time.Hour, 0}, {1999 * time.Millisecond, time.Second}, {time.Hour, time.Hour}, {0, time.Hour},
	} {
		got, err := testRules().Edit(d, Changes{Title: new(d.Title + "'")}, first.Add(c.at).In(time.FixedZone("", 3600)))
		if err != nil {
			t.Fatal(err)
		}
		if at := got.NewEdits[0].At; at != first.Add(c.want) {
			t.Errorf("an edit after %v: got %v, want %v", c.at, at, first.Add(c.want))
		}
		d = got.Document
	}
}

// TestOldestEditsGiveWay checks the limits on the number and on the bytes of edits.
func TestOldestEditsGiveWay(t *testing.T) {
	t.Parallel()
	rules, d := testRules(), importedPaste()
	d.Edits = nil
	all, versions := []Edit{}, map[int64]version{}
	for i := range 40 {
		changes := Changes{Title: new(fmt.Sprint(i))}
		if i%3 == 0 {
			changes.Pasties = []PastyChanges{{ID: "one", Title: new(fmt.Sprint("title ", i))}, reference("two")}
		}
		if i == 30 {
			changes.Title = new(strings.Repeat("x", 990)) // the next edit has it as its text
		}
		got, err := rules.Edit(d, changes, edited)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, got.NewEdits...)
		bytes := 0
		for _, e := range got.Edits {
			bytes += e.size()
		}
		if !reflect.DeepEqual(got.Edits, all[len(all)-len(got.Edits):]) || bytes > 1000 || len(got.Edits) > 10 {
			t.Errorf("edit %d: got %v with %d bytes, want the newest of %v", i, summaries(got.Edits), bytes, summaries(all))
		}
		if want := slices.Concat(d.Edits[got.Dropped:], got.NewEdits); !reflect.DeepEqual(got.Edits, want) {
			t.Errorf("edit %d: got %v, want %v", i, summaries(got.Edits), summaries(want))
		}
		// Every third edit has two entries, so the limit of 10 can leave 9.
		if i > 9 && i < 31 && len(got.Edits) < 9 || i == 31 && len(got.Edits) != 1 {
			t.Errorf("edit %d: got %d entries, want at least 9, but 1 at edit 31", i, len(got.Edits))
		}
		versions[got.NewEdits[0].Number] = versionOf(d.Content)
		walkBack(t, got.Content, versions)
		d = got.Document
	}
	// A single request can have more entries than there is room for.
	rules.Limits.Edits = 2
	changes := Changes{Title: new("t"), Pasties: []PastyChanges{{ID: "one", Title: new("t"), Language: new("py")},
		reference("two")}}
	_, err := rules.Edit(d, changes, edited)
	wantFault(t, "three entries", err, fault.Invalid, "has room for 2 changes")
	// A limit of 0 turns the history off.
	rules.Limits.Edits = 0
	got, err := rules.Edit(d, changes, edited)
	if err != nil || got.Title != "t" || len(got.Edits)+len(got.NewEdits) > 0 || got.Dropped != len(d.Edits) {
		t.Errorf("got %q, %q, %d, %v, want the change and no history", summaries(got.Edits), summaries(got.NewEdits),
			got.Dropped, err)
	}
}

// randomChanges returns changes, most of which are allowed.
func randomChanges(random *rand.Rand, d Document) (c Changes) {
	text := func() *string {
		switch random.IntN(8) {
		case 0:
			return nil
		case 1:
			return new("")
		case 2:
			return new(strings.Repeat("long", random.IntN(500)))
		}
		var lines strings.Builder
		for range random.IntN(12) {
			all := []string{"a", "b\n", "\n", "\x00\n", "\r\n", "--- \n", "@@ -1 +1 @@\n", "\\ No newline at end of file\n", "ä"}
			lines.WriteString(all[random.IntN(len(all))])
		}
		return new(lines.String())
	}
	language := func() *string {
		return []*string{nil, nil, new("go"), new("PY"), new("autodetect"), new("Klingon")}[random.IntN(6)]
	}
	c.Title = text()
	if random.IntN(4) == 0 {
		c.Tags = []string{*cmp.Or(text(), new(""))}
		c.Public = new(random.IntN(2) == 0)
	}
	for _, i := range random.Perm(len(d.Pasties)) {
		if random.IntN(5) > 0 {
			c.Pasties = append(c.Pasties, PastyChanges{ID: d.Pasties[i].ID, Title: text(), Language: language(), Code: text()})
		}
	}
	for random.IntN(3) == 0 {
		c.Pasties = append(c.Pasties, PastyChanges{Title: text(), Language: language(), Code: text()})
	}
	return c
}

// checkEdit checks what holds for every accepted edit.
func checkEdit(t *testing.T, rules Rules, before Document, changes Changes, got Change) {
	t.Helper()
	if len(got.Edits) > rules.Limits.Edits || len(got.Pasties) > max(rules.Limits.Pasties, len(before.Pasties)) {
		t.Errorf("got %d edits and %d pasties, want no more than the limits allow", len(got.Edits), len(got.Pasties))
	}
	if want := slices.Concat(before.Edits[got.Dropped:], got.NewEdits); !slices.EqualFunc(got.Edits, want, equalEdits) {
		t.Errorf("got %v, want %v", summaries(got.Edits), summaries(want))
	}
	if len(got.Pasties) == 0 && len(before.Pasties) > 0 {
		t.Errorf("%+v: got no pasties, want some", changes)
	}
	ids := map[string]bool{}
	for _, p := range got.Pasties {
		if ids[p.ID] || strings.EqualFold(p.Language, Autodetect) {
			t.Errorf("got %+v among %+v, want another id and a language", p, got.Pasties)
		}
		ids[p.ID] = true
	}
	if again, err := rules.Edit(got.Document, fullChanges(got.Document), edited); err != nil || again.Changed {
		t.Errorf("sending %.300v back: got %v, %v, want no change", got.Document, summaries(again.NewEdits), err)
	}
	if got.Changed != !reflect.DeepEqual(got.Document, before) {
		t.Errorf("%.300v to %.300v: got changed %v, want %v", before, got.Document, got.Changed, !got.Changed)
	}
}

func equalEdits(a, b Edit) bool { return reflect.DeepEqual(a, b) }

// FuzzEdit makes three edits of a fuzzed paste and walks back through its history.
func FuzzEdit(f *testing.F) {
	f.Add("title", "a\nb\n", "a\nb", "Go", uint64(1))
	f.Add("", "", "\x00\r\n", "autodetect", uint64(2))
	f.Add("t", "--- \n+++ \n", "\\ No newline at end of file\n", "Klingon", uint64(3))
	f.Fuzz(func(t *testing.T, title, first, second, language string, seed uint64) {
		rules, random := testRules().withLargeHistory(), rand.New(rand.NewPCG(seed, 0))
		d := Document{Content: Content{Title: title, Pasties: []Pasty{{"one", title, language, first},
			{"two", "", "Go", second}}}}
		if strings.EqualFold(language, Autodetect) || !validUTF8(title, first, second, language) {
			return
		}
		versions := map[int64]version{}
		for _, changes := range []Changes{
			{Pasties: []PastyChanges{{ID: "one", Code: &second}, {ID: "two", Code: &first, Language: &language},
				{Title: &title, Code: &first}}},
			randomChanges(random, d),
			{Title: &second, Pasties: []PastyChanges{{ID: "one", Title: &second}}},
		} {
			got, err := rules.Edit(d, changes, edited)
			if err != nil {
				wantFault(t, "fuzzed changes", err, fault.Invalid, "")
				continue
			}
			checkEdit(t, rules, d, changes, got)
			if len(got.NewEdits) > 0 {
				versions[got.NewEdits[0].Number] = versionOf(d.Content)
			}
			d = got.Document
		}
		walkBack(t, d.Content, versions)
	})
}

func validUTF8(texts ...string) bool {
	return !slices.ContainsFunc(texts, func(s string) bool { return strings.ToValidUTF8(s, "") != s })
}

// TestEntryLargerThanHistory checks that an edit that the history cannot hold is refused, and takes no number.
func TestEntryLargerThanHistory(t *testing.T) {
	t.Parallel()
	rules := testRules()
	paste, err := rules.Create(Draft{Title: "1", Pasties: []PastyDraft{{Code: new(strings.Repeat("x\n", 600))}}},
		true, created)
	if err != nil {
		t.Fatal(err)
	}
	for i, title := range []string{"2", "3"} {
		changed, err := rules.Edit(paste, Changes{Title: &title}, paste.CreatedAt)
		if err != nil {
			t.Fatal(err)
		}
		paste = changed.Document
		large := Changes{Title: new("large"), Pasties: []PastyChanges{{ID: paste.Pasties[0].ID, Code: new("")}}}
		_, err = rules.Edit(paste, large, paste.CreatedAt)
		wantFault(t, "a large edit", err, fault.Invalid, "1000 bytes")
		if last := paste.Edits[len(paste.Edits)-1].Number; last != int64(i) {
			t.Errorf("got the number %d, want %d", last, i)
		}
	}
}
