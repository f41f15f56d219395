package commands

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
)

// writeTo writes a file and returns its path.
func writeTo(t *testing.T, folder, name, text string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// wantFiles compares a folder with what should be in it, and sees that others may read none of it.
func wantFiles(t *testing.T, folder string, contents map[string]string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		path := filepath.Join(folder, entry.Name())
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if want, ok := contents[entry.Name()]; !ok || string(text) != want {
			t.Errorf("%s: got %q, want %q", entry.Name(), text, want)
		}
		if info, err := entry.Info(); err != nil || info.Mode().Type() == 0 && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: got the mode %v, error %v, want -rw-------", entry.Name(), info.Mode(), err)
		}
	}
	if len(entries) != len(contents) {
		t.Errorf("%s: got %v, want %d files", folder, entries, len(contents))
	}
}

// summary is a line of what "import --json" prints.
type summary struct {
	Kind                                    string
	Read, New, Updated, Unchanged, Rejected int64
	RejectsFile                             string
}

// imports runs an import that leaves its rejects in folder, and returns its summaries by kind.
func (i installation) imports(folder, flags string) (result, map[string]summary) {
	i.Helper()
	got := i.run("import pastemyst --json --rejects-dir " + folder + " " + flags)
	summaries := map[string]summary{}
	for decoder := json.NewDecoder(strings.NewReader(got.stdout)); decoder.More(); {
		var s summary
		if err := decoder.Decode(&s); err != nil {
			i.Fatalf("%s: got %q: %v", flags, got.stdout, err)
		}
		summaries[s.Kind] = s
	}
	return got, summaries
}

// TestImportSummary checks the table, or the line of JSON for each kind, in the order of the import.
func TestImportSummary(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	users := writeTo(t, folder, "users.json", `{"_id":"u1","username":"u1"}`+"\n"+`{"_id":"u2","username":"u2"}`)
	pastes := writeTo(t, folder, "pastes.json", `{"_id":"p1","ownerId":"u1","createdAt":1,"pasties":[]}`)
	line := "import pastemyst --pastes " + pastes + " --users " + users
	i := install(t)
	if got, want := i.do(line), `KIND    READ  NEW  UPDATED  UNCHANGED  REMOVED EARLIER  REJECTED
users   2     2    0        0          0                0
pastes  1     1    0        0          0                0
`; got != want {
		t.Errorf("%s:\ngot\n%swant\n%s", line, got, want)
	}
	writeTo(t, folder, "users.json", `{"_id":"u1","username":"U1"}`+"\n"+`{"_id":"u2","username":"u2"}`)
	if got, want := i.do(line+" --json"), `{"kind":"users","file":"`+users+`","read":2,"new":0,"updated":1,`+
		`"unchanged":1,"removedEarlier":0,"rejected":0,"rejectsFile":""}
{"kind":"pastes","file":"`+pastes+`","read":1,"new":0,"updated":0,`+
		`"unchanged":1,"removedEarlier":0,"rejected":0,"rejectsFile":""}
`; got != want {
		t.Errorf("%s:\ngot\n%swant\n%s", line, got, want)
	}
}

func TestImportFromStandardInput(t *testing.T) {
	t.Parallel()
	text := `{"_id":"u1","username":"u1"}` + "\n" + `{"_id":"u2","username":"u2"}`
	got := install(t).runReading(text, "import pastemyst --json --users -")
	summary := `{"kind":"users","file":"standard input","read":2,"new":2,"updated":0,"unchanged":0,` +
		`"removedEarlier":0,"rejected":0,"rejectsFile":""}`
	if want := (result{exitOK, summary + "\n", ""}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestImportTellsOfWaitingStars checks that the summary counts stars whose pastes may come with the next import.
func TestImportTellsOfWaitingStars(t *testing.T) {
	t.Parallel()
	i := install(t)
	got := i.runReading(`{"_id":"u1","username":"u1","stars":["p1","p2"]}`, "import pastemyst --users -")
	if got.code != exitOK || !strings.HasSuffix(got.stderr, "2 stars wait for pastes that are not stored.\n") {
		t.Errorf("got %+v, want exit code 0 and a word about 2 stars", got)
	}
	got = i.runReading(`{"_id":"p1","createdAt":1,"pasties":[]}`, "import pastemyst --pastes -")
	if !strings.HasSuffix(got.stderr, "1 star waits for pastes that are not stored.\n") {
		t.Errorf("got %+v, want a word about 1 star", got)
	}
	got = i.runReading(`{"_id":"p2","createdAt":1,"pasties":[]}`, "import pastemyst --pastes -")
	if strings.Contains(got.stderr, "stars") {
		t.Errorf("got %+v, want no word about stars", got)
	}
}

// TestImportOfOrphans checks that pastes without their owner are rejected, unless a flag says otherwise.
func TestImportOfOrphans(t *testing.T) {
	t.Parallel()
	i := install(t)
	const orphan = `{"_id":"p1","ownerId":"gone","createdAt":1,"pasties":[]}`
	line := "import pastemyst --json --rejects-dir " + t.TempDir() + " --pastes -"
	wantRefusal(t, line+" --orphans keep", i.runReading(orphan, line+" --orphans keep"), exitUsage,
		`--orphans is "keep": give reject or anonymous. See 'gluepot import pastemyst --help'`)
	for _, flag := range []string{"", " --orphans reject"} {
		got := i.runReading(orphan, line+flag)
		if got.code != exitFailed || !strings.Contains(got.stderr, "The owner is not a user here. Import the users first.") {
			t.Errorf("%q: got %+v, want exit code 1 and the reason", flag, got)
		}
	}
	for _, outcome := range []string{`"new":1,"updated":0,"unchanged":0`, `"new":0,"updated":0,"unchanged":1`} {
		got := i.runReading(orphan, line+" --orphans anonymous")
		if got.code != exitOK || !strings.Contains(got.stdout, outcome+`,"removedEarlier":0,"rejected":0,"rejectsFile":""}`) {
			t.Errorf("got %+v, want exit code 0 and %s", got, outcome)
		}
	}
}

// TestImportOfIncompletePastes checks that a stored paste stays as it is: a record that is less than a paste is
// refused, as are all records of another collection.
func TestImportOfIncompletePastes(t *testing.T) {
	t.Parallel()
	i := install(t)
	whole := `{"_id":"pppppppp","title":"real","createdAt":1,"pasties":[{"_id":"x","code":"kept"}],` +
		`"edits":[{"_id":"e","edit":"old","editedAt":2}]}`
	line := "import pastemyst --rejects-dir " + t.TempDir() + " --pastes -"
	if got := i.runReading(whole, line); got.code != exitOK {
		t.Fatalf("got %+v, want exit code 0", got)
	}
	before := i.do("paste show pppppppp --json")
	for record, reason := range map[string]string{
		`{"_id":"pppppppp","title":"real"}`:                                    "it has no createdAt",
		`{"_id":"pppppppp","title":"real","createdAt":1}`:                      "it has no pasties",
		`{"_id":"pppppppp","createdAt":1,"pasties":null}`:                      "it has no pasties",
		`{"_id":"pppppppp","createdAt":null,"pasties":[]}`:                     "it has no createdAt",
		`{"_id":"pppppppp","username":"epoxy","publicProfile":true}`:           "it has no createdAt",
		`{"_id":"pppppppp","encrypted":true,"encryptedData":"AAAA","salt":""}`: "it has no createdAt",
	} {
		got := i.runReading(record, line)
		if got.code != exitFailed || !strings.Contains(got.stderr,
			"standard input:1: The record is not a complete paste: "+reason) {
			t.Errorf("%s: got %+v, want exit code 1 and %q", record, got, reason)
		}
	}
	if after := i.do("paste show pppppppp --json"); after != before {
		t.Errorf("got %s, want %s", after, before)
	}
}

// TestImportOfPartialPastes checks that an import keeps what a record does not mention.
func TestImportOfPartialPastes(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		i := installation{t, cfg.URL}
		if got := i.runReading(`{"_id":"uuuuuuuu","username":"epoxy"}`, "import pastemyst --users -"); got.code != exitOK {
			t.Fatalf("got %+v, want exit code 0", got)
		}
		const bare = `{"_id":"pppppppp","createdAt":1,"pasties":[{"_id":"x","title":"t","language":"Go","code":"kept"}]`
		whole := bare + `,"ownerId":"uuuuuuuu","title":"real","expiresIn":"1y","deletesAt":4102444800,"isPrivate":true,` +
			`"tags":["a","b"],"edits":[{"_id":"e","editId":7,"editType":0,"edit":"old","editedAt":2}]}`
		before := ""
		for _, record := range []string{whole, bare + "}", bare + `,"ownerId":null,"title":null,"tags":null,"edits":null}`} {
			if got := i.runReading(record, "import pastemyst --pastes -"); got.code != exitOK {
				t.Fatalf("%s: got %+v, want exit code 0", record, got)
			}
			after := i.do("paste show pppppppp --json")
			if before = cmp.Or(before, after); after != before {
				t.Errorf("%s: got %s, want %s", record, after, before)
			}
		}
	})
}

// TestImportOfIncompleteUsers checks that an import keeps what a record does not mention.
func TestImportOfIncompleteUsers(t *testing.T) {
	t.Parallel()
	i := install(t)
	whole := `{"_id":"u1","username":"epoxy","avatarUrl":"a","defaultLang":"Go","publicProfile":true,` +
		`"supporterLength":3,"contributor":true,` +
		`"serviceIds":{"github":"1"}}`
	for _, record := range []string{whole, `{"_id":"u1","username":"epoxy"}`,
		`{"_id":"u1","username":"epoxy","avatarUrl":null}`} {
		if got := i.runReading(record, "import pastemyst --users -"); got.code != exitOK {
			t.Fatalf("%s: got %+v, want exit code 0", record, got)
		}
		want := `{"id":"u1","name":"epoxy","avatarUrl":"a","defaultLang":"Go","publicProfile":true,"showTags":false,` +
			`"supporterMonths":3,"contributor":true,"admin":false,"suspended":false,` +
			`"services":{"github":"1"}}` + "\n"
		if got := i.shown("epoxy"); got != used(want) {
			t.Errorf("%s: got %s, want %s", record, got, want)
		}
	}
}

// TestImportOfAnArray checks that the output of mongoexport --jsonArray is refused.
func TestImportOfAnArray(t *testing.T) {
	t.Parallel()
	i := install(t)
	got := i.runReading(`[{"_id":"p1","createdAt":1,"pasties":[]}]`, "import pastemyst --pastes -")
	if got.code != exitFailed || !strings.Contains(got.stderr,
		"the file is one JSON array: export it without --jsonArray") {
		t.Errorf("got %+v, want exit code 1 and a sentence", got)
	}
	i.wantRefused("paste show p1", "There is no paste with that id.")
}

// TestImportOfMistypedFile checks that a mistyped path stores nothing of the other files, and creates no database.
func TestImportOfMistypedFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	users := writeTo(t, folder, "users.json", `{"_id":"u1","username":"u1"}`)
	mistyped := filepath.Join(folder, "mistyped.json")
	i := installation{t, "sqlite://" + filepath.Join(folder, "gluepot.db")}
	line := "import pastemyst --users " + users + " --pastes " + mistyped
	wantRefusal(t, line, i.run(line), exitUsage, `cannot read "`+mistyped+`": no such file or directory`)
	wantFiles(t, folder, map[string]string{"users.json": `{"_id":"u1","username":"u1"}`})
}

// TestImportUndoesNothing imports an export again after users have taken some of it back.
func TestImportUndoesNothing(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	users := func(name, username string) string {
		return writeTo(t, folder, name, `{"_id":"u1","username":"`+username+
			`","publicProfile":true,"serviceIds":{"github":"7","gitlab":"8"}}`)
	}
	pastes := writeTo(t, folder, "pastes.json",
		`{"_id":"shared01","ownerId":"u1","createdAt":1,"isPublic":true,"pasties":[]}`+"\n"+
			`{"_id":"gone0001","ownerId":"u1","createdAt":1,"pasties":[]}`)
	i := install(t)
	i.do("import pastemyst --users " + users("users.json", "ann") + " --pastes " + pastes)
	i.do("user unlink ann github")
	i.do("user update ann --public=false")
	i.do("paste edit shared01 --private")
	i.do("paste delete gone0001")
	before := i.do("user show ann --json") + i.do("paste show shared01 --json")
	if !strings.Contains(before, `"services":{"gitlab":"8"}`) {
		t.Errorf("got %s, want gitlab alone", before)
	}
	_, summaries := i.imports(folder, "--users "+users("again.json", "ann")+" --pastes "+pastes)
	if got := summaries["users"]; got.Unchanged != 1 {
		t.Errorf("users: got %+v, want one unchanged", got)
	}
	if got := summaries["pastes"]; got.Unchanged != 1 || got.Updated+got.New != 0 {
		t.Errorf("pastes: got %+v, want one unchanged, and nothing new", got)
	}
	if after := i.do("user show ann --json") + i.do("paste show shared01 --json"); after != before {
		t.Errorf("got\n%s\nwant\n%s", after, before)
	}
}
