package pastes

import (
	"sync/atomic"

	"github.com/gluepot/gluepot/domain/fault"
)

// Room bounds what the installation stores. It gets the size from time to time, and adds what this process stores in between,
// so that no request has to ask the store.
type Room struct {
	limit int64 // bytes of content and history; 0: none
	held  atomic.Int64
}

// Hold sets the current size.
func (r *Room) Hold(bytes int64) { r.held.Store(bytes) }

func (r *Room) add(bytes int64) { r.held.Add(bytes) }

var errNoRoom = fault.New(fault.Unavailable, "This service is full: you can read and delete, but not add. Try again later.")

// check fails with fault.Unavailable when there is no room for more.
func (r *Room) check() error {
	if r.limit > 0 && r.held.Load() >= r.limit {
		return errNoRoom
	}
	return nil
}
