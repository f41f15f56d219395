package gormstore

import (
	"context"
	"database/sql"
	"time"

	"gorm.io/gorm"

	"github.com/gluepot/gluepot/adapters/gormstore/connection"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/user"
)

// Identities stores linked accounts, attempts to sign in, and invitations.
type Identities struct{ store *connection.Store }

// NewIdentities returns the identities of a store.
func NewIdentities(store *connection.Store) *Identities { return &Identities{store} }

type attemptRow struct {
	Hash         []byte `gorm:"primaryKey"`
	Source       string
	State        string
	Nonce        string
	Verifier     string
	Provider     string
	Subject      string
	Name         string
	AvatarURL    string
	Next         string
	InvitationID sql.NullString
	UserID       sql.NullString
	ExpiresAt    time.Time
}

func (attemptRow) TableName() string { return "sign_in_attempts" }

func (r *attemptRow) attempt() identity.Attempt {
	return identity.Attempt{
		Source: r.Source, Proof: identity.Proof{State: r.State, Nonce: r.Nonce, Verifier: r.Verifier},
		Profile: identity.Profile{
			Identity: identity.Identity{Key: r.Provider, Subject: r.Subject}, Name: r.Name, AvatarURL: r.AvatarURL,
		},
		Next: r.Next, Invitation: identity.InvitationID(r.InvitationID.String), Link: user.ID(r.UserID.String),
	}
}

type invitationRow struct {
	ID        string `gorm:"primaryKey"`
	Hash      []byte
	Uses      int
	Note      string
	CreatedAt time.Time `gorm:"autoCreateTime:false"`
	ExpiresAt time.Time
}

func (invitationRow) TableName() string { return "invitations" }

func (r *invitationRow) invitation() identity.Invitation {
	return identity.Invitation{
		ID: identity.InvitationID(r.ID), Hash: identity.Hash(r.Hash), Uses: r.Uses, Note: r.Note, CreatedAt: r.CreatedAt.UTC(),
		ExpiresAt: r.ExpiresAt.UTC(),
	}
}

// ByIdentity implements identity.Registrar.
func (i *Identities) ByIdentity(ctx context.Context, wanted identity.Identity) (user.User, error) {
	var row userRow
	err := i.store.Read(ctx).Where("id = (SELECT user_id FROM identities WHERE provider = ? AND subject = ?)", wanted.Key, wanted.Subject).
		Take(&row).Error
	if err != nil {
		return user.User{}, connection.Translate(err)
	}
	return row.user()
}

// Keep implements identity.AttemptKeeper.
func (i *Identities) Keep(ctx context.Context, hash identity.Hash, kept identity.Attempt, others int) error {
	return i.store.Transaction(ctx, func(tx *gorm.DB) error {
		now, err := i.store.Time(tx)
		if err != nil {
			return err
		}
		if err := tx.Where("expires_at <= ?", now).Delete(&attemptRow{}).Error; err != nil {
			return err
		}
		oldest := tx.Model(&attemptRow{}).Select("expires_at").Order("expires_at DESC").Offset(others).Limit(1)
		if err := tx.Where("expires_at <= (?)", oldest).Delete(&attemptRow{}).Error; err != nil {
			return err
		}
		return tx.Create(&attemptRow{
			Hash: hash[:], Source: kept.Source, State: kept.Proof.State, Nonce: kept.Proof.Nonce, Verifier: kept.Proof.Verifier,
			Provider: kept.Profile.Key, Subject: kept.Profile.Subject, Name: kept.Profile.Name, AvatarURL: kept.Profile.AvatarURL,
			Next: kept.Next, InvitationID: optional(string(kept.Invitation)), UserID: optional(string(kept.Link)),
			ExpiresAt: now.Add(identity.AttemptAge),
		}).Error
	})
}

func optional(text string) sql.NullString { return sql.NullString{String: text, Valid: text != ""} }

// Take implements identity.AttemptKeeper.
func (i *Identities) Take(ctx context.Context, hash identity.Hash) (taken identity.Attempt, err error) {
	err = i.store.Transaction(ctx, func(tx *gorm.DB) error {
		row, err := i.attempt(connection.ForUpdate(tx), hash)
		if err != nil {
			return err
		}
		taken = row.attempt()
		return connection.OrNotFound(tx.Delete(&row))
	})
	return taken, err
}

// Attempt implements identity.AttemptKeeper.
func (i *Identities) Attempt(ctx context.Context, hash identity.Hash) (identity.Attempt, error) {
	row, err := i.attempt(i.store.Read(ctx), hash)
	return row.attempt(), connection.Translate(err)
}

func (i *Identities) attempt(db *gorm.DB, hash identity.Hash) (row attemptRow, err error) {
	err = db.Where("hash = ? AND expires_at > ?", hash[:], i.store.Now()).Take(&row).Error
	return row, err
}

// SignUp implements identity.Registrar.
func (i *Identities) SignUp(ctx context.Context, hash identity.Hash, created user.User) error {
	return i.store.Transaction(ctx, func(tx *gorm.DB) error {
		row, err := i.attempt(connection.ForUpdate(tx), hash)
		if err != nil {
			return err
		}
		if err := checkName(i.store, tx, created.Name, created.ID); err != nil {
			return err
		}
		if err := tx.Create(newUserRow(created)).Error; err != nil {
			return err
		}
		if err := tx.Create(&identityRow{UserID: string(created.ID), Provider: row.Provider, Subject: row.Subject}).Error; err != nil {
			return err
		}
		if row.InvitationID.Valid {
			used := tx.Model(&invitationRow{}).Where("id = ? AND uses > 0 AND expires_at > ?", row.InvitationID.String, i.store.Now()).
				UpdateColumn("uses", gorm.Expr("uses - 1"))
			if used.Error == nil && used.RowsAffected == 0 {
				return identity.ErrUsedUp
			}
			if used.Error != nil {
				return used.Error
			}
		}
		return tx.Delete(&row).Error
	})
}

// Invite implements identity.Inviter.
func (i *Identities) Invite(ctx context.Context, created identity.Invitation) error {
	return i.store.Transaction(ctx, func(tx *gorm.DB) error {
		return tx.Create(&invitationRow{
			ID: string(created.ID), Hash: created.Hash[:], Uses: created.Uses, Note: created.Note,
			CreatedAt: connection.Instant(created.CreatedAt), ExpiresAt: connection.Instant(created.ExpiresAt),
		}).Error
	})
}

// InvitationByHash implements identity.InvitationFinder.
func (i *Identities) InvitationByHash(ctx context.Context, hash identity.Hash) (identity.Invitation, error) {
	var row invitationRow
	if err := i.store.Read(ctx).Where("hash = ?", hash[:]).Take(&row).Error; err != nil {
		return identity.Invitation{}, connection.Translate(err)
	}
	return row.invitation(), nil
}

// Invitations implements identity.InvitationFinder.
func (i *Identities) Invitations(ctx context.Context) ([]identity.Invitation, error) {
	var rows []invitationRow
	if err := i.store.Read(ctx).Order("created_at, id").Find(&rows).Error; err != nil {
		return nil, connection.Translate(err)
	}
	found := make([]identity.Invitation, len(rows))
	for n := range rows {
		found[n] = rows[n].invitation()
	}
	return found, nil
}

// Revoke implements identity.Inviter.
func (i *Identities) Revoke(ctx context.Context, id identity.InvitationID) error {
	return deleteOne(ctx, i.store, &invitationRow{}, "id = ?", string(id))
}
