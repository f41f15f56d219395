package fake

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// formerName is the user who gave a name up, and the time.
type formerName struct {
	id user.ID
	at time.Time
}

func (s *Store) giveUp(name user.Name, id user.ID) {
	if s.former == nil {
		s.former = make(map[string]formerName)
	}
	s.former[name.Folded()] = formerName{id, s.now()}
	all := s.formerNames(id)
	for _, oldest := range all[min(len(all), user.MaxFormerNames):] {
		delete(s.former, oldest)
	}
}

// formerNames returns the names that a user gave up, the latest first.
func (s *Store) formerNames(id user.ID) (all []string) {
	for folded, former := range s.former {
		if former.id == id {
			all = append(all, folded)
		}
	}
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(s.former[b].at.Compare(s.former[a].at), cmp.Compare(b, a))
	})
	return all
}

// ByFormerName implements user.Store.
func (u Users) ByFormerName(ctx context.Context, name user.Name) (user.User, error) {
	unlock, err := u.lock(ctx)
	if err != nil {
		return user.User{}, err
	}
	defer unlock()
	if owner, ok := u.byID(u.former[name.Folded()].id); ok {
		return owner, nil
	}
	return user.User{}, errNotFound
}

// Export implements token.Store.
func (t Tokens) Export(ctx context.Context, owner user.ID) (export token.Export, err error) {
	if export.Account, err = Users(t).AccountByID(ctx, owner); err != nil {
		return token.Export{}, err
	}
	if export.Tokens, err = t.ByOwner(ctx, owner); err != nil {
		return token.Export{}, err
	}
	unlock, err := t.lock(ctx)
	if err != nil {
		return token.Export{}, err
	}
	defer unlock()
	export.Sessions = t.sessions(owner)
	export.FormerNames = slices.DeleteFunc(t.formerNames(owner), func(folded string) bool {
		return slices.ContainsFunc(t.users, func(other user.User) bool { return other.Name.Folded() == folded })
	})
	return export, nil
}
