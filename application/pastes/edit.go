package pastes

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
)

// EditOwn changes a paste of a signed-in user.
type EditOwn struct {
	pastes    paste.AllowedUpdater
	rules     paste.Rules
	allowance paste.Allowance // of each user
	room      *Room
	now       func() time.Time
}

// Do changes the paste with that id, which belongs to the viewer, and returns it: see paste.Rules.Edit.
//
// It fails with token.Rejected when the viewer has not signed in; then with paste.ErrNotFound when there is no such paste, it
// has expired, is encrypted, or is not the viewer's; then with paste.ErrEdited when it is no longer the Base of the changes,
// and with a fault.Invalid that names the first field that breaks a rule; with fault.Forbidden when it exceeds the viewer's
// allowance; and with fault.Unavailable when the installation is full, or the store does not answer.
func (e *EditOwn) Do(ctx context.Context, viewer token.Viewer, id string, changes paste.Changes) (paste.Document, error) {
	return e.apply(ctx, viewer, id, func(paste.Document) (paste.Changes, error) { return changes, nil })
}

// apply makes the requested changes to the stored paste.
func (e *EditOwn) apply(
	ctx context.Context, viewer token.Viewer, id string, wanted func(paste.Document) (paste.Changes, error),
) (paste.Document, error) {
	var grown int64
	edited, err := e.do(ctx, viewer, id, func(stored paste.Document) (paste.Change, error) {
		changes, err := wanted(stored)
		if err != nil {
			return paste.Change{}, err
		}
		change, err := e.rules.Edit(stored, changes, e.now())
		if grown = change.Bytes() - stored.Bytes(); err == nil && grown > 0 {
			err = e.room.check()
		}
		return change, err
	})
	if err == nil {
		e.room.add(grown)
	}
	return edited, err
}

// Refuse returns the error for a request whose changes could not be read because of cause. An error that Do would return for
// the viewer or the id comes first.
func (e *EditOwn) Refuse(ctx context.Context, viewer token.Viewer, id string, cause error) error {
	_, err := e.do(ctx, viewer, id, func(paste.Document) (paste.Change, error) { return paste.Change{}, cause })
	return err
}

func (e *EditOwn) do(
	ctx context.Context, viewer token.Viewer, id string, change func(paste.Document) (paste.Change, error),
) (paste.Document, error) {
	if err := mayOwn(viewer, id); err != nil {
		return paste.Document{}, err
	}
	allowed := func(stored paste.Document) (paste.Change, error) {
		if err := stored.EditableBy(viewer.User.ID); err != nil {
			return paste.Change{}, err
		}
		return change(stored)
	}
	var allowance paste.Allowance
	if !viewer.User.Admin {
		allowance.Bytes = e.allowance.Bytes
	}
	edited, err := e.pastes.UpdateAllowed(ctx, allowance, viewer.User.ID, paste.ID(id), allowed)
	return edited, paste.Gone(err)
}

// RestoreOwn restores a paste of a signed-in user to the state after one of its edits.
type RestoreOwn struct{ edit *EditOwn }

// Do changes the paste with that id, as a new edit, to what paste.Content.AsOf returns. Tags and visibility stay, and pasties that
// come back get new ids. It fails as EditOwn.Do and AsOf do, and with paste.ErrNotFound for a paste that burns.
func (r *RestoreOwn) Do(ctx context.Context, viewer token.Viewer, id, edit string) (paste.Document, error) {
	return r.edit.apply(ctx, viewer, id, func(stored paste.Document) (paste.Changes, error) {
		if stored.Burns {
			return paste.Changes{}, paste.ErrNotFound
		}
		older, err := stored.AsOf(edit)
		return stored.To(older), err
	})
}

// mayOwn fails with token.Rejected when the viewer has not signed in, and then with paste.ErrNotFound when the id names no paste.
func mayOwn(viewer token.Viewer, id string) error {
	if !viewer.SignedIn() {
		return token.Rejected()
	}
	if !ident.Valid(id) {
		return paste.ErrNotFound
	}
	return nil
}

// Edit changes any paste.
type Edit struct {
	pastes paste.DocumentUpdater
	rules  paste.Rules
	now    func() time.Time
}

// EditInput is what to change of a paste. Nil fields stay as they are.
type EditInput struct {
	Title      *string
	Visibility *paste.Visibility
	Tags       []string // each is split at commas; empty, but not nil: none
	// Pasties are changed, or added at the end if they have no id. Others stay: unlike a client that has read the paste, an
	// operator need not know them.
	Pasties []paste.PastyChanges
	Remove  []string // ids of pasties
}

// Do changes the paste with that id and returns it: see paste.Rules.Edit. It fails with paste.ErrNotFound when there is none or
// it has expired, with fault.Invalid when it is encrypted, lacks a pasty that the input names, would have none left, or a field
// breaks a rule, and with fault.Unavailable when the store does not answer.
func (e *Edit) Do(ctx context.Context, id string, wanted EditInput) (paste.Document, error) {
	edited, err := e.pastes.Update(audit.Note(ctx, "paste.edit", id, ""), paste.ID(id), func(stored paste.Document) (paste.Change, error) {
		if stored.Encrypted() {
			return paste.Change{}, errEncrypted
		}
		changes, err := wanted.changes(stored)
		if err != nil {
			return paste.Change{}, err
		}
		return e.rules.Edit(stored, changes, e.now())
	})
	return edited, paste.Gone(err)
}

// Errors for operators, who may know that the paste exists.
var (
	errEncrypted = fault.New(fault.Invalid, "The paste is encrypted: it can be deleted, but not edited.")
	errAnonymous = fault.New(fault.Invalid, "The paste is anonymous: only one that has an owner can be private, public or tagged.")
	errLastPasty = fault.New(fault.Invalid, "The paste would have no pasty left: delete the paste instead.")
)

// changes converts the input to the list of all pasties that the paste has afterwards.
func (in EditInput) changes(stored paste.Document) (paste.Changes, error) {
	changes := paste.Changes{Title: in.Title, Tags: in.Tags}
	if in.Visibility != nil {
		private, public := *in.Visibility == paste.Private, *in.Visibility == paste.Public
		changes.Private, changes.Public = &private, &public
	}
	if stored.Owner == "" {
		tags, err := paste.ParseTags(in.Tags...)
		switch {
		case err != nil:
			return paste.Changes{}, err
		case len(tags) > 0 || in.Visibility != nil && *in.Visibility != paste.Unlisted:
			return paste.Changes{}, errAnonymous
		}
	}
	pasties, err := in.pasties(stored.Pasties)
	changes.Pasties = pasties
	return changes, err
}

func (in EditInput) pasties(stored []paste.Pasty) (after []paste.PastyChanges, err error) {
	if len(in.Pasties)+len(in.Remove) == 0 {
		return nil, nil
	}
	var added []paste.PastyChanges
	wanted, removed := make(map[string]paste.PastyChanges), make(map[string]bool)
	for _, id := range in.Remove {
		removed[id] = true
	}
	for _, change := range in.Pasties {
		if change.ID == "" {
			added = append(added, change)
			continue
		}
		if _, twice := wanted[change.ID]; twice || removed[change.ID] {
			return nil, invalidPasty("The pasty %q is named twice.", change.ID)
		}
		wanted[change.ID] = change
	}
	for _, p := range stored {
		if removed[p.ID] {
			continue
		}
		change, ok := wanted[p.ID]
		if delete(wanted, p.ID); !ok { // an imported paste can have an id twice
			change.ID = p.ID
		}
		after = append(after, change)
	}
	for _, id := range slices.Concat(slices.Sorted(maps.Keys(wanted)), in.Remove) {
		if _, missing := wanted[id]; missing || !slices.ContainsFunc(stored, func(p paste.Pasty) bool { return p.ID == id }) {
			return nil, invalidPasty("The paste has no pasty with the id %q.", id)
		}
	}
	if after = append(after, added...); len(after) == 0 {
		return nil, errLastPasty
	}
	return after, nil
}

func invalidPasty(format, id string) error { return fault.New(fault.Invalid, fmt.Sprintf(format, id)) }
