package fake

import (
	"context"
	"net/netip"
	"time"

	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// ForgetClients implements paste.Store.
func (p Pastes) ForgetClients(ctx context.Context, limit int) (forgotten int, err error) {
	unlock, err := p.lock(ctx)
	if err != nil {
		return 0, err
	}
	defer unlock()
	for client, full := range p.quotas {
		if forgotten < limit && !full.After(p.now()) {
			delete(p.quotas, client)
			forgotten++
		}
	}
	return forgotten, nil
}

// CreateAllowed implements paste.Store.
func (p Pastes) CreateAllowed(
	ctx context.Context, _ netip.Addr, allowance paste.Allowance, client paste.Client, created paste.Document,
) (used paste.Usage, err error) {
	unlock, err := p.lock(ctx)
	if err != nil {
		return used, err
	}
	defer unlock()
	if created.Owner != "" && (allowance.Pastes > 0 || allowance.Bytes > 0) {
		if !p.exists(created.Owner) {
			return used, errNotFound
		}
		if err := allowance.Add(p.holding(created.Owner), paste.Holding{Pastes: 1, Bytes: created.Bytes()}); err != nil {
			return used, err
		}
	}
	before := p.quotas[client]
	if used, err = p.take(client, allowance.Rate); err != nil {
		return used, err
	}
	if err := p.create(created); err != nil {
		p.quotas[client] = before
		return paste.Usage{}, err
	}
	return used, nil
}

// take counts one for a client, if there is a quota.
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

func (s *Store) holding(owner user.ID) (has paste.Holding) {
	for _, known := range s.pastes {
		if known.Owner == owner && s.active(known) {
			has.Pastes++
			has.Bytes += s.contents[known.ID].Bytes()
		}
	}
	return has
}

// UpdateAllowed implements paste.Store.
func (p Pastes) UpdateAllowed(
	ctx context.Context, _ netip.Addr, allowance paste.Allowance, client paste.Client, editor user.ID, id paste.ID,
	change func(paste.Document) (paste.Change, error),
) (paste.Document, error) {
	return p.Update(ctx, auditlog.Entry{}, id, func(stored paste.Document) (paste.Change, error) {
		changed, err := change(stored)
		if err == nil && changed.Changed {
			err = allowance.Add(p.holding(editor), paste.Holding{Bytes: changed.Bytes() - stored.Bytes()})
			if err == nil {
				_, err = p.take(client, allowance.Rate)
			}
		}
		return changed, err
	})
}
