package fake

import (
	"context"
	"net/netip"
	"time"

	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// ForgetClients implements paste.Store.
func (p Pastes) ForgetClients(ctx context.Context, limit int) (count int, err error) {
	unlock, err := p.lock(ctx)
	if err != nil {
		return 0, err
	}
	defer unlock()
	for client, full := range p.quotas {
		if count < limit && !full.After(p.now()) {
			delete(p.quotas, client)
			count++
		}
	}
	return count, nil
}

// CreateAllowed implements paste.Store.
func (p Pastes) CreateAllowed(
	ctx context.Context, _ netip.Addr, allowance paste.Allowance, client paste.Client, created paste.Document,
) (usage paste.Usage, err error) {
	unlock, err := p.lock(ctx)
	if err != nil {
		return usage, err
	}
	defer unlock()
	if created.Owner != "" && (allowance.Pastes > 0 || allowance.Bytes > 0) {
		if !p.exists(created.Owner) {
			return usage, errNotFound
		}
		if err := allowance.Add(p.holding(created.Owner), paste.Holding{Pastes: 1, Bytes: created.Bytes()}); err != nil {
			return usage, err
		}
	}
	if owner, ok := p.byID(created.Owner); ok && owner.PastesHidden {
		return usage, token.ErrSuspended
	}
	before := p.quotas[client]
	if usage, err = p.take(client, allowance.Rate); err != nil {
		return usage, err
	}
	if err := p.create(created); err != nil {
		p.quotas[client] = before
		return paste.Usage{}, err
	}
	return usage, nil
}

// take counts one paste against a client's quota, if there is a quota.
func (s *Store) take(client paste.Client, quota paste.Quota) (paste.Usage, error) {
	if s.quotas == nil {
		s.quotas = make(map[paste.Client]time.Time)
	}
	if quota.Pastes == 0 {
		return paste.Usage{}, nil
	}
	now := s.now()
	full, err := quota.Take(s.quotas[client].Sub(now))
	if err != nil {
		return paste.Usage{}, err
	}
	s.quotas[client] = now.Add(full)
	return paste.Usage{Quota: quota, Full: full}, nil
}

func (s *Store) holding(owner user.ID) (holding paste.Holding) {
	for _, p := range s.pastes {
		if p.Owner == owner && s.active(p) {
			holding.Pastes++
			holding.Bytes += s.contents[p.ID].Bytes()
		}
	}
	return holding
}

// UpdateAllowed implements paste.Store.
func (p Pastes) UpdateAllowed(
	ctx context.Context, _ netip.Addr, allowance paste.Allowance, client paste.Client, editor user.ID, id paste.ID,
	change func(paste.Document) (paste.Change, error),
) (paste.Document, error) {
	return p.Update(ctx, auditlog.Entry{}, id, func(stored paste.Document) (paste.Change, error) {
		after, err := change(stored)
		if err == nil && after.Changed {
			err = allowance.Add(p.holding(editor), paste.Holding{Bytes: after.Bytes() - stored.Bytes()})
			if err == nil {
				_, err = p.take(client, allowance.Rate)
			}
		}
		return after, err
	})
}
