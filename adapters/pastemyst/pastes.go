package pastemyst

import (
	"io"
	"strings"
	"time"

	"github.com/gluepot/gluepot/application/imports"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// pasteDocument is a document of the pastes collection.
type pasteDocument struct {
	ID            string       `json:"_id"`
	Owner         *string      `json:"ownerId"`
	CreatedAt     *number      `json:"createdAt"`
	DeletesAt     *number      `json:"deletesAt"`
	ExpiresIn     *string      `json:"expiresIn"`
	Private       *bool        `json:"isPrivate"`
	Public        *bool        `json:"isPublic"`
	Tags          list[string] `json:"tags"`
	Title         *string      `json:"title"`
	Pasties       list[pasty]  `json:"pasties"`
	Edits         list[edit]   `json:"edits"`
	Encrypted     bool         `json:"encrypted"`
	EncryptedData binary       `json:"encryptedData"`
	EncryptedKey  binary       `json:"encryptedKey"`
	Salt          binary       `json:"salt"`
}

type pasty struct {
	ID       string `json:"_id"`
	Title    string `json:"title"`
	Language string `json:"language"`
	Code     string `json:"code"`
}

type edit struct {
	ID       string   `json:"_id"`
	Number   number   `json:"editId"`
	Type     number   `json:"editType"`
	Metadata metadata `json:"metadata"`
	Text     string   `json:"edit"`
	At       number   `json:"editedAt"`
}

// Pastes reads the pastes collection.
func Pastes(r io.Reader) imports.Records[paste.Import] {
	return read(r, func(d pasteDocument) paste.Import {
		record := paste.Import{
			ID: paste.ID(d.ID), Owner: (*user.ID)(d.Owner), Lifetime: (*paste.Lifetime)(d.ExpiresIn),
			Private: d.Private, Public: d.Public, Title: d.Title, Tags: d.Tags,
		}
		if d.CreatedAt != nil {
			record.CreatedAt = d.CreatedAt.time()
		}
		if d.DeletesAt != nil {
			record.ExpiresAt = new(time.Time)
			if *d.DeletesAt != 0 {
				*record.ExpiresAt = d.DeletesAt.time()
			}
		}
		if d.Encrypted || len(d.EncryptedData)+len(d.EncryptedKey)+len(d.Salt) > 0 {
			record.Cipher = &paste.Cipher{Data: d.EncryptedData, Key: d.EncryptedKey, Salt: d.Salt}
		}
		if d.Pasties != nil {
			record.Pasties = make([]paste.Pasty, len(d.Pasties))
		}
		for i, p := range d.Pasties {
			record.Pasties[i] = paste.Pasty(p)
		}
		if d.Edits != nil {
			record.Edits = make([]paste.Edit, len(d.Edits))
		}
		for i, e := range d.Edits {
			if e.Type == number(paste.EditPastyCode) {
				e.Text = withoutNames(e.Text)
			}
			record.Edits[i] = paste.Edit{
				ID: e.ID, Number: int64(e.Number), Type: paste.EditType(e.Type), Metadata: e.Metadata, Text: e.Text,
				At: e.At.time(),
			}
		}
		return record
	})
}

// withoutNames returns a diff as diff -u prints it without the names and times of the files: PasteMyst's were
// temporary.
func withoutNames(diff string) string {
	before, rest, _ := strings.Cut(diff, "\n")
	after, hunks, _ := strings.Cut(rest, "\n")
	if !strings.HasPrefix(before, "--- ") || !strings.HasPrefix(after, "+++ ") {
		return diff
	}
	return paste.DiffHeader + hunks
}
