package gormstore

import (
	"context"
	"database/sql"
	"net/netip"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/gluepot/gluepot/adapters/gormstore/db"
	"github.com/gluepot/gluepot/adapters/gormstore/model"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// CredentialsOf implements identity.Store.
func (i *Identities) CredentialsOf(ctx context.Context, owner user.ID) (credentials identity.Credentials, err error) {
	err = i.store.Snapshot(ctx, func(tx *gorm.DB) error {
		if err := tx.Where("id = ?", string(owner)).Take(&model.User{}).Error; err != nil {
			return err
		}
		credentials, err = credentialsOf(tx, string(owner))
		return err
	})
	if err != nil {
		return identity.Credentials{}, err
	}
	return credentials, nil
}

func credentialsOf(tx *gorm.DB, owner string) (credentials identity.Credentials, err error) {
	if credentials.Identities, err = identitiesOf(tx, owner); err != nil {
		return credentials, err
	}
	var rows []model.Password
	if err := tx.Where("user_id = ?", owner).Find(&rows).Error; err != nil {
		return credentials, err
	}
	for _, row := range rows {
		credentials.Password = identity.PasswordHash(row.Hash)
	}
	credentials.Passkeys, err = passkeysOf(tx, owner)
	return credentials, err
}

// ByPassword implements identity.Store.
func (i *Identities) ByPassword(ctx context.Context, name user.Name) (user.User, identity.PasswordHash, error) {
	var row struct {
		model.User `gorm:"embedded"`

		Hash sql.NullString
	}
	err := i.store.Read(ctx).Table("users").Select("users.*, passwords.hash").
		Joins("LEFT JOIN passwords ON passwords.user_id = users.id").
		Where("users.username_folded = ?", name.Folded()).Take(&row).Error
	if err != nil {
		return user.User{}, "", db.Translate(err)
	}
	owner, err := row.Domain()
	return owner, identity.PasswordHash(row.Hash.String), err
}

// ChangeCredentials implements identity.Store.
func (i *Identities) ChangeCredentials(
	ctx context.Context, from netip.Addr, owner user.ID, but token.ID, change func(user.User, *identity.Credentials) error,
) error {
	return i.store.Transaction(ctx, i.store.RefuseBlocked(from, func(tx *gorm.DB) error {
		_, changed, err := changeCredentials(tx, owner, change)
		if err == nil && changed {
			_, err = endSessions(tx, owner, but)
		}
		return err
	}))
}

// changeCredentials locks a user and changes the user's credentials. It returns the user, and whether the password has
// changed.
func changeCredentials(tx *gorm.DB, id user.ID, change func(user.User, *identity.Credentials) error) (
	owner user.User, newPassword bool, err error,
) {
	var row model.User
	if err := db.ForUpdate(tx).Where("id = ?", string(id)).Take(&row).Error; err != nil {
		return owner, false, err
	}
	if owner, err = row.Domain(); err != nil {
		return owner, false, err
	}
	before, err := credentialsOf(tx, row.ID)
	if err != nil {
		return owner, false, err
	}
	credentials := before.Clone()
	if err := change(owner, &credentials); err != nil {
		return owner, false, err
	}
	if err := replaceIdentities(tx, row.ID, before.Identities, credentials.Identities); err != nil {
		return owner, false, err
	}
	if err := replacePasskeys(tx, row.ID, before.Passkeys, credentials.Passkeys); err != nil {
		return owner, false, err
	}
	return owner, credentials.Password != before.Password, setPassword(tx, row.ID, credentials.Password)
}

func setPassword(tx *gorm.DB, owner string, hash identity.PasswordHash) error {
	if hash == "" {
		return tx.Where("user_id = ?", owner).Delete(&model.Password{}).Error
	}
	return tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&model.Password{UserID: owner, Hash: string(hash)}).Error
}

// Rehash implements identity.Store.
func (i *Identities) Rehash(ctx context.Context, owner user.ID, from, to identity.PasswordHash) error {
	return i.store.Transaction(ctx, func(tx *gorm.DB) error {
		return tx.Model(&model.Password{}).Where("user_id = ? AND hash = ?", string(owner), string(from)).
			Update("hash", string(to)).Error
	})
}

// checkNoAdministrator fails with identity.ErrAdministratorExists if there is an administrator.
func checkNoAdministrator(tx *gorm.DB) error {
	var administrators int64
	err := tx.Model(&model.User{}).Where("admin").Limit(1).Count(&administrators).Error
	if err == nil && administrators > 0 {
		err = identity.ErrAdministratorExists
	}
	return err
}

// endSetup deletes the links for the first administrator.
func endSetup(tx *gorm.DB) error {
	return tx.Where("user_id IS NULL").Delete(&model.OneTimeLink{}).Error
}

// StoreLink implements identity.Store.
func (i *Identities) StoreLink(ctx context.Context, entry auditlog.Entry, link identity.OneTimeLink) error {
	return i.store.Record(ctx, entry, i.store.Transaction, func(tx *gorm.DB) error {
		if link.Owner == "" {
			if err := db.LockInstallation(tx); err != nil {
				return err
			}
			if err := checkNoAdministrator(tx); err != nil {
				return err
			}
		} else if err := db.ForShare(tx).Where("id = ?", string(link.Owner)).Take(&model.User{}).Error; err != nil {
			return err
		}
		if err := tx.Where("expires_at <= ?", i.store.Now()).Delete(&model.OneTimeLink{}).Error; err != nil {
			return err
		}
		return tx.Create(&model.OneTimeLink{
			Hash: link.Hash[:], UserID: model.Optional(string(link.Owner)),
			OfferedBy: model.Optional(entry.Administrator), ExpiresAt: model.Instant(link.ExpiresAt),
		}).Error
	})
}

// LinkByHash implements identity.Store.
func (i *Identities) LinkByHash(ctx context.Context, hash identity.Hash) (identity.OneTimeLink, error) {
	return find(validLink(i.store, i.store.Read(ctx), hash), (*model.OneTimeLink).Domain)
}

// validLink selects the link with that hash unless it has expired. An administrator's link ends with the
// administrator's rights.
func validLink(s *db.Store, tx *gorm.DB, hash identity.Hash) *gorm.DB {
	return tx.Where("hash = ? AND expires_at > ?", hash[:], s.Now()).
		Where("offered_by IS NULL OR EXISTS (SELECT 1 FROM users u WHERE u.id = offered_by AND u.admin AND NOT u.suspended)")
}

// UseLink implements identity.Store. Callers lock the owner, and only the first of them finds the link.
func (i *Identities) UseLink(
	ctx context.Context, from netip.Addr, entry auditlog.Entry, hash identity.Hash,
	change func(user.User, *identity.Credentials) error,
) (owner user.User, err error) {
	err = i.store.Record(ctx, entry, i.store.Transaction, i.store.RefuseBlocked(from, func(tx *gorm.DB) error {
		var row model.OneTimeLink
		if err := validLink(i.store, tx, hash).Where("user_id IS NOT NULL").Take(&row).Error; err != nil {
			return err
		}
		id := user.ID(row.UserID.String)
		if owner, _, err = changeCredentials(tx, id, change); err != nil {
			return err
		}
		if row.OfferedBy.Valid { // it may have waited for the owner
			err := fault.Replace(db.CheckAdministrator(tx, row.OfferedBy.String), fault.Forbidden, gorm.ErrRecordNotFound)
			if err != nil {
				return err
			}
		}
		if err := db.OrNotFound(tx.Where("hash = ?", hash[:]).Delete(&model.OneTimeLink{})); err != nil {
			return err
		}
		if err := tx.Where("user_id = ?", string(id)).Delete(&model.OneTimeLink{}).Error; err != nil {
			return err
		}
		_, err := endSessions(tx, id, "")
		return err
	}))
	if err != nil {
		return user.User{}, err
	}
	return owner, nil
}

// Enroll implements identity.Store.
func (i *Identities) Enroll(
	ctx context.Context, from netip.Addr, entry auditlog.Entry, created user.User, credentials identity.Credentials,
	why identity.Admission,
) error {
	enroll := i.store.RefuseBlocked(from, func(tx *gorm.DB) error {
		if why.Setup != (identity.Hash{}) {
			if err := checkNoAdministrator(tx); err != nil {
				return err
			}
			link := validLink(i.store, tx, why.Setup).Where("user_id IS NULL")
			if err := link.Take(&model.OneTimeLink{}).Error; err != nil {
				return err
			}
		}
		if err := tx.Create(model.NewUser(created)).Error; err != nil {
			return err
		}
		if why.Chosen {
			if err := checkName(i.store, tx, created.Name, created.ID); err != nil {
				return err
			}
		}
		if err := model.Insert(tx, model.NewIdentities(string(created.ID), credentials.Identities)); err != nil {
			return err
		}
		if credentials.Password != "" {
			if err := setPassword(tx, string(created.ID), credentials.Password); err != nil {
				return err
			}
		}
		if err := replacePasskeys(tx, string(created.ID), nil, credentials.Passkeys); err != nil {
			return err
		}
		if why.Invitation != "" {
			if err := useInvitation(i.store, tx, string(why.Invitation)); err != nil {
				return err
			}
		}
		if created.Admin {
			return endSetup(tx)
		}
		return nil
	})
	return i.store.Record(ctx, entry, i.store.Transaction, func(tx *gorm.DB) error {
		if created.Admin { // before the guard, which locks a table
			if err := db.LockInstallation(tx); err != nil {
				return err
			}
		}
		return enroll(tx)
	})
}

// guessQuota is identity.Guesses as a quota. Its clients are the names.
var guessQuota = paste.Quota{Pastes: identity.Guesses, Window: identity.GuessWindow}

// TakeGuess implements identity.Store.
func (i *Identities) TakeGuess(ctx context.Context, from netip.Addr, name string) error {
	err := i.changeGuesses(ctx, from, name, guessQuota.Take)
	return fault.Replace(err, fault.Exhausted, identity.ErrTooManyGuesses)
}

// ReturnGuess implements identity.Store.
func (i *Identities) ReturnGuess(ctx context.Context, name string) error {
	return i.changeGuesses(ctx, netip.Addr{}, name, func(full time.Duration) (time.Duration, error) {
		return max(full-guessQuota.Interval(), 0), nil
	})
}

func (i *Identities) changeGuesses(
	ctx context.Context, from netip.Addr, name string, change func(time.Duration) (time.Duration, error),
) error {
	return i.store.Transaction(ctx, i.store.RefuseBlocked(from, func(tx *gorm.DB) error {
		_, err := changeQuota(i.store, tx, paste.Client("password of "+name), change)
		return err
	}))
}
