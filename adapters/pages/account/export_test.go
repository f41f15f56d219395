package account_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
	"github.com/gluepot/gluepot/tests/fake"
	"github.com/gluepot/gluepot/tests/visit"
)

// unzip returns the files of a ZIP file.
func unzip(t *testing.T, packed []byte) map[string]string {
	t.Helper()
	reader, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string]string)
	for _, file := range reader.File {
		content, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(content)
		if _, twice := files[file.Name]; err != nil || twice {
			t.Errorf("%s: got error %v, twice: %v, want one file of that name", file.Name, err, twice)
		}
		files[file.Name] = string(text)
	}
	return files
}

func TestExport(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	epoxy, mortar := s.User("resin", true), s.User("mortar", true)
	err := s.Users.Update.Own(
		t.Context(),
		audit.By(token.Viewer{User: user.User{ID: epoxy}}, netip.Addr{}),
		users.Profile{Name: "Epoxy", DefaultLanguage: "Go"},
	)
	if err != nil {
		t.Fatal(err)
	}
	change := func(_ user.User, credentials *identity.Credentials) error {
		credentials.Password = "the hash"
		credentials.Passkeys = []identity.Passkey{{ID: "the-id", Name: "the phone", PublicKey: []byte("the key")}}
		return nil
	}
	err = (fake.Identities{Store: s.Store}).ChangeCredentials(t.Context(), netip.Addr{}, epoxy, "", change)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 21, 22, 45, 0, 0, time.UTC)
	own := func(id string, change func(*paste.Document), pasties ...paste.Pasty) {
		document := visit.Content(pasties...)
		at = at.Add(-time.Minute)
		document.Owner, document.CreatedAt = epoxy, at
		change(&document)
		s.Holds(id, document)
	}
	own("names000", func(d *paste.Document) { d.Tags = []string{"mine"} },
		paste.Pasty{Title: "../../etc/passwd", Code: "a"}, paste.Pasty{Title: "/Main.go", Code: "b"},
		paste.Pasty{Title: "main.go", Code: "c"},
		paste.Pasty{Title: "..", Language: "Go", Code: "d"}, paste.Pasty{Title: "nul.txt", Code: "e"},
		paste.Pasty{Title: `C:\x`, Code: "f"},
	)
	own("private0", func(d *paste.Document) {
		d.Visibility = paste.Private
	}, paste.Pasty{Title: "secret.txt", Code: "mine alone"})
	own("burning0", func(d *paste.Document) { d.Burns = true }, paste.Pasty{Title: "once.txt", Code: "to be read once"})
	own("cipher00", func(d *paste.Document) { d.Title, d.Cipher = "", &paste.Cipher{Data: []byte("x")} })
	own("sealed00", func(d *paste.Document) {
		d.Title, d.Cipher = "", &paste.Cipher{Version: paste.CipherVersion, Data: []byte("what a client has encrypted")}
	})
	own("con", func(*paste.Document) {}, paste.Pasty{Title: "a.txt", Code: "of an import"})
	own("Con", func(*paste.Document) {}, paste.Pasty{Title: "a.txt", Code: "of an import, too"})
	own("expired0", func(d *paste.Document) { d.ExpiresAt = at.Add(time.Second) }, paste.Pasty{Code: "over"})
	s.Holds("others00", func() paste.Document {
		document := visit.Content(paste.Pasty{Title: "others.txt", Code: "not mine"})
		document.Owner = mortar
		return document
	}())

	_, secret := s.Session("epoxy")
	answer, _, err := s.As(secret, "/account")
	if err != nil {
		t.Fatal(err)
	}
	visit.WantIn(t, answer.Body.String(), `action="/account/export"`, `href="/account/security"`)
	for range 2 { // pastes that burn stay
		answer, _, err = s.Post(secret, "/account/export", nil)
		if err != nil || answer.Code != http.StatusOK || !answer.Flushed {
			t.Fatalf("got %v, %d, flushed %v, want a stream", err, answer.Code, answer.Flushed)
		}
	}
	if got := answer.Header(); got.Get("Content-Type") != "application/zip" ||
		got.Get("Content-Disposition") != "attachment; filename=Epoxy.zip" ||
		got.Get("Cache-Control") != "private, no-store" {
		t.Errorf("got %v, want a download", got)
	}
	files := unzip(t, answer.Body.Bytes())
	for _, text := range files {
		visit.WantNotIn(t, text, "the hash", "the-id", "the phone", "the key", "dGhlIGtleQ")
	}
	var account map[string]any
	if err := json.Unmarshal([]byte(files["user.json"]), &account); err != nil || account["username"] != "Epoxy" ||
		!strings.Contains(files["user.json"], `"admin":false,"formerNames":["resin"],"tokens":[{`) ||
		!strings.Contains(files["user.json"], `"sessions":[{"name":"`) || strings.Contains(files["user.json"], secret) {
		t.Errorf("got %v, %s, want the account without secrets", err, files["user.json"])
	}
	var list []struct {
		ID        string `json:"_id"`
		Encrypted bool
		IsPrivate bool
		Tags      []string
		Pasties   []struct{ Code string }
		Cipher    string
	}
	if err := json.Unmarshal([]byte(files["pastes.json"]), &list); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range list {
		got = append(got, fmt.Sprintf("%s %v %v %v %d %d", p.ID, p.Encrypted, p.IsPrivate, p.Tags, len(p.Pasties),
			len(p.Cipher)))
	}
	want := []string{
		"names000 false false [mine] 6 0", "private0 false true [] 1 0", "burning0 false false [] 1 0",
		"cipher00 true false [] 0 0",
		"sealed00 true false [] 0 36", "con false false [] 1 0", "Con false false [] 1 0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	delete(files, "user.json")
	delete(files, "pastes.json")
	wantFiles := map[string]string{
		"etc-passwd": "a", "Main.go": "b", "main (2).go": "c", "pasty003.go": "d", "_nul.txt": "e", "C_-x": "f",
	}
	for name, code := range wantFiles {
		if files["pastes/names000/"+name] != code {
			t.Errorf("%s: got %q, want %q", name, files["pastes/names000/"+name], code)
		}
	}
	if files["pastes/private0/secret.txt"] != "mine alone" || files["pastes/burning0/once.txt"] != "to be read once" ||
		files["pastes/_con/a.txt"] != "of an import" || files["pastes/_Con (2)/a.txt"] != "of an import, too" ||
		len(files) != len(wantFiles)+4 {
		t.Errorf("got %q, want the user's own files and no others", files)
	}
	_, secret = s.Session("mortar")
	if answer, _, err := s.Post(secret, "/account/export", nil); err != nil || len(unzip(t, answer.Body.Bytes())) != 3 {
		t.Errorf("got %v, want the account, the list and the one paste of the other user", err)
	}
}

// manyPastes is a store in which each user has many pastes, generated on demand.
type manyPastes struct {
	fake.Pastes

	owner  user.ID
	number int
	code   string
	most   uint64 // bytes in use when one of the pastes was read
}

var beginning = time.Date(2026, 11, 21, 22, 45, 0, 0, time.UTC)

func (m *manyPastes) ActiveIDs(_ context.Context, _ user.ID,
	after paste.Cursor, limit int) (ids []paste.ID, last paste.Cursor, err error) {
	next := 0
	if after.ID != "" {
		next = int(beginning.Sub(after.CreatedAt)/time.Second) + 1
	}
	for ; next < m.number && len(ids) < limit; next++ {
		last = paste.Cursor{CreatedAt: beginning.Add(-time.Duration(next) * time.Second),
			ID: paste.ID(fmt.Sprintf("p%07d", next))}
		ids = append(ids, last.ID)
	}
	return ids, last, nil
}

func (m *manyPastes) DocumentByID(_ context.Context, id paste.ID) (paste.Document, error) {
	number := 0
	_, _ = fmt.Sscanf(string(id), "p%d", &number)
	if number%500 == 0 {
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		m.most = max(m.most, memory.HeapInuse)
	}
	document := visit.Content(paste.Pasty{Title: "a.txt", Code: strings.Clone(m.code)})
	document.ID, document.Owner, document.CreatedAt = id, m.owner, beginning.Add(-time.Duration(number)*time.Second)
	return document, nil
}

// lastPageStore is a store that calls a function once all pastes are read.
type lastPageStore struct {
	fake.Pastes

	atEnd func()
}

func (s *lastPageStore) ActiveIDs(ctx context.Context, owner user.ID,
	after paste.Cursor, limit int) ([]paste.ID, paste.Cursor, error) {
	ids, last, err := s.Pastes.ActiveIDs(ctx, owner, after, limit)
	if len(ids) == 0 {
		s.atEnd()
	}
	return ids, last, err
}

// TestExportEnds ends the session of an export, which reads all pastes twice, between the two.
func TestExportEnds(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	document := visit.Content(paste.Pasty{Title: "a.txt", Code: "a"})
	document.Owner, document.CreatedAt = s.User("Epoxy", true), beginning
	s.Holds("before00", document)
	_, secret := s.Session("epoxy")
	store := &lastPageStore{Pastes: fake.Pastes{Store: s.Store}, atEnd: func() {
		if _, err := s.Modules.Tokens.Sessions.EndAll(t.Context(), audit.Operator(), "epoxy"); err != nil {
			t.Error(err)
		}
	}}
	s.Modules.Pastes = pastes.New(store, fake.Users{Store: s.Store}, pastes.Options{Rules: s.Rules}, time.Now)
	if _, _, err := s.Post(secret, "/account/export", nil); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("got %v, want the export to end with its session", err)
	}
}

// observedStore is a store that reports each paste that is read.
type observedStore struct {
	fake.Pastes

	onRead func()
}

func (s *observedStore) DocumentByID(ctx context.Context, id paste.ID) (paste.Document, error) {
	s.onRead()
	return s.Pastes.DocumentByID(ctx, id)
}

// client is a recorder that reports each part that it receives, and has a memory budget.
type client struct {
	*httptest.ResponseRecorder

	onWrite func()
	hold    func(bytes int64, waits bool) error
}

func (c client) Write(p []byte) (int, error) {
	c.onWrite()
	return c.ResponseRecorder.Write(p)
}

func (c client) Hold(bytes int64, waits bool) error { return c.hold(bytes, waits) }

// TestExportsAreQueued checks that an export holds a slot of the queue while it reads pastes, and none while it sends
// them, that each user has one export at a time, and that a paste for which there is no memory is read again.
func TestExportsAreQueued(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	secrets := make(map[string]string)
	for _, name := range []string{"Epoxy", "mortar"} {
		document := visit.Content(paste.Pasty{Title: "a.txt", Code: strings.Repeat("a line\n", 1000)})
		document.Owner, document.CreatedAt = s.User(name, true), beginning
		s.Holds("of"+strings.ToLower(name), document)
		_, secrets[name] = s.Session(strings.ToLower(name))
	}
	slots := s.Large.Slots
	reads := 0
	store := &observedStore{Pastes: fake.Pastes{Store: s.Store}, onRead: func() {
		if reads++; len(slots) != 1 {
			t.Errorf("reading: got %d slots taken, want one", len(slots))
		}
	}}
	s.Modules.Pastes = pastes.New(store, fake.Users{Store: s.Store}, pastes.Options{Rules: s.Rules}, time.Now)
	enough := func(int64, bool) error { return nil }
	export := func(name string, w client) error {
		_, err := s.Respond(w, s.Sending(secrets[name], "/account/export", nil))
		return err
	}
	parts := 0
	w := client{httptest.NewRecorder(), func() {
		if parts++; len(slots) != 0 {
			t.Errorf("sending: got %d slots taken, want none", len(slots))
		}
		if parts > 1 {
			return
		}
		other := client{httptest.NewRecorder(), func() {}, enough}
		if err := export("Epoxy", other); !fault.Is(err, fault.Exhausted) {
			t.Errorf("a second export of a user: got %v, want fault.Exhausted", err)
		}
		if err := export("mortar", other); err != nil || len(unzip(t, other.Body.Bytes())) != 3 {
			t.Errorf("an export of another user: got %v, want no error", err)
		}
	}, enough}
	if err := export("Epoxy", w); err != nil || parts == 0 || len(unzip(t, w.Body.Bytes())) != 3 {
		t.Errorf("got %v in %d parts, want an export", err, parts)
	}

	reads = 0
	var waited, held int64
	short := client{httptest.NewRecorder(), func() {}, func(bytes int64, waits bool) error {
		switch {
		case waits && len(slots) > 0:
			t.Error("got a wait for memory in a slot, want it outside")
		case waits && waited == 0: // the first wait fails
			waited = bytes
			return fault.New(fault.Unavailable, "no memory")
		case waits:
			held = bytes
		case bytes > held:
			return fault.New(fault.Unavailable, "no memory")
		}
		return nil
	}}
	if err := export("Epoxy", short); err != nil || len(unzip(t, short.Body.Bytes())) != 3 {
		t.Errorf("got %v, want an export after the second wait", err)
	}
	if waited < 7000 || reads < 3 {
		t.Errorf("got a wait for %d bytes and %d reads, want at least 7000 and 3", waited, reads)
	}
}

// counter is a writer that counts bytes and drops them.
type counter struct {
	header http.Header
	bytes  int
}

func (c *counter) Header() http.Header { return c.header }
func (c *counter) WriteHeader(int)     {}
func (c *counter) Flush()              {}
func (c *counter) Write(b []byte) (int, error) {
	c.bytes += len(b)
	return len(b), nil
}

// TestLargeExport checks that few of 3,000 pastes of 32 KiB are in memory at once.
func TestLargeExport(t *testing.T) {
	s := visit.New(t)
	owner := s.User("Epoxy", true)
	_, secret := s.Session("epoxy")
	store := &manyPastes{Pastes: fake.Pastes{Store: s.Store}, owner: owner, number: 3_000,
		code: strings.Repeat("a line of code\n", 2<<10)}
	if visit.Raced {
		store.number = 1_000
	}
	s.Modules.Pastes = pastes.New(store, fake.Users{Store: s.Store}, pastes.Options{Rules: s.Rules}, time.Now)
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	w := &counter{header: make(http.Header)}
	if _, err := s.Respond(w, s.Sending(secret, "/account/export", nil)); err != nil {
		t.Fatal(err)
	}
	const most = 64 << 20 // of 190 MiB, garbage included
	if inUse := store.most - min(store.most, before.HeapInuse); inUse > most || w.bytes < store.number<<7 {
		t.Errorf("got %d MiB in use and %d KiB written, want at most %d MiB", inUse>>20, w.bytes>>10, most>>20)
	}
}
