package gormstore

import (
	"context"
	"time"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

var (
	_ paste.PublicLister = (*Pastes)(nil)
	_ paste.TitleLister  = (*Pastes)(nil)
)

// titleBytes is how much of a content is read for its title: what is before it, and as many characters as titles may have.
const titleBytes = 16 + 4*paste.MaxTitle

// PublicByOwner implements paste.PublicLister.
func (p *Pastes) PublicByOwner(ctx context.Context, owner user.ID, after paste.Place, limit int) ([]paste.Listed, error) {
	return p.listed(ctx, p.store.queries.publicPastes, owner, after, limit)
}

// TitlesByOwner implements paste.TitleLister.
func (p *Pastes) TitlesByOwner(ctx context.Context, owner user.ID, after paste.Place, limit int) ([]paste.Listed, error) {
	return p.listed(ctx, p.store.queries.titledPastes, owner, after, limit)
}

func (p *Pastes) listed(ctx context.Context, query string, owner user.ID, after paste.Place, limit int) ([]paste.Listed, error) {
	leave, err := enter(ctx, p.store.sql.lists, p.store.sql.bulk)
	if err != nil {
		return nil, err
	}
	defer leave()
	if after == (paste.Place{}) {
		after.CreatedAt = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
	}
	var (
		row    pasteRow
		begins blob
		listed = []paste.Listed{}
	)
	err = p.store.queryRows(ctx, query, append(row.fields(), &begins), func() error {
		listed = append(listed, paste.Listed{
			Paste: row.paste(), Title: decodeTitle(string(begins)), Visibility: paste.Visibility(row.Visibility),
		})
		return nil
	}, p.store.timed(string(owner), instant(after.CreatedAt), string(after.ID), limit, titleBytes)...)
	if err != nil {
		return nil, err
	}
	return listed, nil
}
