package integration

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/adapters/pastemyst"
	"github.com/gluepot/gluepot/application/imports"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
	"github.com/gluepot/gluepot/tests/database"
)

// exportedPaste is a document of an export, and the paste that an import must store.
type exportedPaste struct {
	document string
	want     paste.Document
}

// number returns a number in one of the forms that exports have.
func number(form int, n int64) any {
	switch form % 5 {
	case 0:
		return n
	case 1:
		return map[string]string{"$numberLong": fmt.Sprint(n)}
	case 2:
		return map[string]string{"$numberDouble": fmt.Sprint(n) + ".0"}
	case 3:
		return json.RawMessage(fmt.Sprint(n) + ".0")
	}
	if n < 1<<31 {
		return map[string]string{"$numberInt": fmt.Sprint(n)}
	}
	return n
}

// oddExport returns documents with everything that years of use leave behind, in many combinations.
func oddExport(t *testing.T, documents int) []exportedPaste {
	t.Helper()
	pick := func(texts []string, i int) string { return texts[i%len(texts)] }
	var (
		owners    = []string{"", "owner", "gone"}
		lifetimes = []string{"never", "1h", "1y", ""}
		titles    = []string{"", "a title", strings.Repeat("ü", 5000), "\x00<&>\u2028😀\"\\", "\r\n"}
		languages = []string{"unknown", "Autodetect", "C++", "Objective-C", "", "odd \x00 one", "Plain Text"}
		codes     = []string{"", "\n", "a\r\nb\r\n", "\x00\x01\x7f", strings.Repeat("main() {\n\t\"<>\"\n}\n", 200), "no end",
			"漢字\ufeff"}
		hunks = []string{"", "@@ -1 +1 @@\n-a\n+b\n",
			"@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n"}
		expiry = time.Now().Unix() + 86400
	)
	exported := make([]exportedPaste, documents)
	for i := range exported {
		created, id := 1_500_000_000+int64(i), fmt.Sprintf("p%07d", i)
		want := paste.Document{
			Paste:   paste.Paste{ID: paste.ID(id), Owner: user.ID(pick(owners, i)), CreatedAt: time.Unix(created, 0).UTC()},
			Content: paste.Content{Lifetime: paste.Lifetime(pick(lifetimes, i))},
		}
		text := map[string]any{
			"_id": id, "ownerId": pick(owners, i), "createdAt": number(i, created), "deletesAt": number(i, 0),
			"expiresIn": pick(lifetimes, i), "stars": number(i, 3),
		}
		if i%2 == 0 {
			text["deletesAt"], want.ExpiresAt = number(i/2, expiry), time.Unix(expiry, 0).UTC()
		}
		switch i % 4 {
		case 0:
			text["isPrivate"], text["isPublic"] = true, false
			want.Visibility = paste.Private
		case 1:
			text["isPrivate"], text["isPublic"] = false, true
			want.Visibility = paste.Public
		case 2:
			text["isPrivate"], text["isPublic"], text["encrypted"] = false, false, false
		}
		if i%3 == 0 {
			text["tags"], want.Tags = []string{"z", "a,b", "", "z", "Ä"}, []string{"", "a,b", "z", "Ä"}
		}
		if i%10 == 9 {
			data := []byte(fmt.Sprintf("\x00\xff%d", i))
			base64 := base64.StdEncoding.EncodeToString(data)
			text["encrypted"] = true
			text["encryptedData"], text["encryptedKey"], text["salt"] = base64, base64, base64
			want.Cipher = &paste.Cipher{Data: []byte(base64), Key: []byte(base64), Salt: []byte(base64)}
			if i%20 == 9 {
				text["encryptedData"] = map[string]any{"$binary": map[string]string{"base64": base64, "subType": "00"}}
				text["encryptedKey"] = map[string]any{"$binary": base64, "$type": "00"}
				want.Cipher.Data, want.Cipher.Key = data, data
			}
			exported[i].want, exported[i].document = want, marshal(t, text)
			continue
		}
		want.Title = pick(titles, i)
		pasties, edits := []any{}, []any{}
		for n := range i % 4 {
			p := paste.Pasty{ID: fmt.Sprint("pasty", n), Title: pick(titles, i+n), Language: pick(languages, i+n),
				Code: pick(codes, i+3*n)}
			want.Pasties = append(want.Pasties, p)
			pasties = append(pasties, map[string]string{"_id": p.ID, "title": p.Title, "language": p.Language, "code": p.Code})
		}
		for n := range i % 8 {
			e := paste.Edit{ID: fmt.Sprint("edit", 9-n), Number: int64(n / 2), Type: paste.EditType(n % 6),
				Text:     pick(codes, i+n),
				Metadata: [][]string{{}, {"pasty0"}, {"pasty0"}, {"pasty0"}, {"x", "", "Go"}, {"x", "\x00", "unknown"}}[n%6],
				At:       time.Unix(created+int64(n), 0).UTC()}
			diff := e.Text
			if e.Type == paste.EditPastyCode {
				e.Text, diff = "", pick(hunks, i)
				if diff != "" {
					e.Text = paste.DiffHeader + diff
					diff = "--- /tmp/pastemyst-" + id +
						"\t2021-05-06 07:08:09.1 +0200\n+++ /tmp/b c\t2021-05-06 07:08:09.2 +0200\n" + diff
				}
			}
			want.Edits = append(want.Edits, e)
			edits = append(edits, map[string]any{"_id": e.ID, "editId": number(i, e.Number),
				"editType": number(i, int64(e.Type)),
				"metadata": append([]string(nil), e.Metadata...), "edit": diff, "editedAt": number(i+1, e.At.Unix())})
		}
		text["title"], text["pasties"], text["edits"] = want.Title, pasties, edits
		exported[i].want, exported[i].document = want, marshal(t, text)
	}
	return exported
}

func marshal(t *testing.T, document any) string {
	t.Helper()
	text, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestImportedDocuments imports an odd export, and compares the pastes with it.
func TestImportedDocuments(t *testing.T) {
	t.Parallel()
	export := oddExport(t, 240)
	texts, orphans := make([]string, len(export)), int64(0)
	for i, record := range export {
		texts[i] = record.document
		if record.want.Owner == "gone" {
			orphans++
		}
	}
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		store := database.Open(t, cfg)
		pastes := gormstore.NewPastes(store)
		results, err := gormstore.NewUsers(store).Import(t.Context(), newAccounts(t, "owner=owner"))
		outcomes(t, results, err)
		run := func(what string, policy paste.Orphans, want imports.Summary) {
			t.Helper()
			source := func(context.Context) imports.Records[paste.Import] {
				return pastemyst.Pastes(strings.NewReader(strings.Join(texts, "\n")))
			}
			importer := imports.New(nil, nil, pastes, time.Now).Pastes
			got, err := importer.Do(t.Context(), audit.Operator(), source, policy, func(line int, _ []byte, reason error) error {
				if export[line-1].want.Owner != "gone" || policy == paste.AnonymizeOrphans {
					t.Errorf("%s: document %d: got the rejection %v, want it stored", what, line, reason)
				}
				return nil
			})
			if err != nil || got != want {
				t.Errorf("%s: got %+v, error %v, want %+v", what, got, err, want)
			}
		}
		documents := int64(len(export))
		run("the first time", paste.RefuseOrphans, imports.Summary{Read: documents, New: documents - orphans,
			Rejected: orphans})
		run("again", paste.RefuseOrphans, imports.Summary{Read: documents, Unchanged: documents - orphans, Rejected: orphans})
		run("with orphans", paste.AnonymizeOrphans, imports.Summary{Read: documents, New: orphans,
			Unchanged: documents - orphans})
		run("with orphans, again", paste.AnonymizeOrphans, imports.Summary{Read: documents, Unchanged: documents})
		for _, record := range export {
			want := record.want
			if want.Owner == "gone" {
				want.Owner = ""
			}
			got, err := pastes.DocumentByID(t.Context(), want.ID)
			if err != nil {
				t.Fatalf("%s: got %v, want no error", record.document, err)
			}
			got.Tags, got.Pasties, got.Edits = slices.Clip(got.Tags), slices.Clip(got.Pasties), slices.Clip(got.Edits)
			if len(got.Pasties) == 0 {
				got.Pasties = nil
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s:\ngot  %+v\nwant %+v", record.document, got, want)
			}
		}
	})
}
