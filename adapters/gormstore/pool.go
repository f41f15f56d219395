package gormstore

import (
	"context"
	"database/sql"
	"slices"
	"sync"
	"sync/atomic"

	"gorm.io/gorm"
)

// pool is the connections to a database, shared out so that what takes long, or waits for somebody's lock, never
// has them all.
//
// Why it is there: without it, 64 long lists or one lock on pastes took every connection, and profiles waited for seconds beside
// them: 4,930 ms instead of 2 on SQLite, 730 instead of 11 on PostgreSQL (decision 0019). Pools of their own would leave
// connections idle.
//
// Of M connections, bulk work may have half at once, and counts as any of it: lists a quarter of M, and writing transactions
// and single writes all of the half but one (one on SQLite, which has one writer anyway): each waits for the disk, and those
// that wait together share its answer. Accounts, which read stars and so pastes, may have a quarter. The rest is left to
// what reads users and tokens by their index. A pool of two shares one between bulk
// work and accounts, and in one of one everything waits for everything.
//
// Whatever is written through ExecContext or BeginTx is bulk work by itself; lists and counts say so.
type pool struct {
	*sql.DB

	bulk, lists, writes *gate
	accounts            *gate // nil: accounts are bounded by their dataloader, or need not be

	// Statements with merged lookups of one kind that may be under way at once: users by name, or tokens; accounts; and
	// new pastes. 0 on SQLite, which is in the same process: there is nothing to save.
	lookupsAtOnce, accountsAtOnce, creationsAtOnce int
}

func newPool(db *sql.DB, connections int, embedded bool) *pool {
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections) // the default of two would reconnect under load
	half, quarter := max(1, connections/2), max(1, connections/4)
	p := &pool{DB: db, bulk: newGate(half), lists: newGate(quarter), writes: newGate(max(1, half-1))}
	p.lookupsAtOnce, p.accountsAtOnce, p.creationsAtOnce = half, quarter, quarter
	if embedded { // statements of other kinds end soon: whoever reads does not wait for a writer
		p.writes, p.lookupsAtOnce, p.accountsAtOnce, p.creationsAtOnce = newGate(1), 0, 0, 0
	} else if connections == 2 {
		p.accounts = p.bulk
	}
	return p
}

// ExecContext is that of *sql.DB, for writes.
func (p *pool) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	leave, err := enter(ctx, p.writes, p.bulk)
	if err != nil {
		return nil, err
	}
	defer leave()
	return p.DB.ExecContext(ctx, query, args...)
}

// BeginTx is that of *sql.DB, for writes.
func (p *pool) BeginTx(ctx context.Context, options *sql.TxOptions) (*poolTx, error) {
	leave, err := enter(ctx, p.writes, p.bulk)
	if err != nil {
		return nil, err
	}
	tx, err := p.DB.BeginTx(ctx, options)
	if err != nil {
		leave()
		return nil, err
	}
	return &poolTx{tx, leave}, nil
}

// poolTx gives its place up when it ends.
type poolTx struct {
	*sql.Tx
	leave func()
}

// Commit implements gorm.TxCommitter.
func (t *poolTx) Commit() error {
	defer t.leave()
	return t.Tx.Commit()
}

// Rollback implements gorm.TxCommitter.
func (t *poolTx) Rollback() error {
	defer t.leave()
	return t.Tx.Rollback()
}

// gormPool is a pool as GORM knows it.
type gormPool struct{ *pool }

var (
	_ gorm.ConnPool         = gormPool{}
	_ gorm.ConnPoolBeginner = gormPool{}
	_ gorm.TxCommitter      = (*poolTx)(nil)
)

// BeginTx implements gorm.ConnPoolBeginner.
func (p gormPool) BeginTx(ctx context.Context, options *sql.TxOptions) (gorm.ConnPool, error) {
	tx, err := p.pool.BeginTx(ctx, options)
	if err != nil {
		return nil, err // not a nil *poolTx
	}
	return tx, nil
}

// gate lets as many in at once as it has room for, and the others in the order in which they came. A nil gate lets
// everybody in.
type gate struct {
	places   chan struct{}
	visitors atomic.Int32 // places whose holders are calling a visitor: what they do next is not the store's to say
}

func newGate(room int) *gate { return &gate{places: make(chan struct{}, room)} }

// full reports whether whoever comes now has to wait.
func (g *gate) full() bool { return g != nil && len(g.places) == cap(g.places) }

// lent reports whether every place is held by somebody who is calling a visitor.
func (g *gate) lent() bool { return g != nil && int(g.visitors.Load()) >= cap(g.places) }

// wouldNest reports whether the caller is a visitor who would wait for visitors.
func wouldNest(gates []*gate) bool { return slices.ContainsFunc(gates, (*gate).lent) && inVisit() }

// enter passes the gates in their order, the same for all who pass several. It fails with fault.Unavailable when the
// context ends first, and with errNested instead of waiting when the caller is a visitor and the room that it wants is
// with visitors only, who may wait for each other. Whoever else has a place gives it up by himself.
func enter(ctx context.Context, gates ...*gate) (leave func(), err error) {
	passed := 0
	leave = func() {
		for _, g := range gates[:passed] {
			if g != nil {
				<-g.places
			}
		}
	}
	for ; passed < len(gates); passed++ {
		if gates[passed] == nil {
			continue
		}
		select {
		case gates[passed].places <- struct{}{}:
			continue
		default:
		}
		if wouldNest(gates) {
			leave()
			return nil, errNested
		}
		select {
		case gates[passed].places <- struct{}{}:
		case <-ctx.Done():
			leave()
			return nil, unavailable(ctx.Err())
		}
	}
	return sync.OnceFunc(leave), nil
}
