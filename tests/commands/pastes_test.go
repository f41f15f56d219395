package commands

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/database"
)

// nobodys is what --json prints of an anonymous paste that was made of the standard input of installation.run.
const nobodys = `{"_id":"RANDOMID","ownerId":"","title":"","createdAt":SECONDS,` +
	`"expiresIn":"never","deletesAt":0,"stars":0,` +
	`"isPrivate":false,"isPublic":false,"tags":[],"encrypted":false,` +
	`"pasties":[{"_id":"RANDOMID","language":"Plain Text","title":"","code":"code"}],"edits":[]}` + "\n"

func TestPasteCreate(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.do("user create epoxy")
	for line, want := range map[string]string{
		"paste create --owner epoxy": "Created the paste RANDOMID.\n",
		"paste create":               "Created the paste RANDOMID.\n",
		"paste create --json":        nobodys,
		"paste create - --json":      nobodys,
		"paste create --owner epoxy --json": strings.Replace(nobodys, `"ownerId":""`,
			`"ownerId":"RANDOMID"`, 1),
		"paste create --json --expires-in never": nobodys,
		"paste create --json --title T":          strings.Replace(nobodys, `"title":"",`, `"title":"T",`, 1),
		"paste create --json --language rs":      strings.Replace(nobodys, "Plain Text", "Rust", 1),
		"paste create --json --owner epoxy --public --tags b,,a,": ownedWith(`"isPublic":false,"tags":[]`,
			`"isPublic":true,"tags":["a","b"]`),
		"paste create --json --owner epoxy --private": ownedWith(`"isPrivate":false`, `"isPrivate":true`),
	} {
		wantLike(t, line, i.do(line), want)
	}
	const empty = "Standard input is empty: there is nothing to make a paste of."
	for _, line := range []string{"paste create", "paste create -", "paste create --owner epoxy --json"} {
		wantRefusal(t, line, i.runReading("", line), exitFailed, empty)
	}
	wantStats(i, `{"users":1,"tokens":0,"activePastes":10,"expiredUnsweptPastes":0,"waitingStars":0}`)
}

func ownedWith(old, replacement string) string {
	return strings.NewReplacer(`"ownerId":""`, `"ownerId":"RANDOMID"`, old, replacement).Replace(nobodys)
}

// TestPasteLifetimes checks the lifetimes of the API, whose 1m, a month, may be 1month here.
func TestPasteLifetimes(t *testing.T) {
	t.Parallel()
	i := install(t)
	for text, want := range map[string]struct {
		told string
		life time.Duration
	}{
		"1h": {"1h", time.Hour}, "2d": {"2d", 48 * time.Hour}, "1month": {"1m", 2_629_800 * time.Second},
		"1m": {"1m", 2_629_800 * time.Second},
		"1y": {"1y", 31_557_600 * time.Second},
	} {
		created := i.document("code", "paste create --json --expires-in "+text)
		if got := time.Duration(created.DeletesAt-created.CreatedAt) * time.Second; got != want.life ||
			created.ExpiresIn != want.told {
			t.Errorf("%s: got %v, told as %q, want %v, told as %q", text, got, created.ExpiresIn, want.life, want.told)
		}
	}
	for _, text := range []string{"2w", "30min", "-1h", "0s"} {
		line := "paste create --expires-in " + text
		wantRefusalWith(t, line, i.run(line), exitUsage, "--expires-in", "never, 1h, 2h, 10h, 1d, 2d, 1w, 1month or 1y")
	}
}

// document is what the tests look at of a paste in JSON.
type document struct {
	ID                   string `json:"_id"`
	Title                string
	CreatedAt, DeletesAt int64
	ExpiresIn            string
	IsPrivate, IsPublic  bool
	Tags                 []string
	Encrypted            bool
	Pasties              []pasty
	Edits                []struct{ EditID, EditType int }
}

type pasty struct {
	ID                    string `json:"_id"`
	Language, Title, Code string
}

// document runs a command that prints a paste in JSON.
func (i installation) document(stdin, line string) (created document) {
	i.Helper()
	got := i.runReading(stdin, line)
	if err := json.Unmarshal([]byte(got.stdout), &created); err != nil || got.code != exitOK || got.stderr != "" {
		i.Fatalf("%s: got %+v, want a paste", line, got)
	}
	return created
}

// write writes a file of that name, in a folder without others, and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPasteCreateOfFiles(t *testing.T) {
	t.Parallel()
	i := install(t)
	program, notes := write(t, "main.go", "package main\n"), write(t, "notes", "a\r\nb\x00\r")
	line := "paste create --json " + program + " - " + notes
	created := i.document("#!/bin/sh\n", line)
	for n := range created.Pasties {
		created.Pasties[n].ID = ""
	}
	want := []pasty{
		{Language: "Go", Title: "main.go", Code: "package main\n"}, {Language: "Shell", Code: "#!/bin/sh\n"},
		{Language: "Plain Text", Title: "notes", Code: "a\r\nb\x00\r"},
	}
	if !slices.Equal(created.Pasties, want) {
		t.Errorf("got %+v, want %+v", created.Pasties, want)
	}
	created = i.document("code", "paste create --json "+program+" "+notes+" --language C")
	if got := []string{created.Pasties[0].Language, created.Pasties[1].Language}; !slices.Equal(got, []string{"C", "C"}) {
		t.Errorf("got %q, want that of all", got)
	}
}

// TestPasteTextsRefused checks that nothing of a refused text is stored.
func TestPasteTextsRefused(t *testing.T) {
	t.Parallel()
	i := install(t)
	created := i.document("code", "paste create --json")
	id, only := created.ID, created.Pasties[0].ID
	binary, half, large := write(t, "main.bin", "ELF\xff"), write(t, "half", strings.Repeat("x", 9<<20)),
		write(t, "large", "")
	if err := os.Truncate(large, 1<<40); err != nil { // reading it would take minutes
		t.Fatal(err)
	}
	const (
		tooLarge   = " is too large: a paste may have 16777216 bytes in all."
		noLanguage = ": no language has that name. Leave it out to have the language detected."
	)
	for line, want := range map[string]string{
		"paste create " + binary: `"` + binary +
			`" is not UTF-8 text.`,
		"paste create " + large:             `"` + large + `"` + tooLarge,
		"paste create " + half + " " + half: `"` + half + `"` + tooLarge,
		"paste edit " + id + " --add " + binary: `"` + binary +
			`" is not UTF-8 text.`,
		"paste edit " + id + " --add " + large: `"` + large + `"` + tooLarge,
		"paste create --language klingon": "language of standard input" +
			noLanguage,
		"paste edit " + id + " --language " + only + "=klingon": `language of the pasty "` + only +
			`"` + noLanguage,
		"paste edit " + id + " --language " + only + "=klingon --pasty " + only +
			"=-": "language of standard input" + noLanguage,
		"paste create --title " + strings.Repeat("x", 1025): "title: it must have at most 1024 characters.",
		"paste create --owner nobody":                       "There is no such user.",
		"paste create --paste-max-pasties 1 - " + half:      "pasties: there may be at most 1.",
	} {
		i.wantRefused(line, want)
	}
	endless := &endlessly{}
	got := runFrom(t, endless, "--database-url="+i.url, "paste", "create")
	wantRefusal(t, "endless standard input", got, exitFailed, "standard input"+tooLarge)
	if most := int64(18 << 20); endless.read > most {
		t.Errorf("got %d bytes read of an endless standard input, want at most %d", endless.read, most)
	}
	wantStats(i, `{"users":0,"tokens":0,"activePastes":1,"expiredUnsweptPastes":0,"waitingStars":0}`)
}

// endlessly has no end.
type endlessly struct{ read int64 }

func (e *endlessly) Read(p []byte) (int, error) {
	e.read += int64(len(p))
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestPasteShow(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.do("user create epoxy")
	created := i.document("\x1b[31mred\r",
		"paste create --json --owner epoxy --private --tags b,a --title T --expires-in 1d "+
			write(t, "main.go", "package main\n")+" -")
	line := "paste show " + created.ID
	wantLike(t, line, i.do(line), `id          RANDOMID
title       T
owner       epoxy (RANDOMID)
createdAt   YYYY-MM-DD HH:MM:SS
expiresAt   YYYY-MM-DD HH:MM:SS
visibility  private
tags        a, b
stars       0
edits       0
encrypted   no

--- RANDOMID (Go) main.go
package main

--- RANDOMID (Plain Text) `+"\n"+`\u001b[31mred\u000d`+"\n")
	for args, want := range map[string]string{
		"--raw": "package main\n", "--raw " + created.Pasties[0].ID: "package main\n",
		"--raw " + created.Pasties[1].ID: "\x1b[31mred\r",
	} {
		if got := i.do(line + " " + args); got != want {
			t.Errorf("%s: got %q, want %q", args, got, want)
		}
	}
	if stored := i.document("", line+" --json"); !reflect.DeepEqual(stored, created) {
		t.Errorf("got %+v, want %+v as when it was created", stored, created)
	}
	i.wantRefused(line+" --raw unknown", "The paste has no pasty with that id.")
	i.wantRefused("paste show unknown", "There is no paste with that id.")
	i.expire(created.ID)
	i.wantRefused(line, "There is no paste with that id.")
}

// TestPasteShowWithoutCode shows a paste from before pastes had code, and an encrypted one.
func TestPasteShowWithoutCode(t *testing.T) {
	t.Parallel()
	i := install(t)
	created := time.Unix(1588441258, 0)
	cfg := gormstore.DefaultConfig()
	cfg.URL = i.url
	store := gormstore.NewPastes(database.Open(t, cfg))
	for _, d := range []paste.Document{
		{Paste: paste.Paste{ID: "bare", CreatedAt: created}},
		{Paste: paste.Paste{ID: "sealed", CreatedAt: created},
			Content: paste.Content{Cipher: &paste.Cipher{Data: []byte("x")}}},
	} {
		if err := store.CreateDocument(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	want := `{"_id":"bare","ownerId":"","title":"","createdAt":1588441258,` +
		`"expiresIn":"never","deletesAt":0,"stars":0,"isPrivate":false,` +
		`"isPublic":false,"tags":[],"encrypted":false,"pasties":[],"edits":[]}` + "\n"
	if got := i.do("paste show bare --json"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	want = strings.NewReplacer("bare", "sealed", `"encrypted":false`, `"encrypted":true`).Replace(want)
	if got := i.do("paste show sealed --json"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	i.wantRefused("paste show bare --raw", "The paste has no pasties.")
	i.wantRefused("paste show sealed --raw", "The paste is encrypted: its code cannot be shown.")
	i.wantRefused("paste edit sealed --title T", "The paste is encrypted: it can be deleted, but not edited.")
}

func TestPasteEdit(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.do("user create epoxy")
	files := write(t, "one.go", "1") + " " + write(t, "two", "2") + " " + write(t, "three", "3")
	created := i.document("code", "paste create --json --owner epoxy --tags a "+files)
	one, two, three := created.Pasties[0].ID, created.Pasties[1].ID, created.Pasties[2].ID
	line := "paste edit " + created.ID
	got := i.document("stdin", line+" --json --title T --pasty "+one+"=- --add "+write(t, "four.rs", "4")+" --remove "+two+
		" --language "+three+"=sql --language "+one+"=C --private --tags c,b")
	if last := len(got.Pasties) - 1; last == 2 {
		got.Pasties[last].ID = ""
	}
	want := []pasty{
		{ID: one, Language: "C", Title: "one.go", Code: "stdin"}, {ID: three, Language: "SQL", Title: "three", Code: "3"},
		{Language: "Rust", Title: "four.rs", Code: "4"},
	}
	if !slices.Equal(got.Pasties, want) || got.Title != "T" || !got.IsPrivate ||
		!slices.Equal(got.Tags, []string{"b", "c"}) ||
		len(got.Edits) != 6 {
		t.Fatalf("got %+v, want the pasties %+v and 6 edits", got, want)
	}
	for n, kind := range []int{0, 2, 3, 2, 5, 4} { // as PasteMyst numbers them
		if got.Edits[n].EditType != kind || got.Edits[n].EditID != 0 {
			t.Errorf("got the edit %+v at %d, want type %d of the edit 0", got.Edits[n], n, kind)
		}
	}
	if got, want := i.do(line+" --public"), "Edited the paste "+created.ID+".\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := i.document("", "paste show --json "+created.ID); !got.IsPublic || got.IsPrivate || len(got.Edits) != 6 {
		t.Errorf("got %+v, want it public, and no more edits", got)
	}
	if got := i.document("", line+" --json --unlisted --tags= --title="); got.IsPublic || len(got.Tags) > 0 ||
		got.Title != "" {
		t.Errorf("got %+v, want it unlisted, without tags and title", got)
	}
	i.wantRefused(line+" --remove "+two, `The paste has no pasty with the id "`+two+`".`)
	i.wantRefused("paste edit unknown --title T", "There is no paste with that id.")
	only := i.document("code", "paste create --json")
	i.wantRefused("paste edit "+only.ID+" --remove "+only.Pasties[0].ID,
		"The paste would have no pasty left: delete the paste instead.")
	i.wantRefused("paste edit "+only.ID+" --private",
		"The paste is anonymous: only a paste with an owner can be private, public or tagged.")
}

// TestPasteList lists the pastes of one user, newest first, including expired ones.
func TestPasteList(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.do("user create epoxy")
	i.do("paste create")
	first := i.field("paste create --owner epoxy --expires-in 1h --json", "_id")
	second := i.field("paste create --owner epoxy --json", "_id")
	i.expire(first)
	text, lines := i.do("paste list epoxy"), i.do("paste list epoxy --json")
	wantLike(t, "paste list", text, "ID        TITLE  OWNER  VISIBILITY  BYTES  CREATED              EXPIRES\n"+
		"RANDOMID  code   epoxy  unlisted    4      YYYY-MM-DD HH:MM:SS  never\n"+
		"RANDOMID  code   epoxy  unlisted    4      YYYY-MM-DD HH:MM:SS  YYYY-MM-DD HH:MM:SS\n")
	const view = `{"id":"RANDOMID","title":"","label":"code",` +
		`"ownerId":"RANDOMID","owner":"epoxy","ownerSuspended":false,` +
		`"visibility":"unlisted","bytes":4,"createdAt":"TIME",`
	wantLike(t, "paste list --json", lines, view+`"expiresAt":null,"active":true}
`+view+`"expiresAt":"TIME","active":false}
`)
	for _, got := range []string{text, lines} {
		if !strings.Contains(got, second) || strings.Index(got, second) > strings.Index(got, first) {
			t.Errorf("got %s, want %s before %s", got, second, first)
		}
	}
	wantStats(i, `{"users":1,"tokens":0,"activePastes":2,"expiredUnsweptPastes":1,"waitingStars":0}`)
}

// star adds a star, as users do on pages.
func (i installation) star(username, id string) {
	i.Helper()
	db := database.SQL(i.T, gormstore.Config{URL: i.url})
	const insert = "INSERT INTO stars (user_id, paste_id, position) SELECT id, ?, 1 FROM users WHERE username = ?"
	if _, err := db.Exec(insert, id, username); err != nil {
		i.Fatal(err)
	}
}

// expire makes a paste one that expired long ago.
func (i installation) expire(id string) {
	i.Helper()
	db := database.SQL(i.T, gormstore.Config{URL: i.url})
	if _, err := db.Exec("UPDATE pastes SET expires_at = created_at WHERE id = ?", id); err != nil {
		i.Fatal(err)
	}
}

// TestPasteDelete checks that a star stays, and waits for the paste to come back.
func TestPasteDelete(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.do("user create epoxy")
	first, second := i.field("paste create --owner epoxy --json", "_id"),
		i.field("paste create --owner epoxy --json", "_id")
	i.star("epoxy", first)
	if got, want := i.do("paste delete "+first), "Deleted the paste "+first+".\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	wantStats(i, `{"users":1,"tokens":0,"activePastes":1,"expiredUnsweptPastes":0,"waitingStars":1}`)
	if got, want := i.do("paste delete "+second+" --json"), `{"deleted":"`+second+`"}`+"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	third := i.field("paste create --json", "_id")
	const refused = "gluepot: \"%s\": There is no paste with that id.\n"
	if got, want := i.run("paste delete "+first+" "+third), (result{
		exitFailed, "Deleted the paste " + third + ".\n", fmt.Sprintf(refused, first),
	}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestPasteListFilters(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.do("user create epoxy")
	own := i.field("paste create --owner epoxy --title ham --json", "_id")
	spam := i.field("paste create --title spam --language Go --json", "_id")
	for line, want := range map[string]string{
		"":                             spam + own,
		"--limit 1":                    spam,
		"--anonymous --limit 0":        spam,
		"--owner epoxy":                own,
		"name:epoxy":                   own,
		"--since 1h":                   spam + own,
		"--since 2020-02-29":           spam + own,
		"--until 2020-02-29T12:00:00Z": "",
		"--contains ode":               spam + own,
		"--contains Ode":               "",
		"--title pam":                  spam,
		"--language Go":                spam,
		"--language go":                spam,
		"--language GOLANG":            spam,
		"--language .go":               spam,
		"--language rs":                "",
		"--larger-than 1kB":            "",
		"--larger-than 3":              spam + own,
	} {
		got := ""
		for printed := range strings.Lines(i.do("paste list --json " + line)) {
			got += printed[len(`{"id":"`):][:8]
		}
		if got != want {
			t.Errorf("paste list %s: got %q, want %q", line, got, want)
		}
	}
	for _, line := range []string{"paste list --language klingon", "paste remove --reason spam --yes --language klingon"} {
		wantRefusal(t, line, i.run(line), exitFailed,
			`There is no language "klingon". Give a name, an alias or an extension.`)
	}
	if got, want := i.do("paste remove --reason spam --yes --language golang"), "Removed 1 paste.\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	const eitherIDsOrFlags = "give either ids or flags that describe pastes. See 'gluepot paste remove --help'"
	for line, want := range map[string]string{
		"paste list --limit -1": `--limit is "-1": give 0 or a positive number. See 'gluepot paste list --help'`,
		"paste list --since tomorrow": `--since is "tomorrow": give a time such as ` +
			`24h, 7d, 2024-02-29 or 2024-02-29T12:30:00Z. ` +
			"See 'gluepot paste list --help'",
		"paste list epoxy --anonymous":             "name one user, or give --anonymous",
		"paste list epoxy --owner epoxy":           "name one user, or give --anonymous",
		"paste list --removed --reported":          "choose one of --removed and --reported. See 'gluepot paste list --help'",
		"paste remove --reason spam":               eitherIDsOrFlags,
		"paste remove --reason spam x --anonymous": eitherIDsOrFlags,
		"paste remove x":                           "give --reason. See 'gluepot paste remove --help'",
	} {
		wantRefusal(t, line, i.run(line), exitUsage, want)
	}
}

func TestPasteRemove(t *testing.T) {
	t.Parallel()
	i := install(t)
	first, second := i.field("paste create --title first --json", "_id"), i.field("paste create --json", "_id")
	if got, want := i.do("paste remove "+first+" --reason spam"), "Removed the paste "+first+".\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	i.wantRefused("paste show "+first, "There is no paste with that id.")
	wantLike(t, "paste list --removed", i.do("paste list --removed"),
		"ID        TITLE  OWNER  VISIBILITY  BYTES  CREATED              EXPIRES  REMOVED              BY        REASON\n"+
			"RANDOMID  first         unlisted    9      YYYY-MM-DD HH:MM:SS  never    YYYY-MM-DD HH:MM:SS  operator  spam\n")
	if got := i.do("paste list --removed --contains code --language txt"); !strings.Contains(got, first) {
		t.Errorf("got %s, want the removed paste", got)
	}
	const question = "Remove 1 paste? [y/N] "
	line := "paste remove --anonymous --reason more"
	if got, want := i.runReading("n\n", line), (result{
		exitFailed, "", question + "gluepot: Nothing was removed. Answer y, or give --yes.\n",
	}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got, want := i.do(line+" --yes"), "Removed 1 paste.\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, id := range []string{first, second} {
		if got, want := i.do("paste restore "+id), "Restored the paste "+id+".\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		i.do("paste show " + id)
	}
	i.wantRefused("paste restore "+first, `"`+first+`": There is no removed paste with that id, or its content is gone. `+
		"Pastes hidden by a suspension return when it ends.")
	wantLike(t, "audit list", i.do("audit list --limit 3"), `AT                   ACTOR     ACT            TARGET    REASON
YYYY-MM-DD HH:MM:SS  operator  paste.restore  RANDOMID  
YYYY-MM-DD HH:MM:SS  operator  paste.restore  RANDOMID  
YYYY-MM-DD HH:MM:SS  operator  paste.remove   RANDOMID  more
`)
	i.do("paste remove " + first + " --reason secret --yes")
	if got, want := i.do("paste delete "+first), "Deleted the paste "+first+".\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	i.wantRefused("paste delete "+first, `"`+first+`": There is no paste with that id.`)
}
