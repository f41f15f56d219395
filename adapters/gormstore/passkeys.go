package gormstore

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/gluepot/gluepot/adapters/gormstore/db"
	"github.com/gluepot/gluepot/adapters/gormstore/model"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/user"
)

// StoreCeremony implements identity.Store.
func (i *Identities) StoreCeremony(
	ctx context.Context, hash identity.Hash, ceremony identity.Ceremony, others int,
) error {
	return i.store.Transaction(ctx, func(tx *gorm.DB) error {
		now, err := i.store.Time(tx)
		if err != nil {
			return err
		}
		if err := tx.Where("expires_at <= ?", now).Delete(&model.PasskeyCeremony{}).Error; err != nil {
			return err
		}
		oldest := tx.Model(&model.PasskeyCeremony{}).Select("expires_at").Order("expires_at DESC").Offset(others).Limit(1)
		if err := tx.Where("expires_at <= (?)", oldest).Delete(&model.PasskeyCeremony{}).Error; err != nil {
			return err
		}
		return tx.Create(&model.PasskeyCeremony{
			Hash: hash[:], Purpose: ceremony.Purpose, Challenge: ceremony.Challenge, UserID: string(ceremony.Owner),
			Name: ceremony.Name, ExpiresAt: now.Add(identity.CeremonyAge),
		}).Error
	})
}

// TakeCeremony implements identity.Store.
func (i *Identities) TakeCeremony(ctx context.Context, hash identity.Hash) (ceremony identity.Ceremony, err error) {
	err = i.store.Transaction(ctx, func(tx *gorm.DB) error {
		var row model.PasskeyCeremony
		err := db.ForUpdate(tx).Where("hash = ? AND expires_at > ?", hash[:], i.store.Now()).Take(&row).Error
		if err != nil {
			return err
		}
		ceremony = row.Domain()
		return db.OrNotFound(tx.Delete(&row))
	})
	return ceremony, err
}

// PasskeyByID implements identity.Store.
func (i *Identities) PasskeyByID(ctx context.Context, id identity.PasskeyID) (
	passkey identity.Passkey, owner user.User, err error,
) {
	err = i.store.Snapshot(ctx, func(tx *gorm.DB) error {
		var row model.Passkey
		if err := tx.Where("id = ?", string(id)).Take(&row).Error; err != nil {
			return err
		}
		if owner, err = find(tx.Where("id = ?", row.UserID), (*model.User).Domain); err != nil {
			return err
		}
		passkey, err = row.Domain()
		return err
	})
	if err != nil {
		return identity.Passkey{}, user.User{}, err
	}
	return passkey, owner, nil
}

// UsePasskey implements identity.Store.
func (i *Identities) UsePasskey(
	ctx context.Context, from netip.Addr, id identity.PasskeyID, counter uint32, at time.Time,
) error {
	return i.store.Transaction(ctx, i.store.RefuseBlocked(from, func(tx *gorm.DB) error {
		var row model.Passkey
		if err := db.ForUpdate(tx).Where("id = ?", string(id)).Take(&row).Error; err != nil {
			return err
		}
		if (row.Counter > 0 || counter > 0) && counter <= row.Counter {
			return identity.ErrCloned
		}
		return tx.Model(&row).Updates(map[string]any{"counter": counter, "last_used_at": model.Instant(at)}).Error
	}))
}

// passkeysOf returns a user's passkeys, the oldest first.
func passkeysOf(tx *gorm.DB, owner string) (passkeys []identity.Passkey, err error) {
	var rows []model.Passkey
	if err := tx.Where("user_id = ?", owner).Order("created_at, id").Find(&rows).Error; err != nil {
		return nil, err
	}
	for _, row := range rows {
		passkey, err := row.Domain()
		if err != nil {
			return nil, err
		}
		passkeys = append(passkeys, passkey)
	}
	return passkeys, nil
}

// replacePasskeys removes and adds passkeys of a user. It does not change one that stays.
func replacePasskeys(tx *gorm.DB, owner string, before, after []identity.Passkey) error {
	contains := func(list []identity.Passkey, id identity.PasskeyID) bool {
		return slices.ContainsFunc(list, func(p identity.Passkey) bool { return p.ID == id })
	}
	for _, passkey := range before {
		if contains(after, passkey.ID) {
			continue
		}
		if err := tx.Where("id = ? AND user_id = ?", string(passkey.ID), owner).Delete(&model.Passkey{}).Error; err != nil {
			return err
		}
	}
	for _, passkey := range after {
		if contains(before, passkey.ID) {
			continue
		}
		row := model.NewPasskey(owner, passkey)
		if err := tx.Create(&row).Error; err != nil {
			if errors.Is(err, gorm.ErrDuplicatedKey) || fault.Is(db.Translate(err), fault.Conflict) {
				return identity.ErrPasskeyTaken
			}
			return err
		}
	}
	return nil
}
