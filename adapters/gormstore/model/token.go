package model

import (
	"database/sql"
	"time"

	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// AccessToken is a token or a session.
type AccessToken struct {
	ID         string `gorm:"primaryKey"`
	UserID     string
	Kind       uint8
	Scope      uint8
	ParentID   sql.NullString
	Hash       []byte
	Name       string
	CreatedAt  time.Time `gorm:"autoCreateTime:false"`
	ExpiresAt  sql.NullTime
	LastUsedAt sql.NullTime
	RevokedAt  sql.NullTime
	User       User `gorm:"foreignKey:UserID"`
}

// NewAccessToken is the inverse of Domain.
func NewAccessToken(t token.Token) *AccessToken {
	return &AccessToken{
		ID: string(t.ID), UserID: string(t.Owner), Kind: uint8(t.Kind), Scope: uint8(t.Scope),
		ParentID: Optional(string(t.Parent)), Hash: t.Hash[:], Name: t.Name,
		CreatedAt: Instant(t.CreatedAt),
		ExpiresAt: Nullable(t.ExpiresAt), LastUsedAt: Nullable(t.LastUsedAt), RevokedAt: Nullable(t.RevokedAt),
	}
}

// Domain returns the token.
func (r *AccessToken) Domain() token.Token {
	t := token.Token{
		ID: token.ID(r.ID), Owner: user.ID(r.UserID), Kind: token.Kind(r.Kind), Scope: token.Scope(r.Scope),
		Parent: token.ID(r.ParentID.String), Name: r.Name, CreatedAt: r.CreatedAt.UTC(),
		ExpiresAt: r.ExpiresAt.Time.UTC(), LastUsedAt: r.LastUsedAt.Time.UTC(), RevokedAt: r.RevokedAt.Time.UTC(),
	}
	copy(t.Hash[:], r.Hash)
	return t
}
