package gormstore

import (
	"context"
	"net/netip"

	"gorm.io/gorm"

	"github.com/gluepot/gluepot/adapters/gormstore/db"
	"github.com/gluepot/gluepot/adapters/gormstore/model"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/user"
)

// Identities stores linked accounts, attempts to sign in, and invitations.
type Identities struct{ store *db.Store }

// NewIdentities returns the identities of a store.
func NewIdentities(store *db.Store) *Identities { return &Identities{store} }

// ByIdentity implements identity.Store.
func (i *Identities) ByIdentity(ctx context.Context, id identity.Identity) (user.User, error) {
	query := i.store.Read(ctx).Where("id = (SELECT user_id FROM identities WHERE provider = ? AND subject = ?)",
		id.Key, id.Subject)
	return find(query, (*model.User).Domain)
}

// StoreAttempt implements identity.Store.
func (i *Identities) StoreAttempt(
	ctx context.Context, from netip.Addr, hash identity.Hash, attempt identity.Attempt, others int,
) error {
	return i.store.Transaction(ctx, i.store.RefuseBlocked(from, func(tx *gorm.DB) error {
		now, err := i.store.Time(tx)
		if err != nil {
			return err
		}
		if err := tx.Where("expires_at <= ?", now).Delete(&model.SignInAttempt{}).Error; err != nil {
			return err
		}
		oldest := tx.Model(&model.SignInAttempt{}).Select("expires_at").Order("expires_at DESC").Offset(others).Limit(1)
		if err := tx.Where("expires_at <= (?)", oldest).Delete(&model.SignInAttempt{}).Error; err != nil {
			return err
		}
		return tx.Create(&model.SignInAttempt{
			Hash: hash[:], Source: attempt.Provider,
			State: attempt.Proof.State, Nonce: attempt.Proof.Nonce,
			Verifier: attempt.Proof.Verifier,
			Provider: attempt.Profile.Key, Subject: attempt.Profile.Subject, Name: attempt.Profile.Name,
			AvatarURL: attempt.Profile.AvatarURL, Next: attempt.Next,
			InvitationID: model.Optional(string(attempt.Invitation)), UserID: model.Optional(string(attempt.Link)),
			ExpiresAt: now.Add(identity.AttemptAge),
		}).Error
	}))
}

// TakeAttempt implements identity.Store.
func (i *Identities) TakeAttempt(
	ctx context.Context, from netip.Addr, hash identity.Hash,
) (attempt identity.Attempt, err error) {
	err = i.store.Transaction(ctx, i.store.RefuseBlocked(from, func(tx *gorm.DB) error {
		row, err := i.attempt(db.ForUpdate(tx), hash)
		if err != nil {
			return err
		}
		attempt = row.Domain()
		return db.OrNotFound(tx.Delete(&row))
	}))
	return attempt, err
}

// Attempt implements identity.Store.
func (i *Identities) Attempt(ctx context.Context, hash identity.Hash) (identity.Attempt, error) {
	row, err := i.attempt(i.store.Read(ctx), hash)
	return row.Domain(), db.Translate(err)
}

func (i *Identities) attempt(tx *gorm.DB, hash identity.Hash) (row model.SignInAttempt, err error) {
	err = tx.Where("hash = ? AND expires_at > ?", hash[:], i.store.Now()).Take(&row).Error
	return row, err
}

// SignUp implements identity.Store.
func (i *Identities) SignUp(ctx context.Context, from netip.Addr, hash identity.Hash, created user.User) error {
	return i.store.Transaction(ctx, i.store.RefuseBlocked(from, func(tx *gorm.DB) error {
		row, err := i.attempt(db.ForUpdate(tx), hash)
		if err != nil {
			return err
		}
		if err := tx.Create(model.NewUser(created)).Error; err != nil {
			return err
		}
		if err := checkName(i.store, tx, created.Name, created.ID); err != nil {
			return err
		}
		linked := model.Identity{UserID: string(created.ID), Provider: row.Provider, Subject: row.Subject}
		if err := tx.Create(&linked).Error; err != nil {
			return err
		}
		if row.InvitationID.Valid {
			if err := useInvitation(i.store, tx, row.InvitationID.String); err != nil {
				return err
			}
		}
		return tx.Delete(&row).Error
	}))
}

// useInvitation takes one use of an invitation.
func useInvitation(s *db.Store, tx *gorm.DB, id string) error {
	result := tx.Model(&model.Invitation{}).Where("id = ? AND uses > 0 AND expires_at > ?", id, s.Now()).
		UpdateColumn("uses", gorm.Expr("uses - 1"))
	if result.Error == nil && result.RowsAffected == 0 {
		return identity.ErrInvitation
	}
	return result.Error
}

// StoreInvitation implements identity.Store.
func (i *Identities) StoreInvitation(ctx context.Context, entry auditlog.Entry, created identity.Invitation) error {
	return i.store.Record(ctx, entry, i.store.Transaction, func(tx *gorm.DB) error {
		return tx.Create(&model.Invitation{
			ID: string(created.ID), Hash: created.Hash[:], Uses: created.Uses, Note: created.Note,
			CreatedAt: model.Instant(created.CreatedAt), ExpiresAt: model.Instant(created.ExpiresAt),
		}).Error
	})
}

// InvitationByHash implements identity.Store.
func (i *Identities) InvitationByHash(ctx context.Context, hash identity.Hash) (identity.Invitation, error) {
	return find(i.store.Read(ctx).Where("hash = ?", hash[:]), (*model.Invitation).Domain)
}

// Invitations implements identity.Store.
func (i *Identities) Invitations(ctx context.Context) ([]identity.Invitation, error) {
	return list(i.store.Read(ctx).Order("created_at, id"), (*model.Invitation).Domain)
}

// RemoveInvitation implements identity.Store.
func (i *Identities) RemoveInvitation(ctx context.Context, entry auditlog.Entry, id identity.InvitationID) error {
	return i.store.Record(ctx, entry, i.store.Transaction, deleteOne(&model.Invitation{}, "id = ?", string(id)))
}
