package moderation

import (
	"context"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/user"
)

// ListAccounts lists users for administrators.
type ListAccounts struct{ *module }

// maxNamePart is the longest part of a name, or id, that accounts are looked for by.
const maxNamePart = 64

var errNamePart = fault.New(fault.Invalid,
	"Search for a part of a username, or a user id, of at most 64 printable bytes.")

// Do returns the first accounts after a place that match the filter, at most limit of them. It fails with
// fault.Forbidden unless the actor is the operator or an administrator, and with fault.Invalid for a name that no user
// could have.
func (l *ListAccounts) Do(
	ctx context.Context, actor audit.Actor, filter moderation.AccountFilter, order moderation.Order,
	after moderation.AccountCursor, limit int,
) ([]moderation.Account, error) {
	if err := actor.CheckAdministrator(); err != nil {
		return nil, err
	}
	if !ident.Printable(filter.Name, maxNamePart) {
		return nil, errNamePart
	}
	return l.store.Accounts(ctx, filter, order, after, limit)
}

// ShowAccount shows administrators a user.
type ShowAccount struct{ *module }

// Do returns the user of that id, and how much the user has stored. It fails with fault.Forbidden unless the actor is
// the operator or an administrator, and with user.ErrNotFound when there is no such user.
func (s *ShowAccount) Do(ctx context.Context, actor audit.Actor, id user.ID) (moderation.Account, error) {
	if err := actor.CheckAdministrator(); err != nil {
		return moderation.Account{}, err
	}
	account, err := s.store.AccountOf(ctx, id)
	return account, user.ReplaceNotFound(err)
}
