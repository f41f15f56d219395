package gormstore

import (
	"context"
	"maps"
	"net/netip"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/gluepot/gluepot/adapters/gormstore/db"
	"github.com/gluepot/gluepot/adapters/gormstore/model"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/user"
)

// Users stores users and their linked accounts.
type Users struct{ store *db.Store }

// NewUsers returns the users of a store.
func NewUsers(store *db.Store) *Users { return &Users{store} }

// ByName implements user.Store.
func (u *Users) ByName(ctx context.Context, name user.Name) (user.User, error) {
	return find(u.store.Read(ctx).Where("username_folded = ?", name.Folded()), (*model.User).Domain)
}

// ByID implements user.Store.
func (u *Users) ByID(ctx context.Context, id user.ID) (user.User, error) {
	return find(u.store.Read(ctx).Where("id = ?", string(id)), (*model.User).Domain)
}

// StaleByName implements user.Store.
func (u *Users) StaleByName(ctx context.Context, name user.Name) (user.User, error) {
	return u.ByName(ctx, name)
}

// StaleByID implements user.Store.
func (u *Users) StaleByID(ctx context.Context, id user.ID) (user.User, error) { return u.ByID(ctx, id) }

// AccountByID implements user.Store.
func (u *Users) AccountByID(ctx context.Context, id user.ID) (account user.Account, err error) {
	err = u.store.Snapshot(ctx, func(tx *gorm.DB) error {
		account, err = accountOf(u.store, tx, id)
		return err
	}, u.store.Pastes) // it also reads the pastes that the user has starred
	if err != nil {
		return user.Account{}, err
	}
	return account, nil
}

// accountOf reads an account in a snapshot.
func accountOf(s *db.Store, tx *gorm.DB, id user.ID) (account user.Account, err error) {
	if account.User, err = find(tx.Where("id = ?", string(id)), (*model.User).Domain); err != nil {
		return user.Account{}, err
	}
	if account.Identities, err = identitiesOf(tx, string(id)); err != nil {
		return user.Account{}, err
	}
	account.Stars = []string{}
	err = active(s, tx.Table("stars s").Joins("JOIN pastes p ON p.id = s.paste_id").Where("s.user_id = ?", string(id))).
		Order("s.position, s.paste_id").Pluck("s.paste_id", &account.Stars).Error
	return account, err
}

func identitiesOf(tx *gorm.DB, id string) (map[string]string, error) {
	var rows []model.Identity
	if err := tx.Where("user_id = ?", id).Find(&rows).Error; err != nil {
		return nil, err
	}
	identities := make(map[string]string, len(rows))
	for _, row := range rows {
		identities[row.Provider] = row.Subject
	}
	return identities, nil
}

// deleteOne returns the change that deletes the row of a model that a condition finds.
func deleteOne(model any, condition string, values ...any) func(tx *gorm.DB) error {
	return func(tx *gorm.DB) error { return db.OrNotFound(tx.Where(condition, values...).Delete(model)) }
}

// Update implements user.Store.
func (u *Users) Update(
	ctx context.Context, from netip.Addr, entry auditlog.Entry, id user.ID,
	change func(*user.User, map[string]string) error,
) (updated user.User, identities map[string]string, err error) {
	err = u.store.Record(ctx, entry, u.store.Transaction, u.store.RefuseBlocked(from, func(tx *gorm.DB) (err error) {
		var row model.User
		if err := db.ForUpdate(tx).Where("id = ?", string(id)).Take(&row).Error; err != nil {
			return err
		}
		if updated, err = row.Domain(); err != nil {
			return err
		}
		if identities, err = identitiesOf(tx, row.ID); err != nil { // changing them takes the user's lock, too
			return err
		}
		before, identitiesBefore := updated, maps.Clone(identities)
		if err := change(&updated, identities); err != nil {
			return err
		}
		updated.ID, updated.CreatedAt = before.ID, before.CreatedAt
		newRow := model.NewUser(updated)
		newRow.ProfileClosed = user.Closed(row.ProfileClosed, before, updated)
		if err := tx.Select("*").Updates(newRow).Error; err != nil {
			return err
		}
		if updated.Admin != before.Admin {
			if err := endSetup(tx); err != nil {
				return err
			}
		}
		if updated.Name.Folded() != before.Name.Folded() {
			if err := checkName(u.store, tx, updated.Name, before.ID); err != nil {
				return err
			}
			if err := giveUpName(u.store, tx, before.Name.Folded(), row.ID); err != nil {
				return err
			}
		}
		return replaceIdentities(tx, row.ID, identitiesBefore, identities)
	}))
	if err != nil {
		return user.User{}, nil, err
	}
	return updated, identities, nil
}

// replaceIdentities unlinks and links identities of a user, and records which ones were unlinked.
func replaceIdentities(tx *gorm.DB, id string, before, after map[string]string) error {
	var unlinked []model.UnlinkedIdentity
	linked := make(map[string]string)
	for provider, subject := range before {
		if after[provider] != subject {
			unlinked = append(unlinked, model.UnlinkedIdentity{UserID: id, Provider: provider, Subject: subject})
		}
	}
	for provider, subject := range after {
		if before[provider] != subject {
			linked[provider] = subject
		}
	}
	for _, row := range unlinked {
		if err := tx.Where("user_id = ? AND provider = ?", id, row.Provider).Delete(&model.Identity{}).Error; err != nil {
			return err
		}
	}
	for provider, subject := range linked {
		err := tx.Delete(&model.UnlinkedIdentity{UserID: id, Provider: provider, Subject: subject}).Error
		if err != nil {
			return err
		}
	}
	if err := model.Insert(tx.Clauses(clause.OnConflict{DoNothing: true}), unlinked); err != nil {
		return err
	}
	return model.Insert(tx, model.NewIdentities(id, linked))
}

var errNameReserved = fault.New(fault.Conflict, "Another user had the username recently.")

// giveUpName reserves a folded name for the user who had it, and releases the user's oldest reservations beyond the
// limit.
func giveUpName(s *db.Store, tx *gorm.DB, folded, id string) error {
	row := model.FormerName{UsernameFolded: folded, UserID: id, GivenUpAt: model.Instant(s.Clock())}
	replace := clause.OnConflict{Columns: []clause.Column{{Name: "username_folded"}}, UpdateAll: true}
	if err := tx.Clauses(replace).Create(&row).Error; err != nil {
		return err
	}
	return tx.Exec(`DELETE FROM former_names WHERE user_id = ? AND username_folded NOT IN (
			SELECT username_folded FROM former_names WHERE user_id = ?
			ORDER BY given_up_at DESC, username_folded DESC LIMIT ?)`,
		id, id, user.MaxFormerNames).Error
}

// checkName fails with fault.Conflict when a name is reserved for another user. Call it after writing the user's row,
// which waits for a user who gives the name up at this moment.
func checkName(s *db.Store, tx *gorm.DB, name user.Name, id user.ID) error {
	var reserved int64
	since := model.Instant(s.Clock().Add(-user.NameReserved))
	err := tx.Model(&model.FormerName{}).
		Where("username_folded = ? AND user_id <> ? AND given_up_at > ?", name.Folded(), string(id), since).
		Count(&reserved).Error
	if err == nil && reserved > 0 {
		err = errNameReserved
	}
	return err
}

// ByFormerName implements user.Store.
func (u *Users) ByFormerName(ctx context.Context, name user.Name) (user.User, error) {
	query := u.store.Read(ctx).Where("id = (SELECT user_id FROM former_names WHERE username_folded = ?)", name.Folded())
	return find(query, (*model.User).Domain)
}

// formerNames returns the names that lead to a user, the latest first.
func formerNames(tx *gorm.DB, id user.ID) (names []string, err error) {
	err = tx.Model(&model.FormerName{}).Where("user_id = ?", string(id)).
		Where("NOT EXISTS (SELECT 1 FROM users WHERE users.username_folded = former_names.username_folded)").
		Order("given_up_at DESC, username_folded DESC").Pluck("username_folded", &names).Error
	return names, err
}
