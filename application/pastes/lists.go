package pastes

import (
	"context"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// idPage is how many ids ListOwn reads at once: about 200 KB. With a quarter of it, a list takes a fifth longer.
const idPage = 20_000

// ListOwn lists the pastes of a signed-in user.
type ListOwn struct{ *module }

// Do calls visit with the ids of the viewer's active pastes, private ones included, newest first, a page at a time,
// without a transaction around visit. An error of visit ends the list and is returned.
func (l *ListOwn) Do(ctx context.Context, viewer token.Viewer, visit func([]paste.ID) error) error {
	if !viewer.SignedIn() {
		return token.ErrRejected
	}
	for after := (paste.Cursor{}); ; {
		page, last, err := l.store.ActiveIDs(ctx, viewer.User.ID, after, idPage)
		if err != nil || len(page) == 0 {
			return err
		}
		if err := visit(page); err != nil || len(page) < idPage {
			return err
		}
		after = last
	}
}

// Next returns the viewer's next active paste after a place, with its content, newest first, including private ones. A
// paste that burns after reading is not burned. For an encrypted paste it returns the cipher. It fails with
// paste.ErrNotFound when there is none left.
func (l *ListOwn) Next(ctx context.Context, viewer token.Viewer, after paste.Cursor) (paste.Document, error) {
	if !viewer.SignedIn() {
		return paste.Document{}, token.ErrRejected
	}
	for {
		ids, next, err := l.store.ActiveIDs(ctx, viewer.User.ID, after, 1)
		if err != nil {
			return paste.Document{}, err
		}
		if len(ids) == 0 {
			return paste.Document{}, paste.ErrNotFound
		}
		after = next
		document, err := l.store.DocumentByID(ctx, after.ID)
		if fault.Is(err, fault.NotFound) || err == nil && !document.OwnedBy(viewer.User.ID) { // it has gone meanwhile
			continue
		}
		return document, err
	}
}

// Browse lists pastes page by page, with labels.
type Browse struct{ *module }

// Own returns the first page of the viewer's active pastes in a selection, including private ones, without those that
// PasteMyst encrypted.
func (b *Browse) Own(ctx context.Context, viewer token.Viewer, selection paste.Selection) (Page, error) {
	if !viewer.SignedIn() {
		return Page{}, token.ErrRejected
	}
	return pageOf(b.store.Select(ctx, viewer.User.ID, selection, pageAndOne))
}

// PublicPastes is a page of a user's public pastes.
type PublicPastes struct {
	Page // newest first

	Owner user.User
}

// Public returns the user with that name, and a page of the user's public pastes of a selection. Without
// user.User.ShowTags no paste has tags. It fails with user.ErrNotFound when there is no such user or the profile is
// private.
func (b *Browse) Public(
	ctx context.Context, username string, selection paste.Selection,
) (result PublicPastes, err error) {
	return b.public(ctx, username, selection, PageSize)
}

func (b *Browse) public(
	ctx context.Context, username string, selection paste.Selection, limit int,
) (result PublicPastes, err error) {
	selection.Public = true
	allow := func(owner user.User) error {
		_, err := user.Public(owner, nil)
		return err
	}
	var summaries []paste.Summary
	result.Owner, err = user.FindByName(ctx, username,
		func(ctx context.Context, name user.Name) (owner user.User, err error) {
			owner, summaries, err = b.store.Profile(ctx, name, allow, selection, limit+1)
			return owner, err
		})
	result.Page = Page{summaries[:min(len(summaries), limit)], len(summaries) > limit}
	return result, err
}

// Recent returns a page of the public pastes of all users after a place, newest first; with a title, of those that a
// paste.Selection with it names.
func (b *Browse) Recent(ctx context.Context, title string, after paste.Cursor) (Page, error) {
	return pageOf(b.store.Recent(ctx, title, after, pageAndOne))
}

// Starred returns a page of the pastes after a place that the viewer has starred and may read, newest first, with a
// title as Recent.
func (b *Browse) Starred(ctx context.Context, viewer token.Viewer, title string, after paste.Cursor) (Page, error) {
	if !viewer.SignedIn() {
		return Page{}, token.ErrRejected
	}
	return pageOf(b.store.StarredBy(ctx, viewer.User.ID, title, after, pageAndOne))
}

// PageSize is how many pastes a Page has at most.
const PageSize = 50

// Page is a part of a list.
type Page struct {
	Pastes []paste.Summary
	More   bool // whether there are others after the last one
}

// pageAndOne is the limit of lists that pageOf cuts: one paste more tells whether more follow.
const pageAndOne = PageSize + 1

func pageOf(summaries []paste.Summary, err error) (Page, error) {
	return Page{summaries[:min(len(summaries), PageSize)], len(summaries) > PageSize}, err
}

// CountActive counts the pastes that are active.
type CountActive struct{ *module }

// Do returns the exact number of active pastes at one instant during the call.
func (c *CountActive) Do(ctx context.Context) (int64, error) {
	return c.store.ActiveCount(ctx)
}
