package gormstore

import (
	"context"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/user"
)

var _ user.FormerFinder = (*Users)(nil)

// formerNameRow is a name that a user gave up, who may be deleted.
type formerNameRow struct {
	UsernameFolded string `gorm:"primaryKey"`
	UserID         string
	GivenUpAt      time.Time
}

func (formerNameRow) TableName() string { return "former_names" }

var errNameReserved = fault.New(fault.Conflict, "Another user had the username not long ago.")

// giveUpName reserves the name that a user had.
func (u *Users) giveUpName(tx *gorm.DB, had user.User) error {
	row := formerNameRow{had.Name.Folded(), string(had.ID), instant(u.store.clock())}
	return tx.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "username_folded"}}, UpdateAll: true}).Create(&row).Error
}

// checkName fails with fault.Conflict when a name is reserved for another user than the one with that id.
func (s *Store) checkName(tx *gorm.DB, name user.Name, id user.ID) error {
	var reserved int64
	err := tx.Model(&formerNameRow{}).Where("username_folded = ? AND user_id <> ? AND given_up_at > ?",
		name.Folded(), string(id), instant(s.clock().Add(-user.NameReserved))).Count(&reserved).Error
	if err == nil && reserved > 0 {
		err = refused(errNameReserved)
	}
	return err
}

// ByFormerName implements user.FormerFinder.
func (u *Users) ByFormerName(ctx context.Context, name user.Name) (user.User, error) {
	return u.take(u.store.read(ctx), "id = (SELECT user_id FROM former_names WHERE username_folded = ?)", name.Folded())
}
