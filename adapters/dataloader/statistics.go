package dataloader

import (
	"math/bits"
	"sync/atomic"
)

// BatchSizes counts statements by how many lookups each answered.
type BatchSizes struct {
	Statements, Lookups uint64
	// AtMost has, for each power of two up to 64, the number of statements that answered as many lookups or fewer.
	AtMost map[float64]uint64
}

// Statistics returns what the statements have answered since New: users, accounts, tokens, pastes and counts.
func (d *Dataloader) Statistics() map[string]BatchSizes {
	return map[string]BatchSizes{
		"users": d.users.snapshot(), "accounts": d.accounts.snapshot(), "tokens": d.tokens.snapshot(),
		"pastes": d.pastes.snapshot(), "counts": d.counts.snapshot(),
	}
}

// sizes counts statements by their lookups: the last counter has those of more than 64. The zero value counts.
type sizes struct {
	lookups    atomic.Uint64
	statements [8]atomic.Uint64
}

func (s *sizes) add(lookups int) {
	s.lookups.Add(uint64(lookups))
	s.statements[min(bits.Len(uint(lookups-1)), len(s.statements)-1)].Add(1)
}

func (s *sizes) snapshot() BatchSizes {
	taken := BatchSizes{Lookups: s.lookups.Load(), AtMost: make(map[float64]uint64, len(s.statements)-1)}
	for i := range s.statements {
		taken.Statements += s.statements[i].Load()
		if i < len(s.statements)-1 {
			taken.AtMost[float64(int(1)<<i)] = taken.Statements
		}
	}
	return taken
}
