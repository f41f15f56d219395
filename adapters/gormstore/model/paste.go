package model

import (
	"database/sql"
	"time"

	"gorm.io/gorm"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// Paste is a row of pastes: what lists and decisions need.
type Paste struct {
	ID           string `gorm:"primaryKey"`
	OwnerID      sql.NullString
	CreatedAt    time.Time `gorm:"autoCreateTime:false"`
	ExpiresAt    sql.NullTime
	Burns        bool
	Lifetime     string
	Visibility   int16
	Title        Text
	Encrypted    bool
	Pasties      int
	Tags         int
	Edits        int
	ContentBytes int64
	HistoryBytes int64
	DeleteKey    []byte
	Origin       sql.NullString
	EditedAt     sql.NullTime // of the newest entry of the history
	Unshared     bool         // here: see paste.Unshared
	RemovedAt    sql.NullTime // since when only operators know of it
	Hidden       bool         // removed until its owner is suspended no longer
	// set only by reads of one paste: gormstore.Pastes.take, the dataloader
	Stars   int64 `gorm:"->;-:migration" json:"-"`
	Starred bool  `gorm:"->;-:migration" json:"-"`
}

// Domain returns the paste.
func (r *Paste) Domain() paste.Paste {
	p := paste.Paste{
		ID: paste.ID(r.ID), Owner: user.ID(r.OwnerID.String), CreatedAt: r.CreatedAt.UTC(), ExpiresAt: r.ExpiresAt.Time.UTC(),
		Burns: r.Burns,
	}
	copy(p.DeleteKey[:], r.DeleteKey)
	return p
}

// WithoutContent returns the paste without the content of other tables. An empty cipher marks it as encrypted.
func (r *Paste) WithoutContent() paste.Document {
	d := paste.Document{
		Paste: r.Domain(), Stars: r.Stars, Starred: r.Starred,
		Content: paste.Content{
			Title: string(r.Title), Visibility: paste.Visibility(r.Visibility), Lifetime: paste.Lifetime(r.Lifetime),
			Origin: paste.ID(r.Origin.String),
		},
	}
	if r.Encrypted {
		d.Cipher = &paste.Cipher{Version: paste.CipherVersion}
	}
	return d
}

// Pasty is one text of a paste.
type Pasty struct {
	PasteID  string `gorm:"primaryKey"`
	Position int    `gorm:"primaryKey;autoIncrement:false"`
	ID       Text
	Title    Text
	Language Text
	Code     Text
}

// PasteTag is one tag of a paste.
type PasteTag struct {
	PasteID  string `gorm:"primaryKey"`
	Position int    `gorm:"primaryKey;autoIncrement:false"`
	Tag      Text
}

// PasteEdit is one entry of a paste's history.
type PasteEdit struct {
	PasteID  string `gorm:"primaryKey"`
	Position int64  `gorm:"primaryKey;autoIncrement:false"`
	ID       Text
	Number   int64
	Type     int16
	Metadata []string `gorm:"serializer:json"`
	Text     Text
	EditedAt time.Time
}

// PasteCipher is the content of an encrypted paste.
type PasteCipher struct {
	PasteID string `gorm:"primaryKey"`
	Version int
	Data    []byte
	Key     []byte
	Salt    []byte
}

// BeforeCreate implements GORM's hook: GORM would store nil as NULL.
func (r *PasteCipher) BeforeCreate(*gorm.DB) error {
	for _, part := range []*[]byte{&r.Data, &r.Key, &r.Salt} {
		if *part == nil {
			*part = []byte{}
		}
	}
	return nil
}

// Star is a paste that a user has starred, perhaps one that is not there yet.
type Star struct {
	UserID   string `gorm:"primaryKey"`
	PasteID  string `gorm:"primaryKey"`
	Position int
}

// PasteText is the searchable text of a paste.
type PasteText struct {
	PasteID   string `gorm:"primaryKey"`
	Public    bool
	Titles    string
	Text      string
	Tags      string
	Languages string
}
