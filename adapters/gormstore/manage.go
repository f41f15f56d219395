package gormstore

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"time"
	"unicode/utf8"

	"gorm.io/gorm"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

var (
	_ user.Lister        = (*Users)(nil)
	_ user.ServiceFinder = (*Users)(nil)
	_ user.Editor        = (*Users)(nil)
	_ token.OwnerLister  = (*Tokens)(nil)
	_ token.Revoker      = (*Tokens)(nil)
	_ paste.OwnerReader  = (*Pastes)(nil)
	_ paste.Deleter      = (*Pastes)(nil)
	_ paste.Unstarrer    = (*Pastes)(nil)
)

// Each implements user.Lister.
func (u *Users) Each(ctx context.Context, visit func(user.User) error) error {
	leave, err := enter(ctx, u.store.sql.lists, u.store.sql.bulk)
	if err != nil {
		return err
	}
	defer leave()
	return eachRow(u.store.gorm.WithContext(ctx).Model(&userRow{}).Order("username_folded"), func(row *userRow) error {
		found, err := row.user()
		if err != nil {
			return err
		}
		return visit(found)
	})
}

// WithServices implements user.ServiceFinder.
func (u *Users) WithServices(ctx context.Context, name user.Name) (user.User, map[string]string, error) {
	var (
		row      userRow
		asJSON   []byte
		services map[string]string
	)
	if err := u.store.queryRow(ctx, u.store.queries.userWithServices, append(row.fields(), &asJSON), name.Folded()); err != nil {
		return user.User{}, nil, err
	}
	if err := json.Unmarshal(asJSON, &services); err != nil {
		return user.User{}, nil, fault.Wrap(fault.Internal, fault.MessageOf(nil), err)
	}
	found, err := row.user()
	return found, services, err
}

// Update implements user.Editor.
func (u *Users) Update(ctx context.Context, name user.Name, change func(*user.User, map[string]string) error) (
	updated user.User, services map[string]string, err error,
) {
	err = u.store.transaction(ctx, func(tx *gorm.DB) error {
		updated, services, err = lockedWithServices(tx, name)
		if err != nil {
			return err
		}
		before, servicesBefore := updated, maps.Clone(services)
		if err := change(&updated, services); err != nil {
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
	found, err := row.user()
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

// Delete implements user.Editor. Foreign keys take along what belongs to the user.
func (u *Users) Delete(ctx context.Context, name user.Name) (user.ID, error) {
	var deleted userRow
	err := u.store.transaction(ctx, func(tx *gorm.DB) (err error) {
		if deleted, err = lockedByName(tx, name); err != nil {
			return err
		}
		return one(tx.Delete(&deleted))
	})
	if err != nil {
		return "", err
	}
	return user.ID(deleted.ID), nil
}

// ByOwner implements token.OwnerLister.
func (t *Tokens) ByOwner(ctx context.Context, owner user.ID) ([]token.Token, error) {
	var rows []tokenRow
	if err := t.store.gorm.WithContext(ctx).Where("user_id = ?", string(owner)).Order("created_at, id").Find(&rows).Error; err != nil {
		return nil, translate(err)
	}
	tokens := make([]token.Token, len(rows))
	for i := range rows {
		tokens[i] = rows[i].token()
	}
	return tokens, nil
}

// Revoke implements token.Revoker.
func (t *Tokens) Revoke(ctx context.Context, id token.ID, at time.Time) error {
	if !isText(string(id)) {
		return errNotFound
	}
	result := t.store.gorm.WithContext(ctx).Model(&tokenRow{}).Where("id = ?", string(id)).
		Update("revoked_at", gorm.Expr("coalesce(revoked_at, ?)", instant(at)))
	return translate(one(result))
}

// EachOf implements paste.OwnerReader.
func (p *Pastes) EachOf(ctx context.Context, owner user.ID, visit func(paste.Paste) error) error {
	leave, err := enter(ctx, p.store.sql.lists, p.store.sql.bulk)
	if err != nil {
		return err
	}
	defer leave()
	query := p.store.gorm.WithContext(ctx).Model(&pasteRow{}).Where("owner_id = ?", string(owner)).Order("created_at DESC, id DESC")
	return eachRow(query, func(row *pasteRow) error { return visit(row.paste()) })
}

// Delete implements paste.Deleter.
func (p *Pastes) Delete(ctx context.Context, id paste.ID) error {
	if !isText(string(id)) {
		return errNotFound
	}
	return translate(one(p.store.gorm.WithContext(ctx).Where("id = ?", string(id)).Delete(&pasteRow{})))
}

// Unstar implements paste.Unstarrer.
func (p *Pastes) Unstar(ctx context.Context, starrer user.ID, id paste.ID) error {
	if !isText(string(id)) {
		return errNotFound
	}
	result := p.store.gorm.WithContext(ctx).Where("user_id = ? AND paste_id = ?", string(starrer), string(id)).Delete(&starRow{})
	return translate(one(result))
}

// eachRow calls visit with one row of a query after the other, without holding them all.
func eachRow[T any](query *gorm.DB, visit func(*T) error) error {
	rows, err := query.Rows()
	if err != nil {
		return translate(err)
	}
	defer rows.Close() //nolint:errcheck // Err below says what went wrong
	for rows.Next() {
		var row T
		if err := query.ScanRows(rows, &row); err != nil {
			return translate(err)
		}
		if err := visit(&row); err != nil {
			return err
		}
	}
	return translate(rows.Err())
}

// one turns a change that found nothing to change into the error for that.
func one(result *gorm.DB) error {
	if result.Error == nil && result.RowsAffected == 0 {
		return gorm.ErrRecordNotFound
	}
	return result.Error
}

// isText reports whether PostgreSQL takes s for text. It refuses to look for any other, which no row has as its id.
func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }
