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

// Pastes decorates a store: it merges concurrent reads of single pastes, of short lists, and counts.
type Pastes struct {
	paste.Store

	documents *loader[documentKey, []documentRow] // nil: too few connections
	lists     *loader[user.ID, []paste.Cursor]    // nil: too few connections
	count     *loader[struct{}, int64]
}

// mergedBytes is the most bytes of a paste in a merged statement. The decorated store reads larger ones, so that they
// do not delay others. It also reads the few that have a history or burn.
const mergedBytes = 64 << 10

// longList is how many pastes make a list too long for a merged statement.
const longList = 101

// fewConnections is the smallest number that leaves one for merged reads, one for the store and one for users and
// tokens.
const fewConnections = 3

// Pastes decorates the pastes of a store.
func (d *Dataloader) Pastes(store paste.Store) *Pastes {
	lists := min(1, d.slots-1) // a lock on pastes may block no more than the slots of one kind
	documents := d.slots - lists
	if d.connections < fewConnections {
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
				ORDER BY l.created_at DESC, l.id DESC LIMIT %d) p ON true`, longList),
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
	case rows[0].left:
		return p.Store.ReadDocument(ctx, id, reader)
	}
	found := model.Document{Paste: &rows[0].paste}
	for _, tag := range rows[0].tags {
		found.Tags = append(found.Tags, model.PasteTag{Tag: tag})
	}
	for _, row := range rows {
		if row.holds {
			found.Pasties = append(found.Pasties, row.pasty)
		}
	}
	return found.Domain(), nil
}

// ReadPasty implements paste.Store.
func (p *Pastes) ReadPasty(ctx context.Context, id paste.ID, pasty string, reader user.ID) (paste.Pasty, error) {
	if p.documents == nil {
		return p.Store.ReadPasty(ctx, id, pasty, reader)
	}
	found, err := p.ReadDocument(ctx, id, reader)
	if err != nil {
		return paste.Pasty{}, err
	}
	return found.PastyOrFirst(pasty)
}

// ActiveCount implements paste.Store. Callers that come during a count share the next one: the running count may be
// stale for them.
func (p *Pastes) ActiveCount(ctx context.Context) (int64, error) {
	return p.count.find(ctx, struct{}{})
}

// ActiveIDs implements paste.Store. It merges the first pages of short lists.
func (p *Pastes) ActiveIDs(
	ctx context.Context, owner user.ID, after paste.Cursor, limit int,
) (ids []paste.ID, last paste.Cursor, err error) {
	if p.lists == nil || limit < longList || after != (paste.Cursor{}) || !model.IsText(string(owner)) {
		return p.Store.ActiveIDs(ctx, owner, after, limit)
	}
	places, err := p.lists.find(ctx, owner)
	switch {
	case fault.Is(err, fault.NotFound):
		return nil, last, nil
	case err == nil && len(places) == longList:
		return p.Store.ActiveIDs(ctx, owner, after, limit)
	}
	ids = make([]paste.ID, len(places))
	for i, place := range places {
		ids[i], last = place.ID, paste.Cursor{CreatedAt: place.CreatedAt.UTC(), ID: place.ID}
	}
	return ids, last, err
}

type documentKey struct {
	id     paste.ID
	reader user.ID
}

// Its conditions match paste.Document.ForReader, as the contract suite checks. There is a row for each pasty,
// or one for a paste without any; the first row has the tags and the stars.
var (
	isLeft  = fmt.Sprintf(`(p.content_bytes > %d OR p.edits > 0 OR p.burns)`, mergedBytes)
	isFirst = `coalesce(y.position, 0) = 0`

	documentColumns = `p.id, p.owner_id, p.created_at, p.expires_at, p.lifetime, p.visibility, p.title, ` +
		`p.delete_key, p.origin, ` + isLeft + `,
		CASE WHEN ` + isFirst + ` THEN (SELECT count(*) FROM stars s WHERE s.paste_id = p.id) ELSE 0 END,
		` + isFirst + ` AND q.reader <> '' AND EXISTS (SELECT 1 FROM stars s WHERE s.paste_id = p.id
			AND s.user_id = q.reader),
		y.id IS NOT NULL, coalesce(y.id, ''), coalesce(y.title, ''), coalesce(y.language, ''), coalesce(y.code, ''),
		CASE WHEN p.tags > 0 AND ` + isFirst + ` AND NOT ` + isLeft + ` THEN
			ARRAY(SELECT t.tag FROM paste_tags t WHERE t.paste_id = p.id ORDER BY t.position) END`

	documentTables = fmt.Sprintf(`JOIN pastes p ON p.id = q.id AND p.removed_at IS NULL
			AND (p.expires_at IS NULL OR p.expires_at > (SELECT clock_timestamp()))
			AND NOT p.encrypted AND (p.visibility <> %d OR p.owner_id = q.reader)
		LEFT JOIN LATERAL (SELECT * FROM pasties o WHERE o.paste_id = p.id
			AND NOT %s ORDER BY o.position) y ON true`, paste.Private, isLeft)
)

// documentRow is a pasty and its paste.
type documentRow struct {
	paste model.Paste
	left  bool // whether the paste is left to the decorated store
	holds bool // whether there is a pasty
	pasty model.Pasty
	tags  []model.Text
}

func (r *documentRow) fields() []any {
	p := &r.paste
	return []any{
		&p.ID, &p.OwnerID, &p.CreatedAt, &p.ExpiresAt, &p.Lifetime, &p.Visibility, &p.Title, &p.DeleteKey, &p.Origin, &r.left,
		&p.Stars, &p.Starred, &r.holds, &r.pasty.ID, &r.pasty.Title, &r.pasty.Language, &r.pasty.Code, &r.tags,
	}
}
