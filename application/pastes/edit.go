package pastes

import (
	"context"
	"fmt"
	"slices"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

// EditOwn changes a paste of a signed-in user.
type EditOwn struct{ *module }

// Do changes the paste with that id, which belongs to the viewer, and returns it.
//
// It fails with paste.ErrNotFound when there is no such paste, it has expired, is encrypted, or is not the viewer's;
// then as paste.Rules.Edit does; with fault.Forbidden when it exceeds the viewer's allowance; and with
// fault.Unavailable when the installation is full.
func (e *EditOwn) Do(ctx context.Context, actor audit.Actor, id string, changes paste.Changes) (paste.Document, error) {
	return e.apply(ctx, actor, id, func(paste.Document) (paste.Changes, error) { return changes, nil })
}

// Refuse returns the error for a request whose changes could not be read because of cause. An error that Do would
// return for the actor or the id comes first.
func (e *EditOwn) Refuse(ctx context.Context, actor audit.Actor, id string, cause error) error {
	_, err := e.apply(ctx, actor, id, func(paste.Document) (paste.Changes, error) { return paste.Changes{}, cause })
	return err
}

// apply makes the wanted changes to a paste that the viewer may edit.
func (e *EditOwn) apply(
	ctx context.Context, actor audit.Actor, id string, choose func(stored paste.Document) (paste.Changes, error),
) (paste.Document, error) {
	viewer, err := actor.User()
	if err != nil {
		return paste.Document{}, err
	}
	var allowance paste.Allowance
	if !viewer.User.Admin {
		allowance.Bytes = e.options.Allowance.Bytes
	}
	var growth int64
	edit := func(stored paste.Document) (paste.Change, error) {
		if err := stored.EditableBy(viewer.User.ID); err != nil {
			return paste.Change{}, err
		}
		changes, err := choose(stored)
		if err != nil {
			return paste.Change{}, err
		}
		change, err := e.options.Rules.Edit(stored, changes, e.now())
		if growth = change.Bytes() - stored.Bytes(); err == nil && growth > 0 {
			err = e.sizeLimit.check()
		}
		return change, err
	}
	document, err := e.store.UpdateAllowed(ctx, actor.Address(), allowance, "", viewer.User.ID, paste.ID(id), edit)
	if err == nil {
		e.sizeLimit.add(growth)
	}
	return document, paste.ReplaceNotFound(err)
}

// Restore changes the paste with that id back to what paste.Content.AsOf returns. That is a new edit. Tags and
// visibility stay, and pasties that come back get new ids. It fails as Do and AsOf do, and with paste.ErrNotFound for a
// paste that burns.
func (e *EditOwn) Restore(ctx context.Context, actor audit.Actor, id, edit string) (paste.Document, error) {
	return e.apply(ctx, actor, id, func(stored paste.Document) (paste.Changes, error) {
		if stored.Burns {
			return paste.Changes{}, paste.ErrNotFound
		}
		older, err := stored.AsOf(edit)
		return stored.To(older), err
	})
}

// AnonymizeOwn makes a paste of a signed-in user anonymous.
type AnonymizeOwn struct{ *module }

// Do removes the owner of the paste with that id, and returns the key that deletes it, to be shown once. The paste
// loses its tags, becomes unlisted, lives no longer than a new anonymous paste, and counts as one for the viewer's
// address.
//
// It fails with fault.Forbidden where anonymous pastes are off; with paste.ErrNotFound when there is no such paste, or
// it has expired; as paste.Document.Anonymous does; and as CreateOwn.Do does when the quota is used up.
func (g *AnonymizeOwn) Do(ctx context.Context, actor audit.Actor, id string) (paste.DeleteKey, error) {
	viewer, err := actor.User()
	switch {
	case err != nil:
		return "", err
	case g.options.TokenRequired:
		return "", fault.New(fault.Forbidden, "Anonymous pastes are off on this server. You can delete the paste instead.")
	}
	key := paste.NewDeleteKey()
	allowance, client := paste.Allowance{Rate: g.options.AnonymousQuota}, paste.ClientAt(actor.Address())
	anonymize := func(stored paste.Document) (paste.Change, error) {
		anonymous, err := stored.Anonymous(viewer.User.ID, key.Hash(), g.options.AnonymousLifetimes.Longest, g.now())
		return paste.Change{Document: anonymous, Changed: true}, err
	}
	_, err = g.store.UpdateAllowed(ctx, actor.Address(), allowance, client, "", paste.ID(id), anonymize)
	return key, paste.ReplaceNotFound(err)
}

// Edit changes any paste, for the operator.
type Edit struct{ *module }

// EditInput is what to change of a paste. Nil fields stay as they are.
type EditInput struct {
	Title      *string
	Visibility *paste.Visibility
	Tags       []string // each is split at commas; empty, but not nil: none
	// Pasties are changed, or added at the end if they have no id. Others stay: an operator, unlike a client, need not
	// have read the paste.
	Pasties []paste.PastyChanges
	Remove  []string // ids of pasties
}

// Do changes the paste with that id and returns it. It fails with fault.Forbidden unless the actor is the operator,
// with paste.ErrNotFound when there is none or it has expired, with fault.Invalid when it is encrypted, lacks a pasty
// that the input names, or would have none left, and as paste.Rules.Edit does.
func (e *Edit) Do(ctx context.Context, actor audit.Actor, id string, input EditInput) (paste.Document, error) {
	if err := actor.CheckOperator(); err != nil {
		return paste.Document{}, err
	}
	entry := actor.Entry("paste.edit", id, "")
	document, err := e.store.Update(ctx, entry, paste.ID(id), func(stored paste.Document) (paste.Change, error) {
		if stored.Encrypted() {
			return paste.Change{}, errEncrypted
		}
		changes, err := input.changes(stored)
		if err != nil {
			return paste.Change{}, err
		}
		return e.options.Rules.Edit(stored, changes, e.now())
	})
	return document, paste.ReplaceNotFound(err)
}

// Errors for operators, who may know that the paste exists.
var (
	errEncrypted = fault.New(fault.Invalid, "The paste is encrypted: it can be deleted, but not edited.")
	errAnonymous = fault.New(fault.Invalid,
		"The paste is anonymous: only a paste with an owner can be private, public or tagged.")
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
	var err error
	changes.Pasties, err = in.pasties(stored.Pasties)
	return changes, err
}

func (in EditInput) pasties(stored []paste.Pasty) ([]paste.PastyChanges, error) {
	if len(in.Pasties)+len(in.Remove) == 0 {
		return nil, nil
	}
	after := make([]paste.PastyChanges, 0, len(stored)+len(in.Pasties))
	for _, p := range stored {
		after = append(after, paste.PastyChanges{ID: p.ID})
	}
	seen := make(map[string]bool)
	find := func(id string) (int, error) {
		i := slices.IndexFunc(after, func(p paste.PastyChanges) bool { return p.ID == id })
		switch {
		case i < 0:
			return 0, fault.New(fault.Invalid, fmt.Sprintf("The paste has no pasty with the id %q.", id))
		case seen[id]:
			return 0, fault.New(fault.Invalid, fmt.Sprintf("The pasty %q is named twice.", id))
		}
		seen[id] = true
		return i, nil
	}
	for _, id := range in.Remove {
		i, err := find(id)
		if err != nil {
			return nil, err
		}
		after = slices.Delete(after, i, i+1)
	}
	for _, change := range in.Pasties {
		if change.ID == "" {
			after = append(after, change)
			continue
		}
		i, err := find(change.ID)
		if err != nil {
			return nil, err
		}
		after[i] = change
	}
	if len(after) == 0 {
		return nil, errLastPasty
	}
	return after, nil
}
