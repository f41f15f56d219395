package gormstore

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
)

var _ paste.HeldIDFinder = (*Pastes)(nil)

// maxHeldIDs is how many ids are read with a token. Whoever has more has their list read by a statement of its own, which
// takes many times as long as this one.
const maxHeldIDs = 50

// heldIDs is a token and the ids of its owner's pastes, one more than maxHeldIDs at most.
type heldIDs struct {
	holder token.Token
	ids    []paste.ID
}

// newHeldIDs returns the dataloader of tokens with ids. They are lists, and pass the gates of those; waits reports whether others have
// all the room that there is.
func newHeldIDs(store *Store) (merged *dataloader[token.Hash, heldIDs], waits func() bool) {
	held := &lookup[token.Hash, heldIDs]{
		store: store, gates: []*gate{store.sql.lists, store.sql.bulk},
		one:    store.queries.heldIDs,
		args:   func(hash token.Hash) []any { return store.timed(hash[:], maxHeldIDs+1) },
		many:   store.queries.heldIDsByHashes,
		arrays: func(hashes []token.Hash) []any { return []any{bytesOf(hashes), maxHeldIDs + 1} },
		newRow: func() scannable[heldIDs] { return new(heldIDsRow) },
	}
	waits = func() bool { return held.inside.Load() == 0 && slices.ContainsFunc(held.gates, (*gate).full) }
	return held.merged(store.sql.accountsAtOnce, &store.batches.tokens), waits
}

// HeldIDs implements paste.HeldIDFinder (decision 0060). Whoever would wait for room among the lists is first known to have a token
// that is valid, by the store's clock.
func (p *Pastes) HeldIDs(ctx context.Context, hash token.Hash) (holder token.Token, ids []paste.ID, all bool, err error) {
	if p.heldWaits() {
		holder, err := p.tokens.find(ctx, hash)
		if err != nil || holder.Verify(hash, p.store.clock()) != nil {
			return holder, nil, false, err
		}
	}
	held, err := p.held.find(ctx, hash)
	if err != nil {
		return token.Token{}, nil, false, err
	}
	if len(held.ids) > maxHeldIDs {
		return held.holder, nil, false, nil
	}
	return held.holder, held.ids, true, nil
}

type heldIDsRow struct {
	token tokenRow
	ids   []byte // JSON, as an id may have any character
}

func (r *heldIDsRow) fields() []any { return append(r.token.fields(), &r.ids) }

func (r *heldIDsRow) value() (held heldIDs, err error) {
	held.holder = r.token.token()
	if err := json.Unmarshal(r.ids, &held.ids); err != nil {
		return heldIDs{}, fault.Unforeseen(err)
	}
	return held, nil
}
