package pastes

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/trace"
)

// EditOwn changes a paste of a signed-in user.
type EditOwn struct {
	pastes paste.DocumentUpdater
	own    own
	rules  paste.Rules
}

// Do changes the paste with that id, which belongs to the secret's owner, and returns it: see paste.Rules.Edit.
//
// It fails with fault.Unauthenticated when the secret is empty, malformed, unknown, expired or revoked; then with
// paste.ErrNotFound when there is no such paste, it has expired, is encrypted, or is not the owner's; then with paste.ErrEdited
// when it is no longer the Base of the changes, and with a fault.Invalid that names the first field that breaks a rule; and with
// fault.Unavailable when the store does not answer.
func (e *EditOwn) Do(ctx context.Context, presented, id string, changes paste.Changes) (_ paste.Document, err error) {
	ctx, end := trace.Start(ctx, "pastes.EditOwn")
	defer func() { end(err) }()
	return e.do(ctx, presented, id, func(stored paste.Document, at time.Time) (paste.Change, error) {
		return e.rules.Edit(stored, changes, at)
	})
}

// Refuse returns the error to answer a request with that holds no changes, because of cause: that of a secret or id
// with which Do would fail, otherwise cause.
func (e *EditOwn) Refuse(ctx context.Context, presented, id string, cause error) error {
	_, err := e.do(ctx, presented, id, func(paste.Document, time.Time) (paste.Change, error) { return paste.Change{}, cause })
	return err
}

func (e *EditOwn) do(
	ctx context.Context, presented, id string, change func(stored paste.Document, at time.Time) (paste.Change, error),
) (edited paste.Document, err error) {
	err = e.own.write(ctx, presented, id, func(hash token.Hash, at time.Time, admit func(token.Token) error) (err error) {
		edited, err = e.pastes.Update(ctx, paste.ID(id), hash, func(holder token.Token, stored paste.Document) (paste.Change, error) {
			if err := admit(holder); err != nil {
				return paste.Change{}, err
			}
			if err := stored.EditableBy(holder.Owner); err != nil {
				return paste.Change{}, err
			}
			return change(stored, at)
		})
		return err
	})
	return edited, err
}

// Edit changes any paste.
type Edit struct {
	pastes paste.DocumentUpdater
	rules  paste.Rules
	now    func() time.Time
}

// EditInput is what to change of a paste. What is nil stays as it is.
type EditInput struct {
	Title      *string
	Visibility *paste.Visibility
	Tags       []string // each is split at commas; empty, but not nil: none
	// Pasties are those to change, and without an id those to add, which come last. Others stay: unlike a client that has
	// read the paste, who edits here need not know what else it holds.
	Pasties []paste.PastyChanges
	Remove  []string // ids of pasties
}

// Do changes the paste with that id and returns it: see paste.Rules.Edit. It fails with paste.ErrNotFound when there is
// none or it has expired, with fault.Invalid when it is encrypted, has no pasty of an id that the input names, would
// have none left, or a field breaks a rule, and with fault.Unavailable when the store does not answer.
func (e *Edit) Do(ctx context.Context, id string, wanted EditInput) (_ paste.Document, err error) {
	ctx, end := trace.Start(ctx, "pastes.Edit")
	defer func() { end(err) }()
	edited, err := e.pastes.Update(ctx, paste.ID(id), token.Hash{}, func(_ token.Token, stored paste.Document) (paste.Change, error) {
		switch {
		case stored.ID == "":
			return paste.Change{}, paste.ErrNotFound
		case stored.Encrypted():
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

// What only operators hear, who may know that the paste is there.
var (
	errEncrypted = fault.New(fault.Invalid, "The paste is encrypted: it can be deleted, but not edited.")
	errAnonymous = fault.New(fault.Invalid, "The paste is nobody's: only one that has an owner can be private, public or tagged.")
	errLastPasty = fault.New(fault.Invalid, "The paste would have no pasty left: delete the paste instead.")
)

// changes returns what the input asks for as the list of all pasties that the paste has afterwards.
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
