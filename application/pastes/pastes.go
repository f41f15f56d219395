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
	CreateOwn   *CreateOwn
	Read        *Read
	Open        *Open
	EditOwn     *EditOwn
	DeleteOwn   *DeleteOwn
	GiveUpOwn   *GiveUpOwn
	ListOwn     *ListOwn
	Browse      *Browse
	Outlines    *Outlines
	StarSeen    *StarSeen
	CountActive *CountActive

	Create *Create
	Show   *Show
	Edit   *Edit
	Delete *Delete
	Sweep  *Sweep

	Room *Room
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
	// MaxBytes bounds the content and history of all pastes; 0, the default, is no limit.
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
	store   paste.Store
	users   user.Store
	options Options
	room    *Room
	now     func() time.Time
}

// New returns the use cases over their ports.
func New(store paste.Store, users user.Store, options Options, now func() time.Time) *UseCases {
	room := &Room{limit: options.MaxBytes, notify: options.Notify, now: now}
	m := &module{store: store, users: users, options: options, room: room, now: now}
	read := &Read{m}
	return &UseCases{
		CreateOwn:   &CreateOwn{module: m},
		Read:        read,
		Open:        &Open{m},
		EditOwn:     &EditOwn{m},
		DeleteOwn:   &DeleteOwn{m},
		GiveUpOwn:   &GiveUpOwn{m},
		ListOwn:     &ListOwn{m},
		Browse:      &Browse{m},
		Outlines:    &Outlines{&Browse{m}},
		StarSeen:    &StarSeen{read},
		CountActive: &CountActive{m},
		Create:      &Create{m},
		Show:        &Show{m},
		Edit:        &Edit{m},
		Delete:      &Delete{m},
		Sweep:       &Sweep{module: m},
		Room:        m.room,
	}
}

// Room bounds what the installation stores. It is told the size from time to time, and in between adds what this
// process stores. So no request has to ask the store.
type Room struct {
	limit  int64 // bytes of content and history; 0: none
	held   atomic.Int64
	nearly atomic.Bool // the operator was told that four fifths are used
	full   atomic.Bool // the operator was told of a write that was refused
	notify notice.Func
	now    func() time.Time
}

// Hold sets the current size. It returns true, and tells the operator, when four fifths of the room are used and were
// not before.
func (r *Room) Hold(bytes int64) (nearlyFull bool) {
	r.held.Store(bytes)
	if bytes < r.limit {
		r.full.Store(false)
	}
	if r.limit == 0 || bytes < r.limit/5*4 {
		r.nearly.Store(false)
		return false
	}
	if r.nearly.Swap(true) {
		return false
	}
	r.tell(notice.StoreNearlyFull,
		"The pastes have four fifths of GLUEPOT_STORE_MAX_BYTES or more: creating ends when it is reached.")
	return true
}

func (r *Room) tell(event notice.Event, text string) {
	r.notify.Tell(notice.Notice{Event: event, At: r.now(), Text: text})
}

func (r *Room) add(bytes int64) { r.held.Add(bytes) }

var errNoRoom = fault.New(fault.Unavailable,
	"This service is full: you can read and delete, but not add. Try again later.")

// check fails with fault.Unavailable when there is no room for more.
func (r *Room) check() error {
	if r.limit > 0 && r.held.Load() >= r.limit {
		if !r.full.Swap(true) {
			r.tell(notice.StoreFull,
				"The pastes have all of GLUEPOT_STORE_MAX_BYTES: a write was refused, and others are until pastes go.")
		}
		return errNoRoom
	}
	return nil
}
