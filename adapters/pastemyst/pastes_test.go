package pastemyst

import (
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/application/imports"
	"github.com/gluepot/gluepot/domain/paste"
)

// onePaste reads a single document.
func onePaste(t *testing.T, document string) imports.Record[paste.Import] {
	t.Helper()
	records := collect(t, Pastes(strings.NewReader(document)))
	if len(records) != 1 {
		t.Fatalf("%s: got %d records, want 1", document, len(records))
	}
	return records[0]
}

func TestPastes(t *testing.T) {
	t.Parallel()
	got := onePaste(t,
		`{"_id":"p1","ownerId":"u1","createdAt":{"$numberInt":"5"},"deletesAt":{"$numberDouble":"65.0"},"expiresIn":"1w",`+
			`"isPrivate":true,"isPublic":false,"encrypted":false,"stars":{"$numberLong":"9"},`+
			`"title":"a \"title\"\u0000","tags":["b","","a"],`+
			`"pasties":[{"_id":"x","title":"\ud83d\ude00","language":"unknown","code":"a\r\n\u0000\t\\\/\b\f"},{"more":1}],`+
			`"edits":[{"_id":"e2","editId":1.0,"editType":{"$numberInt":"5"},"metadata":["x","","Go"],`+
			`"edit":"code","editedAt":{"$numberLong":"7"}},{"_id":"e1","edit":"old","metadata":null}]}`)
	at := func(seconds int64) time.Time { return time.Unix(seconds, 0).UTC() }
	want := paste.Document{
		Paste: paste.Paste{ID: "p1", Owner: "u1", CreatedAt: at(5), ExpiresAt: at(65)},
		Content: paste.Content{
			Title: "a \"title\"\x00", Visibility: paste.Private, Tags: []string{"b", "", "a"}, Lifetime: "1w",
			Pasties: []paste.Pasty{{ID: "x", Title: "😀", Language: "unknown", Code: "a\r\n\x00\t\\/\b\f"}, {}},
			Edits: []paste.Edit{
				{ID: "e2", Number: 1, Type: 5, Metadata: []string{"x", "", "Go"}, Text: "code", At: at(7)},
				{ID: "e1", Text: "old", At: at(0)},
			},
		},
	}
	if over := got.Value.Over(paste.Document{}, false); got.Err != nil || !reflect.DeepEqual(over, want) {
		t.Errorf("got %+v, error %v, want %+v", over, got.Err, want)
	}
	for _, document := range []string{
		`{"_id":"p1"}`,
		`{"_id":"p1","ownerId":null,"createdAt":null,"deletesAt":null,"expiresIn":null,"isPrivate":null,` +
			`"isPublic":null,"encrypted":null,"title":null,"tags":null,"pasties":null,"edits":null}`,
	} {
		if got := onePaste(t, document); got.Err != nil || !reflect.DeepEqual(got.Value, paste.Import{ID: "p1"}) {
			t.Errorf("%s: got %+v, error %v, want nothing but the id", document, got.Value, got.Err)
		}
	}
	for document, want := range map[string]paste.Visibility{
		`{}`: paste.Unlisted, `{"isPublic":true}`: paste.Public, `{"isPrivate":true,"isPublic":true}`: paste.Private,
	} {
		got := onePaste(t, document)
		if over := got.Value.Over(paste.Document{}, false); got.Err != nil || over.Visibility != want ||
			!over.CreatedAt.IsZero() {
			t.Errorf("%s: got %+v, error %v, want %s and no time", document, got.Value, got.Err, want)
		}
	}
	for _, document := range []string{
		`{"pasties":{}}`, `{"pasties":[null]}`, `{"pasties":[[]]}`, `{"pasties":[{"code":1}]}`, `{"edits":[{"editId":"1"}]}`,
		`{"title":[]}`,
		`{"edits":[{"metadata":[1]}]}`, `{"edits":""}`, `{"isPrivate":1}`, `{"tags":"a,b"}`, `{"salt":1}`, `{"salt":{}}`,
		`{"salt":{"$binary":1}}`, `{"salt":{"$binary":"?"}}`, `{"salt":{"$binary":{"base64":{}}}}`, `{"salt":[]}`,
	} {
		if got := onePaste(t, document); got.Err == nil {
			t.Errorf("%s: got %+v, want an error", document, got.Value)
		}
	}
}

func TestEncryptedPastes(t *testing.T) {
	t.Parallel()
	for form, want := range map[string]string{
		`null`: "", `""`: "", `"AA=="`: "AA==", `"\u0000\/x"`: "\x00/x", `{"$binary":"AP8=","$type":"00"}`: "\x00\xff",
		`{"$binary":{"base64":"AP8=","subType":"00"}}`:       "\x00\xff",
		`{"$binary":{"subType":"00","base64":"\/\u0041=="}}`: "\xfc",
	} {
		got := onePaste(t, fmt.Sprintf(`{"encrypted":true,"encryptedData":%s,"encryptedKey":%s,"salt":%s}`, form, form, form))
		p := got.Value.Cipher
		if got.Err != nil || p == nil || string(p.Data) != want || string(p.Key) != want || string(p.Salt) != want {
			t.Errorf("%s: got %+v, error %v, want %q three times", form, p, got.Err, want)
		}
	}
}

func TestDiffsLoseNames(t *testing.T) {
	t.Parallel()
	const hunk = "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+--- b\n"
	for diff, want := range map[string]string{
		"": "", hunk: hunk, "--- ": "--- ", "--- a\n": "--- a\n", "--- a\nb\n": "--- a\nb\n",
		"---\n+++\n" + hunk: "---\n+++\n" + hunk,
		paste.DiffHeader:    paste.DiffHeader,
		"--- /tmp/a b\t2021-03-04 05:06:07.089 +0100\n+++ /tmp/c\t2021\n" + hunk: paste.DiffHeader + hunk,
	} {
		for _, order := range []string{`{"editType":3,"edit":%s}`, `{"edit":%s,"editType":{"$numberInt":"3"}}`} {
			text, _ := json.Marshal(diff) // a string
			got := onePaste(t, `{"edits":[`+fmt.Sprintf(order, text)+`]}`)
			if got.Err != nil || got.Value.Edits[0].Text != want {
				t.Errorf("%q: got %+v, error %v, want %q", diff, got.Value, got.Err, want)
			}
		}
		if revertible := strings.Replace(want, "+--- b", "+b", 1); strings.HasPrefix(want, "--- \n") &&
			strings.Contains(want, "@@") {
			if before, err := paste.Revert("b\n", revertible); err != nil || before != "a" {
				t.Errorf("%q: got %q, error %v, want a", revertible, before, err)
			}
		}
	}
	if got := onePaste(t,
		`{"edits":[{"editType":2,"edit":"--- a\n+++ b\n"}]}`); got.Value.Edits[0].Text != "--- a\n+++ b\n" {
		t.Errorf("got %q, want an old language unchanged", got.Value.Edits[0].Text)
	}
}

// TestBoundsOfPastes reads documents that would take many times their own length if they were decoded naively.
func TestBoundsOfPastes(t *testing.T) { // not parallel: it counts allocated bytes
	for name, document := range map[string]string{
		"pasties":         `{"pasties":[` + strings.Repeat(`{},`, much/3) + `{}]}`,
		"edits":           `{"edits":[` + strings.Repeat(`{},`, much/3) + `{}]}`,
		"tags":            `{"tags":[` + strings.Repeat(`"",`, much/3) + `""]}`,
		"metadata":        `{"edits":[{"metadata":[` + strings.Repeat(`"",`, much/3) + `""]}]}`,
		"many edits":      `{"edits":[` + strings.Repeat(`{"metadata":["","",""]},`, much/16) + `{}]}`,
		"binaries":        `{"salt":` + strings.Repeat(`{"$binary":`, 9_990) + `1` + strings.Repeat(`}`, 9_990) + `}`,
		"invalid UTF-8":   `{"title":"` + strings.Repeat("\xff", much) + `"}`,
		"a surrogate":     `{"title":"` + strings.Repeat(`\ud800`, much/6) + `"}`,
		"escaped letters": `{"title":"` + strings.Repeat(`\u0000`, much/6) + `"}`,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for _, err := range Pastes(strings.NewReader(document)) {
			if err != nil {
				t.Fatal(err)
			}
		}
		runtime.ReadMemStats(&after)
		allocated := after.TotalAlloc - before.TotalAlloc
		t.Logf("%s: %d bytes allocated", name, allocated)
		if allocated > mostAllocated {
			t.Errorf("%s: got %d bytes allocated, want at most %d", name, allocated, mostAllocated)
		}
	}
}
