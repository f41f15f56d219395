package contract

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/batch"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/search"
	"github.com/gluepot/gluepot/domain/user"
)

// parsed is a query.
func parsed(t *testing.T, text string) search.Query {
	t.Helper()
	query, err := search.Parse(text, func(name string) string { return name })
	must(t, err)
	return query
}

// wantFound wants the ids of what a reader finds.
func wantFound(t *testing.T, s DocumentStore, reader user.ID, text string, want ...string) []search.Result {
	t.Helper()
	results, more, err := s.Search.Find(t.Context(), parsed(t, text), reader, search.Cursor{}, 20)
	must(t, err)
	got := []string{}
	for i := range results {
		got = append(got, string(results[i].ID))
	}
	if !slices.Equal(got, append([]string{}, want...)) || more {
		t.Errorf("%q finds %q for %q, others: %v, want %q and no others", text, got, reader, more, want)
	}
	return results
}

// searchable stores a paste of an owner, each a minute older than the one before.
func searchable(
	t *testing.T, s DocumentStore, id string, owner user.ID, visibility paste.Visibility, title, code string,
	tags ...string,
) paste.Document {
	t.Helper()
	created := paste.Document{
		Paste: paste.Paste{ID: paste.ID(id), Owner: owner,
			CreatedAt: now.Add(-time.Minute * time.Duration(id[len(id)-1]-'0'))},
		Content: paste.Content{
			Title: title, Visibility: visibility, Tags: tags, Lifetime: paste.Never,
			Pasties: []paste.Pasty{{ID: "only", Title: "main.go", Language: "Go", Code: code}},
		},
	}
	must(t, s.Documents.CreateDocument(t.Context(), created))
	return created
}

func searchFinds(t *testing.T, s DocumentStore) {
	owner := storedUser(t, s.Store, "Epoxy").ID
	searchable(t, s, "glue1", owner, paste.Public, "About glue", "first\nThe needle and the GLUE\nlast\n",
		"sticky", "Two words")
	searchable(t, s, "code2", owner, paste.Public, "About code", "glue in the haystack 100%_\\ \x00 needles\n", "sticky")
	searchable(t, s, "case3", owner, paste.Public, "ÜBER STRAẞE ΟΔΟΣ", "K\u212a\u017f ΣΊΣΥΦΟΣ İstanbul 漢字かな\n", "a")
	for _, c := range []struct {
		text     string
		expected []string
	}{
		{"glue", []string{"glue1", "code2"}}, {"GLUE needle", []string{"glue1", "code2"}},
		{"about", []string{"glue1", "code2"}},
		{"haystack about", []string{"code2"}}, {`"and the glue"`, []string{"glue1"}}, {`"glue and"`, nil},
		{`"the  needle"`, nil},
		{"100%", []string{"code2"}}, {"0%0", nil}, {`%_\`, []string{"code2"}}, {"%_x", nil}, {"___", nil},
		{"\ufffd needles", []string{"code2"}},
		{`"main.go glue"`, nil}, {"main.go", []string{"glue1", "code2", "case3"}}, {"ain.g la", []string{"glue1"}},
		{"über", []string{"case3"}}, {"straße", []string{"case3"}}, {"οδος", []string{"case3"}}, {"ΟΔΟς", []string{"case3"}},
		{"σίσυφος", []string{"case3"}}, {"kks", []string{"case3"}}, {"漢字か", []string{"case3"}},
		{"istanbul", nil}, {"İSTANBUL", []string{"case3"}},
		{"tag:sticky", []string{"glue1", "code2"}}, {"tag:STICKY glue", []string{"glue1", "code2"}},
		{`tag:"two words"`, []string{"glue1"}},
		{"tag:two", nil}, {"tag:a", []string{"case3"}}, {"tag:stick", nil},
		{"language:go", []string{"glue1", "code2", "case3"}},
		{"language:g", nil}, {"user:epoxy last", []string{"glue1"}}, {"user:EPOXY tag:sticky", []string{"glue1", "code2"}},
		{"user:putty glue", nil},
		{"user:epoxy user:putty", nil}, {"g h language:Go", []string{"glue1", "code2"}},
	} {
		wantFound(t, s, "", c.text, c.expected...)
		wantFound(t, s, owner, c.text+" mine:", c.expected...)
	}
	found := wantFound(t, s, "", "needle", "glue1", "code2")
	want(t, "title", found[0].Title, "About glue")
	want(t, "title of the pasty", found[0].PastyTitle, "main.go")
	want(t, "owner", found[0].OwnerName, "Epoxy")
	want(t, "lines", len(found[0].Lines), 1)
	want(t, "line", found[0].Lines[0], search.Line{Pasty: 0, Number: 2, Text: "The needle and the GLUE"})
	want(t, "pasties", found[0].PastyCount, 1)
	want(t, "in titles", found[0].Cursor.InTitles, false)
	want(t, "in titles", wantFound(t, s, "", "about", "glue1", "code2")[0].Cursor.InTitles, true)
}

// searchOdd finds what a paste of an import can hold, and wants no failure because of any text.
func searchOdd(t *testing.T, s DocumentStore) {
	owner := storedUser(t, s.Store, "owner").ID
	created := newDocument("odd")
	created.Owner, created.Visibility = owner, paste.Public
	must(t, s.Documents.CreateDocument(t.Context(), created))
	wantFound(t, s, "", "0123456789ABCDEF", "odd")
	wantFound(t, s, "", "\ufffd tag:z language:c++", "odd")
	wantFound(t, s, "", "ä漢😀'", "odd")
	for _, text := range []string{
		`'"\<>&`, "😀'\"\\<", "\ufeff\ufffd\x7f", "\x1a0\x1a1", "%%%%", "'; DROP TABLE pastes", "AND OR NOT",
		"text : abc", "(((", "***", "^abc", "a\\",
	} {
		if query, err := search.Parse(text, func(name string) string { return name }); err == nil {
			_, _, err := s.Search.Find(t.Context(), query, "", search.Cursor{}, 5)
			must(t, err)
		}
	}
	for _, reader := range unstorable {
		wantFound(t, s, user.ID(reader), "0123456789ABCDEF", "odd")
	}
	_, _, err := s.Search.Find(cancelled(t), parsed(t, "abc"), "", search.Cursor{}, 5)
	wantKind(t, err, fault.Unavailable)
}

func searchAsSeen(t *testing.T, s DocumentStore) {
	owner, stranger := storedUser(t, s.Store, "owner").ID, storedUser(t, s.Store, "stranger").ID
	hidden := newUser(t, "hidden")
	hidden.PublicProfile, hidden.ShowTags = false, false
	must(t, s.createUser(t.Context(), hidden, nil))
	quiet := newUser(t, "quiet")
	quiet.ShowTags = false
	must(t, s.createUser(t.Context(), quiet, nil))
	searchable(t, s, "public1", owner, paste.Public, "", "needle", "tag")
	searchable(t, s, "unlisted2", owner, paste.Unlisted, "", "needle", "tag")
	searchable(t, s, "private3", owner, paste.Private, "needle", "", "tag")
	searchable(t, s, "hidden4", hidden.ID, paste.Public, "needle", "needle", "tag")
	searchable(t, s, "quiet5", quiet.ID, paste.Public, "", "needle", "tag")
	searchable(t, s, "anonymous6", "", paste.Public, "", "needle", "tag")
	sealed := paste.Document{Paste: paste.Paste{ID: "sealed7", Owner: owner, CreatedAt: now}, Content: paste.Content{
		Title: "needle", Visibility: paste.Public, Cipher: &paste.Cipher{Data: []byte("needle")},
	}}
	must(t, s.Documents.CreateDocument(t.Context(), sealed))
	expired := searchable(t, s, "expired8", owner, paste.Unlisted, "", "other")
	expired.ID, expired.ExpiresAt, expired.Visibility, expired.Pasties[0].Code = "expired9", now, paste.Public, "needle"
	must(t, s.Documents.CreateDocument(t.Context(), expired))

	for _, reader := range []user.ID{"", stranger, "unknown"} {
		wantFound(t, s, reader, "needle", "public1", "quiet5")
		wantFound(t, s, reader, "tag:tag", "public1")
		wantFound(t, s, reader, "user:owner", "public1")
		wantFound(t, s, reader, "user:hidden needle")
		wantFound(t, s, reader, "user:quiet needle", "quiet5")
		wantFound(t, s, reader, "user:quiet tag:tag")
		wantFound(t, s, reader, "mine: needle")
	}
	wantFound(t, s, owner, "needle", "private3", "public1", "unlisted2", "quiet5")
	wantFound(t, s, owner, "mine: needle", "private3", "public1", "unlisted2")
	wantFound(t, s, owner, "tag:tag", "public1", "unlisted2", "private3")
	wantFound(t, s, hidden.ID, "needle", "hidden4", "public1", "quiet5")
	wantFound(t, s, hidden.ID, "tag:tag user:hidden", "hidden4")
	wantFound(t, s, quiet.ID, "tag:tag", "public1", "quiet5")
}

func searchPages(t *testing.T, s DocumentStore) {
	owner, other := storedUser(t, s.Store, "owner").ID, storedUser(t, s.Store, "other").ID
	for i := range 60 {
		created := paste.Document{
			Paste: paste.Paste{ID: paste.ID(fmt.Sprintf("paste%02d", i)), Owner: owner,
				CreatedAt: now.Add(time.Duration(i/3) * time.Second)},
			Content: paste.Content{
				Visibility: []paste.Visibility{paste.Public, paste.Unlisted, paste.Private}[i%3],
				Pasties:    []paste.Pasty{{ID: "p", Code: "needle"}},
			},
		}
		if i%4 == 0 {
			created.Title = "A needle"
		}
		if i%7 == 0 {
			created.Owner = other
		}
		must(t, s.Documents.CreateDocument(t.Context(), created))
	}
	for _, text := range []string{"needle", "need le", "mine: needle", "user:other needle", "user:other"} {
		all, more, err := s.Search.Find(t.Context(), parsed(t, text), owner, search.Cursor{}, 100)
		must(t, err)
		want(t, "more", more, false)
		for _, size := range []int{1, 7, len(all)} {
			var paged []search.Result
			for after, more := (search.Cursor{}), true; more; {
				var page []search.Result
				page, more, err = s.Search.Find(t.Context(), parsed(t, text), owner, after, size)
				must(t, err)
				if len(page) == 0 || len(page) > size {
					t.Fatalf("%q: got a page of %d, want up to %d", text, len(page), size)
				}
				paged, after = append(paged, page...), page[len(page)-1].Cursor
			}
			if !reflect.DeepEqual(paged, all) {
				t.Errorf("%q in pages of %d: got %v, want %v", text, size, paged, all)
			}
		}
	}
}

func searchFollows(t *testing.T, s DocumentStore) {
	owner := storedUser(t, s.Store, "owner").ID
	created := searchable(t, s, "paste1", owner, paste.Public, "before", "before", "before")
	change := func(edit func(*paste.Document)) {
		t.Helper()
		_, err := s.Documents.Update(t.Context(), unrecorded, "paste1", func(stored paste.Document) (paste.Change, error) {
			edit(&stored)
			return paste.Change{Document: stored, Changed: true}, nil
		})
		must(t, err)
	}
	change(func(d *paste.Document) {
		d.Title, d.Tags, d.Pasties = "after", []string{"after"}, []paste.Pasty{{ID: "only", Language: "C", Code: "later"}}
	})
	wantFound(t, s, "", "before")
	wantFound(t, s, "", "tag:before")
	wantFound(t, s, "", "language:go")
	wantFound(t, s, "", "after later tag:after language:c", "paste1")
	change(func(d *paste.Document) { d.Visibility = paste.Private })
	wantFound(t, s, "", "after")
	wantFound(t, s, owner, "after", "paste1")
	change(func(d *paste.Document) { d.Visibility = paste.Public })
	wantFound(t, s, "", "after", "paste1")

	imported := created
	imported.Title, imported.Pasties = "imported", []paste.Pasty{{ID: "only", Code: "from elsewhere"}}
	other := imported
	other.ID, other.CreatedAt = "paste2", now
	results, err := s.Pastes.Import(t.Context(), Whole(imported, other), paste.RefuseOrphans)
	must(t, err)
	want(t, "outcome", results[0].Outcome, batch.Updated)
	wantFound(t, s, "", "elsewhere", "paste2", "paste1")
	wantFound(t, s, "", "after")
	imported.Owner = ""
	_, err = s.Pastes.Import(t.Context(), Whole(imported), paste.RefuseOrphans)
	must(t, err)
	wantFound(t, s, owner, "elsewhere", "paste2")
	must(t, s.Documents.DeleteIf(t.Context(), unrecorded, "paste2", func(paste.Paste) error { return nil }))
	wantFound(t, s, owner, "elsewhere")
	searchable(t, s, "paste3", owner, paste.Public, "elsewhere", "")
	must(t, s.Users.Delete(t.Context(), nowhere, unrecorded, owner, parseName(t, "owner"), nil))
	wantFound(t, s, "", "elsewhere")
}

func searchRebuilt(t *testing.T, s DocumentStore) {
	owner := storedUser(t, s.Store, "owner").ID
	for i := range 9 {
		searchable(t, s, fmt.Sprint("paste", i), owner, paste.Public, "", "needle", "tag")
	}
	searchable(t, s, "anonymous0", "", paste.Unlisted, "", "needle")
	must(t, s.Search.Prepare(t.Context()))
	indexed, err := s.Search.Indexed(t.Context())
	must(t, err)
	want(t, "indexed", indexed, true)
	read := 0
	for last, first := paste.ID(""), true; first || last != ""; first = false {
		next, some, err := s.Search.Rebuild(t.Context(), last)
		must(t, err)
		last, read = next, read+some
	}
	want(t, "pastes", read, 9)
	wantFound(t, s, "", "needle tag:tag language:go", "paste0", "paste1", "paste2", "paste3", "paste4", "paste5", "paste6",
		"paste7", "paste8")
	_, _, err = s.Search.Rebuild(cancelled(t), "")
	wantKind(t, err, fault.Unavailable)
}

// RunSearch asks stores that hold the same pastes the same, and wants the same answers of them.
func RunSearch(t *testing.T, seed uint64, pastes, queries int, stores map[string]DocumentStore) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, seed))
	pick := func(from []string) string { return from[random.IntN(len(from))] }
	letters := strings.Split("aAbBßẞσςΣéÉk\u212aſİı漢字%_\\\"'=>(.1\x00😀\u0301", "")
	word := func() (w string) {
		for range 1 + random.IntN(6) {
			w += pick(letters)
		}
		return w
	}
	common := []string{"func", "return", "Straße", "the", "if", ":=", "漢字"}
	for range 40 {
		common = append(common, word())
	}
	text := func(words int) string {
		var b strings.Builder
		for range words {
			if random.IntN(10) == 0 {
				b.WriteString(word())
			} else {
				b.WriteString(pick(common))
			}
			b.WriteString(pick([]string{" ", " ", "  ", "\n", "\t", ""}))
		}
		return b.String()
	}
	var owners []user.ID
	for i := range 6 {
		u := newUser(t, fmt.Sprint("user", i))
		u.PublicProfile, u.ShowTags = i%3 != 0, i%2 == 0
		owners = append(owners, u.ID)
		for _, s := range stores {
			must(t, s.createUser(t.Context(), u, nil))
		}
	}
	tags := []string{"a", "Ab", "two words", "%", "ß", "x"}
	languages := []string{"Go", "C", "C++", "unknown", "Plain Text"}
	for first := 0; first < pastes; first += 100 {
		var some []paste.Document
		for i := range min(100, pastes-first) {
			created := paste.Document{
				Paste: paste.Paste{
					ID: paste.ID(fmt.Sprint("paste", first+i)), CreatedAt: now.Add(time.Duration(random.IntN(pastes/2)) * time.Second),
				},
				Content: paste.Content{Title: text(random.IntN(3)), Visibility: paste.Visibility(min(1, random.IntN(4))),
					Lifetime: paste.Never},
			}
			if random.IntN(20) > 0 {
				created.Owner = owners[random.IntN(len(owners))]
			}
			if random.IntN(5) == 0 {
				created.Visibility = paste.Private
			}
			for n := range random.IntN(3) {
				created.Tags = append(created.Tags, tags[random.IntN(3)+n])
			}
			for n := range 1 + random.IntN(2) {
				created.Pasties = append(created.Pasties, paste.Pasty{
					ID: fmt.Sprint(n), Title: text(random.IntN(2)), Language: pick(languages), Code: text(random.IntN(30)),
				})
			}
			some = append(some, created)
		}
		for _, s := range stores {
			_, err := s.Pastes.Import(t.Context(), Whole(some...), paste.RefuseOrphans)
			must(t, err)
		}
	}
	hits := 0
	for range queries {
		var parts []string
		for range 1 + random.IntN(2) {
			switch random.IntN(8) {
			case 0:
				parts = append(parts, word())
			case 1:
				parts = append(parts, `"`+strings.TrimSpace(pick(common)+" "+pick(common))+`"`)
			default:
				parts = append(parts, pick(common))
			}
		}
		if random.IntN(3) == 0 {
			parts = append(parts, pick([]string{
				`tag:"` + pick(tags) + `"`, `language:"` + pick(languages) + `"`, fmt.Sprint("user:user", random.IntN(7)), "mine:",
			}))
		}
		asked := strings.Join(parts, " ")
		query, err := search.Parse(asked, func(name string) string { return name })
		if err != nil {
			continue
		}
		reader := append(owners, "", "")[random.IntN(len(owners)+2)]
		answers := make(map[string][]search.Result)
		for name, s := range stores {
			for after, more := (search.Cursor{}), true; more && len(answers[name]) < 40; {
				var page []search.Result
				page, more, err = s.Search.Find(t.Context(), query, reader, after, 10)
				must(t, err)
				answers[name] = append(answers[name], page...)
				if len(page) == 0 {
					if more {
						t.Fatalf("%s, %q for %q: got an empty page and more", name, asked, reader)
					}
					break
				}
				after = page[len(page)-1].Cursor
			}
			hits += len(answers[name])
		}
		for name, got := range answers {
			if want := answers["fake"]; !slices.EqualFunc(got, want, func(a, b search.Result) bool {
				return a.ID == b.ID && a.Cursor.InTitles == b.Cursor.InTitles && a.Title == b.Title && a.OwnerName == b.OwnerName &&
					slices.Equal(a.Lines, b.Lines)
			}) {
				t.Fatalf("seed %d, %s, %q for %q: got %+v, want %+v", seed, name, asked, reader, got, want)
			}
		}
	}
	if hits < queries {
		t.Errorf("got %d pastes for %d queries, want more: they look for what is not there", hits, queries)
	}
}
