package gormstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"gorm.io/gorm"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/user"
)

// Users keeps users and the services they sign in with.
type Users struct {
	store       *Store
	staleByName *dataloader[user.Name, user.User]
	staleByID   *dataloader[user.ID, user.User]
}

// NewUsers returns the users of a store.
func NewUsers(store *Store) *Users {
	byName := &lookup[user.Name, user.User]{
		store: store, from: fromReplica,
		one:    store.queries.userByName,
		args:   func(name user.Name) []any { return []any{name.Folded()} },
		many:   store.queries.usersByNames,
		arrays: foldedNames,
		newRow: func() scannable[user.User] { return new(userRow) },
	}
	byID := &lookup[user.ID, user.User]{
		store: store, from: fromReplica,
		one:    store.queries.userByID,
		args:   func(id user.ID) []any { return []any{string(id)} },
		many:   store.queries.usersByIDs,
		arrays: func(ids []user.ID) []any { return []any{ids} },
		newRow: func() scannable[user.User] { return new(userRow) },
	}
	atOnce, sizes := store.sql.lookupsAtOnce, &store.batches.users
	return &Users{
		store: store, staleByName: byName.merged(atOnce, sizes),
		staleByID: byID.merged(atOnce, sizes),
	}
}

var (
	_ user.Finder        = (*Users)(nil)
	_ user.StaleFinder   = (*Users)(nil)
	_ user.StaleIDFinder = (*Users)(nil)
	_ user.Creator       = (*Users)(nil)
	_ user.Lister        = (*Users)(nil)
	_ user.ServiceFinder = (*Users)(nil)
	_ user.Updater       = (*Users)(nil)
	_ user.Deleter       = (*Users)(nil)
	_ user.Importer      = (*Users)(nil)
)

type userRow struct {
	ID              string `gorm:"primaryKey"`
	Username        string
	AvatarURL       string
	DefaultLanguage string
	PublicProfile   bool
	SupporterMonths int32
	Contributor     bool
	CreatedAt       time.Time `gorm:"autoCreateTime:false"`
}

func (userRow) TableName() string { return "users" }

type serviceRow struct {
	UserID        string `gorm:"primaryKey"`
	Service       string `gorm:"primaryKey"`
	ServiceUserID string
}

func (serviceRow) TableName() string { return "user_services" }

// ByName implements user.Finder.
func (u *Users) ByName(ctx context.Context, name user.Name) (user.User, error) {
	var row userRow
	if err := u.store.queryRow(ctx, fromPrimary, u.store.queries.userByName, row.fields(), name.Folded()); err != nil {
		return user.User{}, err
	}
	return row.value()
}

// StaleByName implements user.StaleFinder.
func (u *Users) StaleByName(ctx context.Context, name user.Name) (user.User, error) {
	return u.staleByName.find(ctx, name)
}

// StaleByID implements user.StaleIDFinder.
func (u *Users) StaleByID(ctx context.Context, id user.ID) (user.User, error) {
	if !isText(string(id)) {
		return user.User{}, errNotFound
	}
	return u.staleByID.find(ctx, id)
}

func foldedNames(names []user.Name) []any {
	folded := make([]string, len(names))
	for i, name := range names {
		folded[i] = name.Folded()
	}
	return []any{folded}
}

// Create implements user.Creator.
func (u *Users) Create(ctx context.Context, created user.User, services map[string]string) error {
	return u.store.transaction(ctx, func(tx *gorm.DB) error {
		if err := tx.Create(newUserRow(created)).Error; err != nil {
			return err
		}
		return createServices(tx, string(created.ID), services)
	})
}

func newUserRow(u user.User) *userRow {
	return &userRow{
		ID: string(u.ID), Username: u.Name.String(), AvatarURL: u.AvatarURL, DefaultLanguage: u.DefaultLanguage,
		PublicProfile: u.PublicProfile, SupporterMonths: u.SupporterMonths, Contributor: u.Contributor, CreatedAt: instant(u.CreatedAt),
	}
}

func createServices(tx *gorm.DB, userID string, services map[string]string) error {
	if len(services) == 0 {
		return nil
	}
	return tx.Create(newServiceRows(userID, services)).Error
}

func newServiceRows(userID string, services map[string]string) []serviceRow {
	rows := make([]serviceRow, 0, len(services))
	for service, serviceUserID := range services {
		rows = append(rows, serviceRow{UserID: userID, Service: service, ServiceUserID: serviceUserID})
	}
	return rows
}

// fields returns where to scan userColumns to, in their order.
func (r *userRow) fields() []any {
	return []any{&r.ID, &r.Username, &r.AvatarURL, &r.DefaultLanguage, &r.PublicProfile, &r.SupporterMonths, &r.Contributor, &r.CreatedAt}
}

func (r *userRow) value() (user.User, error) {
	name, err := user.ParseName(r.Username)
	if err != nil {
		return user.User{}, fault.Unforeseen(fmt.Errorf("user %s: %w", r.ID, err))
	}
	return user.User{
		ID: user.ID(r.ID), Name: name, AvatarURL: r.AvatarURL, DefaultLanguage: r.DefaultLanguage,
		PublicProfile: r.PublicProfile, SupporterMonths: r.SupporterMonths, Contributor: r.Contributor, CreatedAt: r.CreatedAt.UTC(),
	}, nil
}

// Each implements user.Lister.
func (u *Users) Each(ctx context.Context, visit func(user.User) error) error {
	leave, err := enter(ctx, u.store.sql.lists, u.store.sql.bulk)
	if err != nil {
		return err
	}
	defer leave()
	return walk(u.store.gorm.WithContext(ctx).Model(&userRow{}).Order("username_folded"), func(row *userRow) error {
		found, err := row.value()
		if err != nil {
			return err
		}
		return visit(found)
	}, u.store.sql.lists, u.store.sql.bulk)
}

// WithServices implements user.ServiceFinder.
func (u *Users) WithServices(ctx context.Context, name user.Name) (user.User, map[string]string, error) {
	var (
		row      userRow
		asJSON   []byte
		services map[string]string
	)
	if err := u.store.queryRow(ctx, fromPrimary, u.store.queries.userWithServices, append(row.fields(), &asJSON),
		name.Folded()); err != nil {
		return user.User{}, nil, err
	}
	if err := json.Unmarshal(asJSON, &services); err != nil {
		return user.User{}, nil, fault.Unforeseen(err)
	}
	found, err := row.value()
	return found, services, err
}

// Update implements user.Updater.
func (u *Users) Update(ctx context.Context, name user.Name, change func(*user.User, map[string]string) error) (
	updated user.User, services map[string]string, err error,
) {
	err = u.store.transaction(ctx, func(tx *gorm.DB) error {
		updated, services, err = lockedWithServices(tx, name)
		if err != nil {
			return err
		}
		before, servicesBefore := updated, maps.Clone(services)
		if err := visiting(func() error { return change(&updated, services) }, u.store.sql.writes, u.store.sql.bulk); err != nil {
			return err
		}
		updated.ID, updated.CreatedAt = before.ID, before.CreatedAt
		if err := tx.Select("*").Updates(newUserRow(updated)).Error; err != nil {
			return err
		}
		if maps.Equal(services, servicesBefore) {
			return nil
		}
		if err := tx.Where("user_id = ?", string(updated.ID)).Delete(&serviceRow{}).Error; err != nil {
			return err
		}
		return createServices(tx, string(updated.ID), services)
	})
	if err != nil {
		return user.User{}, nil, err
	}
	return updated, services, nil
}

// lockedWithServices returns a user that nobody else can change before the transaction ends. Whoever changes
// the services locks the user first.
func lockedWithServices(tx *gorm.DB, name user.Name) (user.User, map[string]string, error) {
	row, err := lockedByName(tx, name)
	if err != nil {
		return user.User{}, nil, err
	}
	var rows []serviceRow
	if err := tx.Where("user_id = ?", row.ID).Find(&rows).Error; err != nil {
		return user.User{}, nil, err
	}
	services := make(map[string]string, len(rows))
	for _, row := range rows {
		services[row.Service] = row.ServiceUserID
	}
	found, err := row.value()
	return found, services, err
}

// movesFollowed is how often a user is looked for whose name moves.
const movesFollowed = 3

// lockedByName returns a user that nobody else can change before the transaction ends.
//
// A statement that waited for a row whose name has moved on meanwhile finds nobody, although an import may have
// given the name to another in the same transaction: only the next statement sees that one.
func lockedByName(tx *gorm.DB, name user.Name) (row userRow, err error) {
	for range movesFollowed {
		row = userRow{}
		err = forUpdate(tx).Where("username_folded = ?", name.Folded()).Take(&row).Error
		if !errors.Is(err, gorm.ErrRecordNotFound) {
			break
		}
	}
	return row, err
}

// Delete implements user.Deleter. Foreign keys take along what belongs to the user, and its time grows with that.
func (u *Users) Delete(ctx context.Context, name user.Name) (user.ID, error) {
	var deleted userRow
	err := u.store.transaction(ctx, func(tx *gorm.DB) (err error) {
		if deleted, err = lockedByName(tx, name); err != nil {
			return err
		}
		return orNotFound(tx.Delete(&deleted))
	})
	if err != nil {
		return "", err
	}
	return user.ID(deleted.ID), nil
}
