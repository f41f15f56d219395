package pastemyst

import (
	"io"
	"strings"

	"github.com/gluepot/gluepot/application/imports"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
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

// Pastes reads the pastes collection. What a document lacks is zero.
func Pastes(r io.Reader) imports.Records[paste.Document] {
	return read(r, func(d pasteDocument) paste.Document {
		made := paste.Document{
			Paste:   paste.Paste{ID: paste.ID(d.ID), Owner: user.ID(d.Owner)},
			Content: paste.Content{Title: d.Title, Tags: d.Tags, Lifetime: paste.Lifetime(d.ExpiresIn)},
		}
		if d.CreatedAt != nil {
			made.CreatedAt = d.CreatedAt.time()
		}
		if d.DeletesAt != 0 {
			made.ExpiresAt = d.DeletesAt.time()
		}
		switch {
		case d.Private: // the stricter of the two
			made.Visibility = paste.Private
		case d.Public:
			made.Visibility = paste.Public
		}
		if d.Encrypted || len(d.EncryptedData)+len(d.EncryptedKey)+len(d.Salt) > 0 {
			made.Cipher = &paste.Cipher{Data: d.EncryptedData, Key: d.EncryptedKey, Salt: d.Salt}
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
			made.Edits = append(made.Edits, paste.Edit{
				ID: e.ID, Number: int64(e.Number), Type: paste.EditType(e.Type), Metadata: e.Metadata, Text: e.Text, At: e.At.time(),
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
