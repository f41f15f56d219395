package pastemyst

import (
	"io"
	"strings"

	"github.com/gluepot/gluepot/application/imports"
	"github.com/gluepot/gluepot/domain/paste"
)

// pasteDocument is a document of the pastes collection.
type pasteDocument struct {
	ID            string       `json:"_id"`
	Owner         string       `json:"ownerId"`
	CreatedAt     *number      `json:"createdAt"`
	DeletesAt     number       `json:"deletesAt"`
	ExpiresIn     string       `json:"expiresIn"`
	Private       bool         `json:"isPrivate"`
	Public        bool         `json:"isPublic"`
	Tags          list[string] `json:"tags"`
	Title         string       `json:"title"`
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
func Pastes(r io.Reader) imports.Records[imports.Paste] {
	return read(r, func(d pasteDocument) imports.Paste {
		made := imports.Paste{
			ID: d.ID, Owner: d.Owner, CreatedAt: (*int64)(d.CreatedAt), DeletesAt: int64(d.DeletesAt), ExpiresIn: d.ExpiresIn,
			Private: d.Private, Public: d.Public, Tags: d.Tags, Title: d.Title,
			Encrypted: d.Encrypted, EncryptedData: d.EncryptedData, EncryptedKey: d.EncryptedKey, Salt: d.Salt,
		}
		if d.Pasties != nil {
			made.Pasties = make([]paste.Pasty, len(d.Pasties))
		}
		for i, p := range d.Pasties {
			made.Pasties[i] = paste.Pasty(p)
		}
		for _, e := range d.Edits {
			if e.Type == number(paste.EditPastyCode) {
				e.Text = withoutNames(e.Text)
			}
			made.Edits = append(made.Edits, imports.Edit{
				ID: e.ID, Number: int64(e.Number), Type: int64(e.Type), Metadata: e.Metadata, Text: e.Text, At: int64(e.At),
			})
		}
		return made
	})
}

// withoutNames returns a diff as diff -u prints it without the names and times of the files: PasteMyst's were temporary.
func withoutNames(diff string) string {
	before, rest, _ := strings.Cut(diff, "\n")
	after, hunks, _ := strings.Cut(rest, "\n")
	if !strings.HasPrefix(before, "--- ") || !strings.HasPrefix(after, "+++ ") {
		return diff
	}
	return paste.DiffHeader + hunks
}
