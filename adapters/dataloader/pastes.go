package dataloader

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/gluepot/gluepot/adapters/internal/storedtext"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// PasteStore is what Pastes decorates.
type PasteStore interface {
	pastes.Store
	paste.Importer
}

// Pastes decorates a store: it merges concurrent reads of single pastes, of short lists, and counts.
type Pastes struct {
	PasteStore

	documents *loader[documentKey, document]
	lists     *loader[user.ID, []paste.Place] // nil: too few connections
	count     *loader[struct{}, int64]
	none      error // nothing was found
	few       bool  // connections: a lock on pastes could take all of them
}

// mergedBytes is the most bytes of a paste in a merged statement. The decorated store reads larger ones, so that they do not delay
// others, and those with a history, which most lack.
const mergedBytes = 64 << 10

// longList is how many pastes make a list too long for a merged statement.
const longList = 101

// fewConnections is the least number with one for merged reads beside the store's and one for users and tokens.
const fewConnections = 3

// Pastes decorates the pastes of a store.
func (d *Dataloader) Pastes(store PasteStore) *Pastes {
	documents := query[documentKey, document]{
		values: func(k documentKey) []string { return []string{string(k.id), string(k.reader)} },
		newRow: func() scannable[document] { return new(documentRow) },
	}
	documents.one, documents.many = statements(documentColumns, documentTables, "id", "reader")
	count := &loader[struct{}, int64]{
		slots: 1, largest: math.MaxInt, fail: d.translate,
		load: func(ctx context.Context, callers []struct{}) ([]result[int64], error) {
			active, err := store.ActiveCount(ctx)
			answers := make([]result[int64], len(callers))
			for i := range answers {
				answers[i].value = active
			}
			return answers, err
		},
	}
	lists := query[user.ID, []paste.Place]{
		values: func(owner user.ID) []string { return []string{string(owner)} },
		newRow: func() scannable[[]paste.Place] { return new(placeRow) },
	}
	lists.one, lists.many = statements(`p.created_at, p.id`, fmt.Sprintf(`JOIN LATERAL (SELECT l.created_at, l.id FROM pastes l
		WHERE l.owner_id = q.owner AND (l.expires_at IS NULL OR l.expires_at > (SELECT clock_timestamp()))
		ORDER BY l.created_at DESC, l.id DESC LIMIT %d) p ON true`, longList), "owner")
	merged := &Pastes{PasteStore: store, count: count, none: d.notFound, few: d.connections < fewConnections}
	slots := d.slots
	if slots > 1 { // one for lists: a lock on pastes may block no more than the slots of one kind
		slots--
		merged.lists = newLoader(d, 1, lists)
	}
	merged.documents = newLoader(d, slots, documents)
	return merged
}

// ReadDocument implements paste.DocumentReader.
func (p *Pastes) ReadDocument(ctx context.Context, id paste.ID, reader user.ID) (paste.Document, error) {
	if p.few || !storedtext.IsText(string(id)) || !storedtext.IsText(string(reader)) {
		return p.PasteStore.ReadDocument(ctx, id, reader)
	}
	found, err := p.documents.find(ctx, documentKey{id, reader})
	if err == nil && found.left {
		return p.PasteStore.ReadDocument(ctx, id, reader)
	}
	return found.Document, err
}

// ActiveCount implements paste.ActiveLister. Callers that come during a count share the next one: the running count may be stale for them.
func (p *Pastes) ActiveCount(ctx context.Context) (int64, error) {
	return p.count.find(ctx, struct{}{})
}

// ActiveIDs implements paste.ActiveLister. It merges the first pages of short lists.
func (p *Pastes) ActiveIDs(ctx context.Context, owner user.ID, after paste.Place, limit int) ([]paste.Place, error) {
	if p.lists == nil || limit < longList || after != (paste.Place{}) || !storedtext.IsText(string(owner)) {
		return p.PasteStore.ActiveIDs(ctx, owner, after, limit)
	}
	places, err := p.lists.find(ctx, owner)
	switch {
	case errors.Is(err, p.none):
		return nil, nil
	case err == nil && len(places) == longList:
		return p.PasteStore.ActiveIDs(ctx, owner, after, limit)
	}
	return places, err
}

type placeRow struct{ paste.Place }

func (r *placeRow) fields() []any { return []any{&r.CreatedAt, (*string)(&r.ID)} }

func (r *placeRow) addTo(places *[]paste.Place) error {
	*places = append(*places, paste.Place{CreatedAt: r.CreatedAt.UTC(), ID: r.ID})
	return nil
}

type documentKey struct {
	id     paste.ID
	reader user.ID
}

// document is a paste, without its content if it is left to the decorated store.
type document struct {
	paste.Document

	left bool
}

// The conditions are those of paste.Document.SeenBy; the contract suite compares them. There is a row for each pasty, or one for a paste
// without any; the first row has the tags and the stars.
var (
	isLeft  = fmt.Sprintf(`(p.content_bytes > %d OR p.edits > 0)`, mergedBytes)
	isOpen  = `(NOT p.burns OR coalesce(p.owner_id = q.reader, false))`
	isRead  = `NOT ` + isLeft + ` AND ` + isOpen
	isFirst = `coalesce(y.position, 0) = 0`

	documentColumns = `p.id, coalesce(p.owner_id, ''), p.created_at, p.expires_at, p.burns, p.lifetime, p.visibility, p.title, p.delete_key,
		coalesce(p.origin, ''), ` + isLeft + `, ` + isOpen + `,
		CASE WHEN ` + isFirst + ` THEN (SELECT count(*) FROM stars s WHERE s.paste_id = p.id) ELSE 0 END,
		` + isFirst + ` AND q.reader <> '' AND EXISTS (SELECT 1 FROM stars s WHERE s.paste_id = p.id AND s.user_id = q.reader),
		y.id, y.title, y.language, y.code,
		CASE WHEN p.tags > 0 AND ` + isFirst + ` AND ` + isRead + ` THEN
			ARRAY(SELECT t.tag FROM paste_tags t WHERE t.paste_id = p.id ORDER BY t.position) END`

	documentTables = fmt.Sprintf(`JOIN pastes p ON p.id = q.id AND (p.expires_at IS NULL OR p.expires_at > (SELECT clock_timestamp()))
			AND NOT p.encrypted AND (p.visibility <> %d OR p.owner_id = q.reader)
		LEFT JOIN LATERAL (SELECT * FROM pasties o WHERE o.paste_id = p.id AND %s ORDER BY o.position) y ON true`, paste.Private, isRead)
)

// documentRow is a row of the statements for pastes.
type documentRow struct {
	id, owner, lifetime, title string
	origin                     string
	created                    time.Time
	expires                    *time.Time
	visibility                 int16
	deleteKey                  []byte
	burns, left, open          bool
	stars                      int64
	starred                    bool
	pasty                      struct{ id, title, language, code *string } // nil: there is none
	tags                       []string
}

func (r *documentRow) fields() []any {
	return []any{
		&r.id, &r.owner, &r.created, &r.expires, &r.burns, &r.lifetime, &r.visibility, &r.title, &r.deleteKey, &r.origin, &r.left, &r.open,
		&r.stars, &r.starred,
		&r.pasty.id, &r.pasty.title, &r.pasty.language, &r.pasty.code, &r.tags,
	}
}

func (r *documentRow) addTo(d *document) error {
	if !r.open {
		return paste.ErrBurns
	}
	if p := r.pasty; p.id != nil {
		d.Pasties = append(d.Pasties, paste.Pasty{
			ID: storedtext.Decode(*p.id), Title: storedtext.Decode(*p.title),
			Language: storedtext.Decode(*p.language), Code: storedtext.Decode(*p.code),
		})
	}
	if d.ID != "" {
		return nil
	}
	d.left = r.left
	d.Paste = paste.Paste{
		ID: paste.ID(r.id), Owner: user.ID(r.owner), CreatedAt: r.created.UTC(), ExpiresAt: instant(r.expires), Burns: r.burns,
	}
	copy(d.DeleteKey[:], r.deleteKey)
	d.Title, d.Lifetime, d.Visibility = storedtext.Decode(r.title), paste.Lifetime(r.lifetime), paste.Visibility(r.visibility)
	d.Origin = paste.ID(r.origin)
	d.Stars, d.Starred = r.stars, r.starred
	for _, tag := range r.tags {
		d.Tags = append(d.Tags, storedtext.Decode(tag))
	}
	return nil
}
