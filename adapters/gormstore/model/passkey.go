package model

import (
	"database/sql"
	"time"

	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/user"
)

// Passkey is a row of passkeys.
type Passkey struct {
	ID             string `gorm:"primaryKey"`
	UserID         string
	Name           string
	PublicKey      []byte
	Counter        uint32
	BackupEligible bool
	CreatedAt      time.Time `gorm:"autoCreateTime:false"`
	LastUsedAt     sql.NullTime
}

// NewPasskey is the inverse of Domain.
func NewPasskey(owner string, p identity.Passkey) Passkey {
	return Passkey{
		ID: string(p.ID), UserID: owner, Name: p.Name, PublicKey: p.PublicKey, Counter: p.Counter,
		BackupEligible: p.BackupEligible, CreatedAt: Instant(p.CreatedAt), LastUsedAt: Nullable(p.LastUsedAt),
	}
}

// Domain returns the passkey.
func (r *Passkey) Domain() (identity.Passkey, error) {
	return identity.Passkey{
		ID: identity.PasskeyID(r.ID), Name: r.Name, PublicKey: r.PublicKey, Counter: r.Counter,
		BackupEligible: r.BackupEligible, CreatedAt: r.CreatedAt.UTC(), LastUsedAt: r.LastUsedAt.Time.UTC(),
	}, nil
}

// PasskeyCeremony is a ceremony that has not ended.
type PasskeyCeremony struct {
	Hash      []byte `gorm:"primaryKey"`
	Purpose   string
	Challenge string
	UserID    string
	Name      string
	ExpiresAt time.Time
}

// Domain returns the ceremony.
func (r *PasskeyCeremony) Domain() identity.Ceremony {
	return identity.Ceremony{Purpose: r.Purpose, Challenge: r.Challenge, Owner: user.ID(r.UserID), Name: r.Name}
}
