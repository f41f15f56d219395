package dataloader

import (
	"context"

	"github.com/gluepot/gluepot/adapters/gormstore/model"
	"github.com/gluepot/gluepot/domain/user"
)

// Users decorates a store: it merges reads that may be stale.
type Users struct {
	user.Store

	byName   *loader[user.Name, []model.User]
	byID     *loader[user.ID, []model.User]
	accounts *loader[user.ID, []accountRow] // nil: too few connections
}

const (
	userColumns = `u.id, u.username, u.avatar_url, u.default_language, u.public_profile, u.show_tags,
		u.supporter_months, u.contributor,
		u.created_at, u.admin, u.suspended, u.pastes_hidden`
	accountColumns = userColumns + `,
		ARRAY(SELECT s.paste_id FROM stars s JOIN pastes p ON p.id = s.paste_id
			WHERE s.user_id = u.id AND p.removed_at IS NULL AND (p.expires_at IS NULL OR p.expires_at >
				(SELECT clock_timestamp()))
			ORDER BY s.position, s.paste_id),
		(SELECT coalesce(json_object_agg(i.provider, i.subject), '{}') FROM identities i WHERE i.user_id = u.id)`
)

func userFields(u *model.User) []any {
	return []any{
		&u.ID, &u.Username, &u.AvatarURL, &u.DefaultLanguage, &u.PublicProfile, &u.ShowTags, &u.SupporterMonths,
		&u.Contributor,
		&u.CreatedAt, &u.Admin, &u.Suspended, &u.PastesHidden,
	}
}

type accountRow struct {
	user       model.User
	stars      []string
	identities map[string]string
}

// Users decorates the users of a store.
func (d *Dataloader) Users(store user.Store) *Users {
	idOf := func(id user.ID) []string { return []string{string(id)} }
	return &Users{
		Store: store,
		byName: newLoader(d, d.slots, query[user.Name, model.User]{
			columns: userColumns, tables: `JOIN users u ON u.username_folded = q.name`, names: []string{"name"},
			values: func(name user.Name) []string { return []string{name.Folded()} }, fields: userFields,
		}),
		byID: newLoader(d, d.slots, query[user.ID, model.User]{
			columns: userColumns, tables: `JOIN users u ON u.id = q.id`, names: []string{"id"}, values: idOf, fields: userFields,
		}),
		accounts: newLoader(d, d.slots/2, query[user.ID, accountRow]{ // fewer: they read pastes, which may be locked
			columns: accountColumns, tables: `JOIN users u ON u.id = q.id`, names: []string{"id"}, values: idOf,
			fields: func(r *accountRow) []any { return append(userFields(&r.user), &r.stars, &r.identities) },
		}),
	}
}

// StaleByName implements user.Store.
func (u *Users) StaleByName(ctx context.Context, name user.Name) (user.User, error) {
	return domain(u.byName.find(ctx, name))
}

// StaleByID implements user.Store.
func (u *Users) StaleByID(ctx context.Context, id user.ID) (user.User, error) {
	if !model.IsText(string(id)) {
		return u.Store.StaleByID(ctx, id)
	}
	return domain(u.byID.find(ctx, id))
}

func domain(rows []model.User, err error) (user.User, error) {
	if err != nil {
		return user.User{}, err
	}
	return rows[0].Domain()
}

// AccountByID implements user.Store.
func (u *Users) AccountByID(ctx context.Context, id user.ID) (user.Account, error) {
	if u.accounts == nil || !model.IsText(string(id)) {
		return u.Store.AccountByID(ctx, id)
	}
	rows, err := u.accounts.find(ctx, id)
	if err != nil {
		return user.Account{}, err
	}
	owner, err := rows[0].user.Domain()
	return user.Account{User: owner, Stars: rows[0].stars, Identities: rows[0].identities}, err
}
