package pastes

import (
	"maps"
	"sync"
	"time"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

// maxPreviewers is how many clients Preview remembers.
const maxPreviewers = 10_000

// Preview counts what viewers render of a paste that they have not created yet.
type Preview struct {
	create *CreateOwn

	mu   sync.Mutex
	full map[paste.Client]time.Time // when they have their whole quotas again
}

// Do counts a preview. The actor may preview as many texts as it may create pastes, which count for themselves, and
// each process counts by itself. It fails as CreateOwn.Do does for those who may not create any paste, and with a
// fault.Exhausted, with a *paste.QuotaError in the chain, when the quota is used up.
func (p *Preview) Do(actor audit.Actor) error {
	viewer, err := actor.Writer()
	if err != nil {
		return err
	}
	if err := p.create.Allow(viewer); err != nil {
		return err
	}
	allowance, client := p.create.allowance(viewer, actor.Address())
	if allowance.Rate.Pastes == 0 {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.create.now()
	full, err := allowance.Rate.Take(p.full[client].Sub(now))
	if err != nil {
		return fault.Wrap(fault.Exhausted, "You have reached the limit for previews. Try again later.", err)
	}
	if p.full[client] = now.Add(full); len(p.full) > maxPreviewers {
		maps.DeleteFunc(p.full, func(_ paste.Client, at time.Time) bool { return at.Before(now) })
	}
	if len(p.full) > maxPreviewers {
		clear(p.full)
	}
	return nil
}
