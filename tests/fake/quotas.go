package fake

import (
	"context"
	"time"

	"github.com/gluepot/gluepot/domain/paste"
)

// CreateCounted implements paste.CountedCreator.
func (p Pastes) CreateCounted(
	ctx context.Context, client paste.Client, quota paste.Quota, created paste.Document,
) (used paste.Usage, err error) {
	unlock, err := p.lock(ctx)
	if err != nil {
		return paste.Usage{}, err
	}
	defer unlock()
	now := p.now()
	if used, err = quota.Take(p.quotas[client].Sub(now)); err != nil {
		return paste.Usage{}, err
	}
	created.Owner, created.Edits = "", nil
	if err := p.create(created); err != nil {
		return paste.Usage{}, err
	}
	if p.quotas == nil {
		p.quotas = make(map[paste.Client]time.Time)
	}
	p.quotas[client] = now.Add(used.Full)
	return used, nil
}

// ForgetClients implements paste.ClientForgetter.
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
