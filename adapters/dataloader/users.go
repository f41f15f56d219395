package dataloader

import (
	"context"
	"time"

	"github.com/gluepot/gluepot/adapters/internal/storedtext"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/user"
)

// UserStore is what Users decorates.
type UserStore interface {
	users.Store
	user.Finder
	user.Importer
}

// Users decorates a store: it merges reads that may be stale.
type Users struct {
	UserStore

	byName   *loader[user.Name, user.User]
	byID     *loader[user.ID, user.User]
	accounts *loader[user.ID, user.Account] // nil: too few connections
}

const userColumns = `u.id, u.username, u.avatar_url, u.default_language, u.public_profile, u.show_tags,
	u.supporter_months, u.contributor, u.created_at,
	u.admin, u.suspended, u.pastes_hidden`

// Users decorates the users of a store.
func (d *Dataloader) Users(store UserStore) *Users {
	newRow := func() scannable[user.User] { return new(userRow) }
	byName := query[user.Name, user.User]{
		values: func(name user.Name) []string { return []string{name.Folded()} }, newRow: newRow,
	}
	byName.one, byName.many = statements(userColumns, `JOIN users u ON u.username_folded = q.name`, "name")
	values := func(id user.ID) []string { return []string{string(id)} }
	byID := query[user.ID, user.User]{values: values, newRow: newRow}
	byID.one, byID.many = statements(userColumns, `JOIN users u ON u.id = q.id`, "id")
	accounts := query[user.ID, user.Account]{
		values: values, newRow: func() scannable[user.Account] { return new(accountRow) },
	}
	accounts.one, accounts.many = statements(accountColumns, `JOIN users u ON u.id = q.id`, "id")
	users := &Users{UserStore: store, byName: newLoader(d, d.slots, byName), byID: newLoader(d, d.slots, byID)}
	if slots := d.slots / 2; slots > 0 { // accounts read pastes, which may be locked
		users.accounts = newLoader(d, slots, accounts)
	}
	return users
}

// StaleByName implements user.StaleFinder.
func (u *Users) StaleByName(ctx context.Context, name user.Name) (user.User, error) {
	return u.byName.find(ctx, name)
}

// StaleByID implements user.StaleFinder.
func (u *Users) StaleByID(ctx context.Context, id user.ID) (user.User, error) {
	if !storedtext.IsText(string(id)) {
		return u.UserStore.StaleByID(ctx, id)
	}
	return u.byID.find(ctx, id)
}

// AccountByID implements user.AccountFinder.
func (u *Users) AccountByID(ctx context.Context, id user.ID) (user.Account, error) {
	if u.accounts == nil || !storedtext.IsText(string(id)) {
		return u.UserStore.AccountByID(ctx, id)
	}
	return u.accounts.find(ctx, id)
}

const accountColumns = userColumns + `,
	ARRAY(SELECT s.paste_id FROM stars s JOIN pastes p ON p.id = s.paste_id
		WHERE s.user_id = u.id AND (p.expires_at IS NULL OR p.expires_at > (SELECT clock_timestamp())) ORDER BY s.position, s.paste_id),
	(SELECT coalesce(json_object_agg(i.provider, i.subject), '{}') FROM identities i WHERE i.user_id = u.id)`

type accountRow struct {
	userRow

	stars    []string
	services map[string]string
}

func (r *accountRow) fields() []any { return append(r.userRow.fields(), &r.stars, &r.services) }

func (r *accountRow) addTo(account *user.Account) error {
	account.Stars, account.Services = r.stars, r.services
	return r.userRow.addTo(&account.User)
}

type userRow struct {
	user.User

	username string
}

func (r *userRow) fields() []any {
	return []any{
		(*string)(&r.ID), &r.username, &r.AvatarURL, &r.DefaultLanguage, &r.PublicProfile, &r.ShowTags,
		&r.SupporterMonths, &r.Contributor, &r.CreatedAt,
		&r.Admin, &r.Suspended, &r.PastesHidden,
	}
}

func (r *userRow) addTo(found *user.User) error {
	name, err := user.ParseName(r.username)
	if err != nil {
		return fault.Unforeseen(err)
	}
	*found = r.User
	found.Name, found.CreatedAt = name, r.CreatedAt.UTC()
	return nil
}

// instant returns the zero time for NULL.
func instant(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}
