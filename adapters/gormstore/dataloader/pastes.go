package dataloader

import (
	"context"
	"fmt"
	"math"

	"github.com/gluepot/gluepot/adapters/gormstore/model"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// Pastes decorates a store: it merges concurrent reads of single pastes and of short lists, and concurrent counts.
type Pastes struct {
	paste.Store

	documents *loader[documentKey, []documentRow] // nil if there are too few connections
	lists     *loader[user.ID, []paste.Cursor]    // likewise
	count     *loader[struct{}, int64]
}

// maxMergedBytes limits the size of a paste in a merged statement. The decorated store reads larger pastes, so that
// they do not delay others. It also reads the few pastes that have a history or burn.
const maxMergedBytes = 64 << 10

// maxMergedList is the length from which a list is too long for a merged statement.
const maxMergedList = 101

// minConnections is one connection for merged reads, one for the store, and one for users and tokens.
const minConnections = 3

// Pastes decorates the pastes of a store.
func (d *Dataloader) Pastes(store paste.Store) *Pastes {
	lists := min(1, d.slots-1) // a lock on pastes may block no more than the slots of one kind
	documents := d.slots - lists
	if d.connections < minConnections {
		documents = 0 // a lock on pastes could take all connections
	}
	return &Pastes{
		Store: store,
		documents: newLoader(d, documents, query[documentKey, documentRow]{
			columns: documentColumns, tables: documentTables, names: []string{"id", "reader"},
			values: func(k documentKey) []string { return []string{string(k.id), string(k.reader)} },
			fields: (*documentRow).fields,
		}),
		lists: newLoader(d, lists, query[user.ID, paste.Cursor]{
			columns: `p.created_at, p.id`,
			tables: fmt.Sprintf(`JOIN LATERAL (SELECT l.created_at, l.id FROM pastes l
				WHERE l.owner_id = q.owner AND l.removed_at IS NULL AND (l.expires_at IS NULL OR l.expires_at >
					(SELECT clock_timestamp()))
				ORDER BY l.created_at DESC, l.id DESC LIMIT %d) p ON true`, maxMergedList),
			names:  []string{"owner"},
			values: func(owner user.ID) []string { return []string{string(owner)} },
			fields: func(p *paste.Cursor) []any { return []any{&p.CreatedAt, (*string)(&p.ID)} },
		}),
		count: &loader[struct{}, int64]{
			slots: 1, largest: math.MaxInt,
			load: func(ctx context.Context, callers []struct{}) ([]result[int64], error) {
				active, err := store.ActiveCount(ctx)
				answers := make([]result[int64], len(callers))
				for i := range answers {
					answers[i].value = active
				}
				return answers, err
			},
		},
	}
}

// ReadDocument implements paste.Store.
func (p *Pastes) ReadDocument(ctx context.Context, id paste.ID, reader user.ID) (paste.Document, error) {
	if p.documents == nil || !model.IsText(string(id)) || !model.IsText(string(reader)) {
		return p.Store.ReadDocument(ctx, id, reader)
	}
	rows, err := p.documents.find(ctx, documentKey{id, reader})
	switch {
	case err != nil:
		return paste.Document{}, err
	case rows[0].delegated:
		return p.Store.ReadDocument(ctx, id, reader)
	}
	document := model.Document{Paste: &rows[0].paste}
	for _, tag := range rows[0].tags {
		document.Tags = append(document.Tags, model.PasteTag{Tag: tag})
	}
	for _, row := range rows {
		if row.hasPasty {
			document.Pasties = append(document.Pasties, row.pasty)
		}
	}
	return document.Domain(), nil
}

// ReadPasty implements paste.Store.
func (p *Pastes) ReadPasty(ctx context.Context, id paste.ID, pasty string, reader user.ID) (paste.Pasty, error) {
	if p.documents == nil {
		return p.Store.ReadPasty(ctx, id, pasty, reader)
	}
	document, err := p.ReadDocument(ctx, id, reader)
	if err != nil {
		return paste.Pasty{}, err
	}
	return document.PastyOrFirst(pasty)
}

// ActiveCount implements paste.Store. Callers during a count share the next one, because the running count may be stale
// for them.
func (p *Pastes) ActiveCount(ctx context.Context) (int64, error) {
	return p.count.find(ctx, struct{}{})
}

// ActiveIDs implements paste.Store. It merges the first pages of short lists.
func (p *Pastes) ActiveIDs(
	ctx context.Context, owner user.ID, after paste.Cursor, limit int,
) (ids []paste.ID, last paste.Cursor, err error) {
	if p.lists == nil || limit < maxMergedList || after != (paste.Cursor{}) || !model.IsText(string(owner)) {
		return p.Store.ActiveIDs(ctx, owner, after, limit)
	}
	cursors, err := p.lists.find(ctx, owner)
	switch {
	case fault.Is(err, fault.NotFound):
		return nil, last, nil
	case err == nil && len(cursors) == maxMergedList:
		return p.Store.ActiveIDs(ctx, owner, after, limit)
	}
	ids = make([]paste.ID, len(cursors))
	for i, cursor := range cursors {
		ids[i], last = cursor.ID, paste.Cursor{CreatedAt: cursor.CreatedAt.UTC(), ID: cursor.ID}
	}
	return ids, last, err
}

type documentKey struct {
	id     paste.ID
	reader user.ID
}

// The conditions are those of paste.Document.ForReader; the contract suite compares them. There is a row for each
// pasty, or one for a paste without pasties. The first row has the tags and the stars.
var (
	isDelegated = fmt.Sprintf(`(p.content_bytes > %d OR p.edits > 0 OR p.burns)`, maxMergedBytes)
	isFirst     = `coalesce(y.position, 0) = 0`

	documentColumns = `p.id, p.owner_id, p.created_at, p.expires_at, p.lifetime, p.visibility, p.title, ` +
		`p.delete_key, p.origin, ` + isDelegated + `,
		CASE WHEN ` + isFirst + ` THEN (SELECT count(*) FROM stars s WHERE s.paste_id = p.id) ELSE 0 END,
		` + isFirst + ` AND q.reader <> '' AND EXISTS (SELECT 1 FROM stars s WHERE s.paste_id = p.id
			AND s.user_id = q.reader),
		y.id IS NOT NULL, coalesce(y.id, ''), coalesce(y.title, ''), coalesce(y.language, ''), coalesce(y.code, ''),
		CASE WHEN p.tags > 0 AND ` + isFirst + ` AND NOT ` + isDelegated + ` THEN
			ARRAY(SELECT t.tag FROM paste_tags t WHERE t.paste_id = p.id ORDER BY t.position) END`

	documentTables = fmt.Sprintf(`JOIN pastes p ON p.id = q.id AND p.removed_at IS NULL
			AND (p.expires_at IS NULL OR p.expires_at > (SELECT clock_timestamp()))
			AND NOT p.encrypted AND (p.visibility <> %d OR p.owner_id = q.reader)
		LEFT JOIN LATERAL (SELECT * FROM pasties o WHERE o.paste_id = p.id
			AND NOT %s ORDER BY o.position) y ON true`, paste.Private, isDelegated)
)

// documentRow is a pasty and its paste.
type documentRow struct {
	paste model.Paste

	delegated bool // the decorated store reads the paste
	hasPasty  bool
	pasty     model.Pasty
	tags      []model.Text
}

func (r *documentRow) fields() []any {
	p := &r.paste
	return []any{
		&p.ID, &p.OwnerID, &p.CreatedAt, &p.ExpiresAt, &p.Lifetime, &p.Visibility, &p.Title, &p.DeleteKey, &p.Origin,
		&r.delegated,
		&p.Stars, &p.Starred, &r.hasPasty, &r.pasty.ID, &r.pasty.Title, &r.pasty.Language, &r.pasty.Code, &r.tags,
	}
}
