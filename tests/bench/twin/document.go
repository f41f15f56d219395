package twin

import (
	"math/rand/v2"
	"strconv"
)

// document is a paste with its content.
type document struct {
	ID        string   `json:"_id"`
	OwnerID   string   `json:"ownerId"`
	Title     string   `json:"title"`
	CreatedAt int64    `json:"createdAt"`
	ExpiresIn string   `json:"expiresIn"`
	DeletesAt int64    `json:"deletesAt"`
	Stars     int64    `json:"stars"`
	IsPrivate bool     `json:"isPrivate"`
	IsPublic  bool     `json:"isPublic"`
	Tags      []string `json:"tags"`
	Encrypted bool     `json:"encrypted"`
	Pasties   []pasty  `json:"pasties"`
	Edits     []edit   `json:"edits"`
}

type pasty struct {
	ID       string `json:"_id"`
	Language string `json:"language"`
	Title    string `json:"title"`
	Code     string `json:"code"`
}

type edit struct {
	ID       string   `json:"_id"`
	EditID   int64    `json:"editId"`
	EditType int16    `json:"editType"`
	Metadata []string `json:"metadata"`
	Edit     string   `json:"edit"`
	EditedAt int64    `json:"editedAt"`
}

// bytes returns the number of bytes of titles and code.
func (d *document) bytes() int {
	count := len(d.Title)
	for _, p := range d.Pasties {
		count += len(p.Title) + len(p.Code)
	}
	return count
}

// newID returns eight digits and letters. The first is a letter, because ids of existing pastes begin with a digit.
func newID() string {
	const place = 36 * 36 * 36 * 36 * 36 * 36 * 36 // of the first character
	return strconv.FormatUint(10*place+rand.Uint64N(26*place), 36)
}
