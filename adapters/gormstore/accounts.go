package gormstore

import (
	"context"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/gluepot/gluepot/adapters/gormstore/db"
	"github.com/gluepot/gluepot/adapters/gormstore/model"
	"github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// usersBy selects all users, each with the value that decides its place in an order.
func usersBy(tx *gorm.DB, order moderation.Order) *gorm.DB {
	const ofPastes = `LEFT JOIN (SELECT owner_id, count(*) AS pastes,
			cast(sum(content_bytes + history_bytes) AS bigint) AS bytes
		FROM pastes WHERE owner_id IS NOT NULL AND removed_at IS NULL GROUP BY owner_id) p ON p.owner_id = users.id`
	query := tx.Table("users")
	switch order {
	case moderation.ByPastes:
		return query.Select("users.*, coalesce(p.pastes, 0) AS value").Joins(ofPastes)
	case moderation.ByBytes:
		return query.Select("users.*, coalesce(p.bytes, 0) AS value").Joins(ofPastes)
	case moderation.ByLastUse:
		return query.Select("users.*, coalesce(t.last_used_at, ?) AS value", moderation.AccountCursor{}.LastUse()).
			Joins(`LEFT JOIN (SELECT user_id, max(last_used_at) AS last_used_at FROM access_tokens GROUP BY user_id) t
				ON t.user_id = users.id`)
	case moderation.ByName:
	}
	return query.Select("users.*, 0 AS value")
}

// Accounts implements moderation.Store. Unless the order is that of names, it reads all pastes or tokens.
func (m *Moderation) Accounts(
	ctx context.Context, filter moderation.AccountFilter, order moderation.Order, after moderation.AccountCursor,
	limit int,
) (accounts []moderation.Account, err error) {
	err = m.store.Snapshot(ctx, func(tx *gorm.DB) error {
		query := tx.Table("(?) users", usersBy(tx, order)).Order("value DESC, username_folded").Limit(limit)
		if after.Name != "" {
			var value any = after.Value
			if order == moderation.ByLastUse {
				value = after.LastUse()
			}
			query = query.Where("value < ? OR value = ? AND username_folded > ?", value, value, after.Name)
		}
		if filter.Name != "" { // replace() has no wildcards, unlike LIKE
			query = query.Where("replace(username_folded, ?, '') <> username_folded OR id = ?",
				model.Text(strings.ToLower(filter.Name)), model.Text(filter.Name))
		}
		if filter.Admins {
			query = query.Where("admin")
		}
		if filter.Suspended {
			query = query.Where("suspended")
		}
		users, err := list(query, (*model.User).Domain)
		if err != nil {
			return err
		}
		ids := make([]string, len(users))
		for i, u := range users {
			ids[i] = string(u.ID)
		}
		usages, err := usagesOf(m.store, tx, ids)
		accounts = make([]moderation.Account, len(users))
		for i, u := range users {
			accounts[i] = moderation.Account{User: u, Usage: usages[u.ID]}
		}
		return err
	}, m.store.Slow, m.store.Pastes)
	if err != nil {
		return nil, err
	}
	return accounts, nil
}

// AccountOf implements moderation.Store.
func (m *Moderation) AccountOf(ctx context.Context, id user.ID) (account moderation.Account, err error) {
	err = m.store.Snapshot(ctx, func(tx *gorm.DB) error {
		if account.User, err = find(tx.Where("id = ?", string(id)), (*model.User).Domain); err != nil {
			return err
		}
		usages, err := usagesOf(m.store, tx, []string{string(id)})
		account.Usage = usages[id]
		return err
	}, m.store.Slow, m.store.Pastes)
	if err != nil {
		return moderation.Account{}, err
	}
	return account, nil
}

// usagesOf returns how much users have stored.
func usagesOf(s *db.Store, tx *gorm.DB, ids []string) (map[user.ID]moderation.Usage, error) {
	usages := make(map[user.ID]moderation.Usage, len(ids))
	var holdings []struct {
		OwnerID       string
		Pastes, Bytes int64
	}
	err := tx.Model(&model.Paste{}).Where("owner_id IN ? AND removed_at IS NULL", ids).Group("owner_id").
		Select("owner_id, count(*) AS pastes, cast(sum(content_bytes + history_bytes) AS bigint) AS bytes").
		Scan(&holdings).Error
	if err != nil {
		return nil, err
	}
	for _, row := range holdings {
		usages[user.ID(row.OwnerID)] = moderation.Usage{Pastes: row.Pastes, Bytes: row.Bytes}
	}
	var tokens []struct {
		UserID   string
		Tokens   int64
		LastUsed model.Computed
	}
	err = tx.Model(&model.AccessToken{}).Where("user_id IN ?", ids).Group("user_id").
		Select(`user_id, max(last_used_at) AS last_used, count(CASE WHEN kind = ? AND revoked_at IS NULL
			AND (expires_at IS NULL OR expires_at > ?) THEN 1 END) AS tokens`, token.Access, s.Now()).Scan(&tokens).Error
	for _, row := range tokens {
		usage := usages[user.ID(row.UserID)]
		usage.Tokens = row.Tokens
		if last := time.Time(row.LastUsed); !last.IsZero() {
			usage.LastUsed = last.UTC()
		}
		usages[user.ID(row.UserID)] = usage
	}
	return usages, err
}
