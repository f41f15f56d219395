// Package pastes has the use cases about pastes. Each fails with fault.Unavailable when the store does not answer, and
// one that needs a user as its viewer with token.ErrRejected when the viewer has not signed in.
package pastes

import (
	"sync/atomic"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/notice"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// UseCases is what can be asked about pastes. The first group is for viewers, the second for operators.
type UseCases struct {
	CreateOwn    *CreateOwn
	Preview      *Preview
	Read         *Read
	Open         *Open
	EditOwn      *EditOwn
	DeleteOwn    *DeleteOwn
	AnonymizeOwn *AnonymizeOwn
	ListOwn      *ListOwn
	Browse       *Browse
	List         *List
	Star         *Star
	CountActive  *CountActive

	Create *Create
	Show   *Show
	Edit   *Edit
	Delete *Delete
	Sweep  *Sweep

	SizeLimit *SizeLimit
}

// Options are what an installation chooses.
type Options struct {
	// Rules create and change pastes.
	Rules paste.Rules
	// TokenRequired turns off anonymous pastes, except for operators.
	TokenRequired bool
	// AnonymousQuota is the quota of each client that creates pastes without a token. Default: none.
	AnonymousQuota paste.Quota
	// Lifetimes bound the pastes of signed-in users, AnonymousLifetimes those of visitors. Operators' pastes are exempt.
	Lifetimes, AnonymousLifetimes paste.Lifetimes
	// Allowance bounds each signed-in user except administrators, also in edits. Default: none.
	Allowance paste.Allowance
	// MaxBytes bounds the content and history of all pastes; 0, the default, means no limit.
	MaxBytes int64
	Notify   notice.Func // of the store that fills up; nil: no one is told
	// SweepGrace is how long pastes stay after they expire. It must exceed the longest request and any step back of a
	// clock, so that requests in progress do not miss a paste that they count.
	SweepGrace time.Duration
	// RemovedRetention is how long pastes that operators removed can be restored before Sweep deletes them.
	RemovedRetention time.Duration
	// OriginRetention is how long the address that a paste was created from is kept; 0, the default, keeps none.
	OriginRetention time.Duration
}

// module is what the use cases share.
type module struct {
	store     paste.Store
	users     user.Store
	options   Options
	sizeLimit *SizeLimit
	now       func() time.Time
}

// New returns the use cases over their ports.
func New(store paste.Store, users user.Store, options Options, now func() time.Time) *UseCases {
	room := &SizeLimit{max: options.MaxBytes, notify: options.Notify, now: now}
	m := &module{store: store, users: users, options: options, sizeLimit: room, now: now}
	read, create := &Read{m}, &CreateOwn{module: m}
	return &UseCases{
		CreateOwn:    create,
		Preview:      &Preview{create: create, full: map[paste.Client]time.Time{}},
		Read:         read,
		Open:         &Open{m},
		EditOwn:      &EditOwn{m},
		DeleteOwn:    &DeleteOwn{m},
		AnonymizeOwn: &AnonymizeOwn{m},
		ListOwn:      &ListOwn{m},
		Browse:       &Browse{m},
		List:         &List{&Browse{m}},
		Star:         &Star{read},
		CountActive:  &CountActive{m},
		Create:       &Create{m},
		Show:         &Show{m},
		Edit:         &Edit{m},
		Delete:       &Delete{m},
		Sweep:        &Sweep{module: m},
		SizeLimit:    m.sizeLimit,
	}
}

// SizeLimit bounds what the installation stores. It is told the size from time to time, and in between adds what this
// process stores. So no request has to ask the store.
type SizeLimit struct {
	max            int64 // bytes of content and history; 0: none
	used           atomic.Int64
	toldNearlyFull atomic.Bool // the operator was told that four fifths are used
	toldFull       atomic.Bool // the operator was told of a write that was refused
	notify         notice.Func
	now            func() time.Time
}

// SetUsed sets the current size. It returns true, and tells the operator, when four fifths of the room are used and
// were not before.
func (r *SizeLimit) SetUsed(bytes int64) (nearlyFull bool) {
	r.used.Store(bytes)
	if bytes < r.max {
		r.toldFull.Store(false)
	}
	if r.max == 0 || bytes < r.max/5*4 {
		r.toldNearlyFull.Store(false)
		return false
	}
	if r.toldNearlyFull.Swap(true) {
		return false
	}
	r.tell(notice.StoreNearlyFull,
		"The pastes use at least four fifths of GLUEPOT_STORE_MAX_BYTES. At the limit, no pastes can be created.")
	return true
}

func (r *SizeLimit) tell(event notice.Event, text string) {
	r.notify.Tell(notice.Notice{Event: event, At: r.now(), Text: text})
}

func (r *SizeLimit) add(bytes int64) { r.used.Add(bytes) }

var errFull = fault.New(fault.Unavailable,
	"This server is full: you can read and delete pastes, but not add any. Try again later.")

// check fails with fault.Unavailable when there is no room for more.
func (r *SizeLimit) check() error {
	if r.max > 0 && r.used.Load() >= r.max {
		if !r.toldFull.Swap(true) {
			r.tell(notice.StoreFull,
				"The pastes have reached GLUEPOT_STORE_MAX_BYTES. Writes are refused until pastes are deleted or expire.")
		}
		return errFull
	}
	return nil
}
