package gormstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
	"gorm.io/gorm"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

var (
	_ paste.DocumentFinder  = (*Pastes)(nil)
	_ paste.DocumentReader  = (*Pastes)(nil)
	_ paste.DocumentCreator = (*Pastes)(nil)
	_ paste.DocumentUpdater = (*Pastes)(nil)
	_ paste.DocumentDeleter = (*Pastes)(nil)
)

// documentKey is what a paste is read by where a token is presented, which is judged at that time.
type documentKey struct {
	id   paste.ID
	hash token.Hash
	at   time.Time
}

// heldDocument is a paste and the token that was presented, or the zero values. Of one that is large the content is missing.
type heldDocument struct {
	document paste.Document
	holder   token.Token
	large    bool

	firstEdit, nextEdit int64 // the positions of the oldest edit that is kept and of the next to come
}

// largeDocument is how many bytes of content and history one statement reads of each paste. What a larger one holds is read in
// a second statement, of which a few may run at once: a merged lookup takes no more than maxBatch times as much, and one large
// paste does not delay those it was merged with.
const largeDocument = 64 << 10

// newOpenDocuments returns how pastes that everybody may see are looked up with what they hold. PostgreSQL takes a
// fifth longer for a statement that reads a token as well (decision 0047).
func newOpenDocuments(store *Store) *dataloader[paste.ID, heldDocument] {
	documents := &lookup[paste.ID, heldDocument]{
		store: store,
		one:   store.queries.openDocument,
		args:  func(id paste.ID) []any { return store.timed(string(id)) },
		many:  store.queries.openDocuments,
		arrays: func(keys []paste.ID) []any {
			ids := make([]string, len(keys))
			for i := range keys {
				ids[i] = string(keys[i])
			}
			return []any{ids}
		},
		newRow: func() scannable[heldDocument] { return new(documentRow) },
	}
	return documents.merged(store.sql.lookupsAtOnce, &store.batches.pastes)
}

// newDocuments returns how pastes are looked up with what they hold for whoever presents a token.
func newDocuments(store *Store) *dataloader[documentKey, heldDocument] {
	documents := &lookup[documentKey, heldDocument]{
		store: store,
		one:   store.queries.documentFor,
		args:  func(key documentKey) []any { return store.timed(string(key.id), key.hash[:], key.at) },
		many:  store.queries.documentsFor,
		arrays: func(keys []documentKey) []any {
			ids, hashes, times := make([]string, len(keys)), make([][]byte, len(keys)), make([]time.Time, len(keys))
			for i := range keys {
				ids[i], hashes[i], times[i] = string(keys[i].id), keys[i].hash[:], keys[i].at
			}
			return []any{ids, hashes, times}
		},
		newRow: func() scannable[heldDocument] { return new(heldRow) },
	}
	return documents.merged(store.sql.lookupsAtOnce, &store.batches.pastes)
}

// DocumentByID implements paste.DocumentFinder.
func (p *Pastes) DocumentByID(ctx context.Context, id paste.ID) (paste.Document, error) {
	if !isText(string(id)) {
		return paste.Document{}, errNotFound
	}
	held, err := p.readWhole(ctx, p.store.queries.wholeDocumentByID, string(id), make([]byte, len(token.Hash{})))
	return held.document, err
}

// ReadDocument implements paste.DocumentReader.
func (p *Pastes) ReadDocument(
	ctx context.Context, id paste.ID, presented token.Hash, at time.Time,
) (paste.Document, token.Token, error) {
	if !isText(string(id)) {
		id = ""
	}
	var (
		held heldDocument
		err  error
		key  = documentKey{id, presented, instant(at)}
	)
	if presented == (token.Hash{}) {
		held, err = p.open.find(ctx, id)
	} else {
		held, err = p.documents.find(ctx, key)
	}
	if err == nil && held.document.ID != "" && held.large {
		held, err = p.readLarge(ctx, key)
	}
	if err == nil && held.document.ID == "" {
		err = errNotFound
	}
	return held.document, held.holder, err
}

func (p *Pastes) readLarge(ctx context.Context, key documentKey) (heldDocument, error) {
	return p.readWhole(ctx, p.store.queries.wholeDocumentFor, string(key.id), key.hash[:], key.at)
}

// readWhole reads a paste of any size, of which a few are in memory at once.
func (p *Pastes) readWhole(ctx context.Context, query string, args ...any) (heldDocument, error) {
	leave, err := enter(ctx, p.store.sql.lists, p.store.sql.bulk)
	if err != nil {
		return heldDocument{}, err
	}
	defer leave()
	var row heldRow
	if err := p.store.queryRow(ctx, fromPrimary, query, row.fields(), p.store.timed(args...)...); err != nil {
		return heldDocument{}, err
	}
	return row.value()
}

// blob is bytes that are kept as a text, so that the texts within need no copies; NULL is empty.
type blob string

// ScanBytes implements pgtype.BytesScanner.
func (b *blob) ScanBytes(bytes []byte) error {
	*b = blob(bytes)
	return nil
}

// Scan implements sql.Scanner.
func (b *blob) Scan(value any) error {
	switch value := value.(type) {
	case nil:
		*b = ""
	case []byte:
		*b = blob(value)
	case string:
		*b = blob(value)
	default:
		return fmt.Errorf("%T is not bytes", value)
	}
	return nil
}

// documentRow is a row of the statements that read pastes with what they hold. Its types need fewest allocations.
type documentRow struct {
	id, owner        blob
	created, expires pgtype.Timestamptz
	visibility       int16
	lifetime         blob
	document         blob // empty: the paste was made without content, or is large
	large            bool
	first            int64
	edits            int
	entries          blob // all in one
	stars            int64

	targets [12]any // what fields returns
}

func (r *documentRow) fields() []any {
	r.targets = [...]any{
		&r.id, &r.owner, &r.created, &r.expires, &r.visibility, &r.lifetime, &r.document, &r.large, &r.first, &r.edits, &r.entries, &r.stars,
	}
	return r.targets[:]
}

func (r *documentRow) value() (held heldDocument, err error) {
	if r.id == "" {
		return heldDocument{}, nil
	}
	held.document.Paste = paste.Paste{ID: paste.ID(r.id), Owner: user.ID(r.owner), CreatedAt: r.created.Time.UTC()}
	if r.expires.Valid {
		held.document.ExpiresAt = r.expires.Time.UTC()
	}
	held.document.Stars, held.large = r.stars, r.large
	held.firstEdit, held.nextEdit = r.first, r.first+int64(r.edits)
	if r.large {
		return held, nil
	}
	content := &held.document.Content
	content.Visibility, content.Lifetime = paste.Visibility(r.visibility), paste.Lifetime(r.lifetime)
	if r.document != "" {
		err = decodeDocument(string(r.document), content)
	}
	if err == nil {
		content.Edits, err = decodeEdits(string(r.entries), r.edits)
	}
	if err != nil {
		return heldDocument{}, fault.Unforeseen(fmt.Errorf("paste %s: %w", r.id, err))
	}
	return held, nil
}

// heldRow is a documentRow, or nothing, and a token, or nothing.
type heldRow struct {
	documentRow

	holder holderRow
}

func (r *heldRow) fields() []any { return append(r.documentRow.fields(), r.holder.fields()...) }

func (r *heldRow) value() (heldDocument, error) {
	held, err := r.documentRow.value()
	if err == nil && r.holder.id.Valid {
		held.holder = r.holder.token()
	}
	return held, err
}

// holderRow is a tokenRow, or nothing.
type holderRow struct {
	id, owner, name                       sql.NullString
	hash                                  []byte
	created, expires, lastUsed, revokedAt sql.NullTime
}

// fields returns where to scan tokenColumns to, in their order.
func (r *holderRow) fields() []any {
	return []any{&r.id, &r.owner, &r.hash, &r.name, &r.created, &r.expires, &r.lastUsed, &r.revokedAt}
}

func (r *holderRow) token() token.Token {
	row := tokenRow{
		ID: r.id.String, UserID: r.owner.String, Hash: r.hash, Name: r.name.String,
		CreatedAt: r.created.Time, ExpiresAt: r.expires, LastUsedAt: r.lastUsed, RevokedAt: r.revokedAt,
	}
	return row.token()
}

type contentRow struct {
	PasteID   string `gorm:"primaryKey"`
	Lifetime  string
	Document  []byte
	FirstEdit int64
	Edits     int
	// HistoryBytes is about what the edits take.
	HistoryBytes int64
}

func (contentRow) TableName() string { return "paste_contents" }

type editRow struct {
	PasteID  string `gorm:"primaryKey"`
	Position int64  `gorm:"primaryKey;autoIncrement:false"`
	Entry    []byte
}

func (editRow) TableName() string { return "paste_edits" }

func newContentRow(d paste.Document, firstEdit int64) *contentRow {
	row := &contentRow{
		PasteID: string(d.ID), Lifetime: string(d.Lifetime), Document: encodeDocument(d.Content), FirstEdit: firstEdit, Edits: len(d.Edits),
	}
	for _, e := range d.Edits {
		row.HistoryBytes += int64(editSize(e))
	}
	return row
}

func newEditRows(id paste.ID, edits []paste.Edit, first int64) []editRow {
	rows := make([]editRow, len(edits))
	for i, e := range edits {
		rows[i] = editRow{PasteID: string(id), Position: first + int64(i), Entry: encodeEdit(e)}
	}
	return rows
}

type changeFunc = func(token.Token, paste.Document) (paste.Change, error)

// Update implements paste.DocumentUpdater.
func (p *Pastes) Update(ctx context.Context, id paste.ID, presented token.Hash, change changeFunc) (updated paste.Document, err error) {
	if !isText(string(id)) {
		id = ""
	}
	if p.store.file == nil {
		return p.updateInTwo(ctx, id, presented, change)
	}
	err = p.store.transaction(ctx, func(tx *gorm.DB) (err error) {
		updated, err = applied(change,
			func() (heldDocument, error) { return p.locked(ctx, tx, id, presented) },
			func(held heldDocument, changed paste.Change) error { return store(tx, held, changed) })
		return err
	})
	if err != nil {
		return paste.Document{}, err
	}
	return updated, nil
}

// applied reads a paste that nobody else can change, stores what changes of it, if anything does, and returns what to answer.
func applied(
	change changeFunc, read func() (heldDocument, error), write func(before heldDocument, changed paste.Change) error,
) (paste.Document, error) {
	held, err := read()
	if err != nil {
		return paste.Document{}, err
	}
	changed, updated, err := apply(held, change)
	if err != nil || !changed.Changed {
		return updated, err
	}
	return updated, write(held, changed)
}

// apply returns what to store, if it is Changed, and what to answer.
func apply(held heldDocument, change changeFunc) (changed paste.Change, updated paste.Document, err error) {
	changed, err = change(held.holder, held.document)
	switch updated = held.document; {
	case err != nil:
		return paste.Change{}, paste.Document{}, err
	case updated.ID == "":
		return paste.Change{}, paste.Document{}, errNotFound
	case !changed.Changed:
		return changed, updated, nil
	}
	updated.Title, updated.Visibility, updated.Tags = changed.Title, changed.Visibility, changed.Tags
	updated.Pasties, updated.Edits = changed.Pasties, changed.Edits
	changed.Document = updated
	return changed, updated, nil
}

// locked returns a paste that nobody else can change or delete before the transaction ends, and the token with that hash, or
// the zero values.
func (p *Pastes) locked(ctx context.Context, tx *gorm.DB, id paste.ID, presented token.Hash) (heldDocument, error) {
	if err := lockPaste(tx, id); err != nil {
		return heldDocument{}, err
	}
	var row heldRow
	args := p.store.timed(string(id), presented[:])
	err := tx.Statement.ConnPool.QueryRowContext(ctx, p.store.queries.wholeDocumentByID, args...).Scan(row.fields()...)
	if errors.Is(err, sql.ErrNoRows) {
		holder, err := presentedToken(tx, presented)
		return heldDocument{holder: holder}, err
	}
	if err != nil {
		return heldDocument{}, err
	}
	return row.value()
}

// lockPaste is a statement of its own: one that read more and had to wait for the lock would answer with what the others had
// not changed yet.
func lockPaste(tx *gorm.DB, id paste.ID) error {
	var known []string
	return forUpdate(tx).Model(&pasteRow{}).Where("id = ?", string(id)).Pluck("id", &known).Error
}

// presentedToken returns the token with that hash, or the zero token.
func presentedToken(tx *gorm.DB, hash token.Hash) (token.Token, error) {
	var rows []tokenRow
	if err := tx.Where("hash = ?", hash[:]).Find(&rows).Error; err != nil || len(rows) == 0 {
		return token.Token{}, err
	}
	return rows[0].token(), nil
}

// store writes what has changed of a paste that is locked.
func store(tx *gorm.DB, before heldDocument, changed paste.Change) error {
	id := string(changed.ID)
	if changed.Visibility != before.document.Visibility {
		if err := tx.Model(&pasteRow{}).Where("id = ?", id).Update("visibility", int16(changed.Visibility)).Error; err != nil {
			return err
		}
	}
	first := before.firstEdit + int64(changed.Dropped)
	if err := tx.Save(newContentRow(changed.Document, first)).Error; err != nil {
		return err
	}
	if changed.Dropped > 0 {
		if err := tx.Where("paste_id = ? AND position < ?", id, first).Delete(&editRow{}).Error; err != nil {
			return err
		}
	}
	if len(changed.Recorded) == 0 {
		return nil
	}
	return tx.CreateInBatches(newEditRows(changed.ID, changed.Recorded, before.nextEdit), insertRows).Error
}

// DeleteIf implements paste.DocumentDeleter.
func (p *Pastes) DeleteIf(ctx context.Context, id paste.ID, presented token.Hash, allow func(token.Token, paste.Paste) error) error {
	if !isText(string(id)) {
		id = ""
	}
	return p.store.transaction(ctx, func(tx *gorm.DB) error {
		if err := lockPaste(tx, id); err != nil {
			return err
		}
		var row pasteRow
		err := tx.Statement.ConnPool.QueryRowContext(ctx, p.store.queries.activePaste, p.store.timed(string(id))...).Scan(row.fields()...)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		holder, err := presentedToken(tx, presented)
		if err != nil {
			return err
		}
		if err := allow(holder, row.paste()); err != nil {
			return err
		}
		if row.ID == "" {
			return errNotFound
		}
		return orNotFound(tx.Where("id = ?", string(id)).Delete(&pasteRow{}))
	})
}

// fields returns where to scan pasteColumns to, in their order.
func (r *pasteRow) fields() []any {
	return []any{&r.ID, &r.OwnerID, &r.CreatedAt, &r.ExpiresAt, &r.Visibility}
}
