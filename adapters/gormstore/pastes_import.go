package gormstore

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/gluepot/gluepot/domain/batch"
	"github.com/gluepot/gluepot/domain/paste"
)

// Import implements paste.Importer.
func (p *Pastes) Import(ctx context.Context, pastes []paste.Document, orphans paste.Orphans) ([]batch.Result, error) {
	return importBatch(ctx, p.store, pastesImport, pastes, func(tx *gorm.DB, pastes []paste.Document) ([]batch.Result, error) {
		return p.store.importPastes(tx, pastes, orphans)
	})
}

// importedPaste is a paste as its rows have it.
type importedPaste struct {
	row     pasteRow
	content contentRow
	entries [][]byte
}

func newImportedPaste(d paste.Document) *importedPaste {
	p := &importedPaste{row: *newPasteRow(d.Paste), content: *newContentRow(d, 0), entries: make([][]byte, len(d.Edits))}
	p.row.Visibility = int16(d.Visibility)
	for i, e := range d.Edits {
		p.entries[i] = encodeEdit(e)
	}
	return p
}

// importedDigest is what two pastes are compared by: of those that are stored, one at a time is in memory.
type importedDigest struct {
	paste      paste.Paste
	visibility int16
	lifetime   string
	document   [sha256.Size]byte
	entries    [sha256.Size]byte // of all entries, each of which begins with its length
}

func (p *importedPaste) digest() importedDigest {
	d := importedDigest{paste: p.row.paste(), visibility: p.row.Visibility}
	d.describe(&p.content)
	entries := sha256.New()
	for _, entry := range p.entries {
		entries.Write(entry)
	}
	entries.Sum(d.entries[:0])
	return d
}

func (d *importedDigest) describe(content *contentRow) {
	d.lifetime, d.document = content.Lifetime, sha256.Sum256(content.Document)
}

func (s *Store) importPastes(tx *gorm.DB, pastes []paste.Document, orphans paste.Orphans) ([]batch.Result, error) {
	ids, owners := make([]string, len(pastes)), make([]string, 0, len(pastes))
	for i := range pastes {
		ids[i] = string(pastes[i].ID)
		if pastes[i].Owner != "" {
			owners = append(owners, string(pastes[i].Owner))
		}
	}
	exists, err := lockOwners(tx, owners)
	if err != nil {
		return nil, err
	}
	known, err := lockImportedPastes(tx, ids)
	if err != nil {
		return nil, err
	}
	results, changed := make([]batch.Result, len(pastes)), make(map[string]*importedPaste, len(pastes))
	for i, d := range pastes {
		if d.Owner != "" && !exists[string(d.Owner)] {
			if orphans != paste.AnonymizeOrphans {
				results[i].Err = errUnknownOwner
				continue
			}
			d.Owner = ""
		}
		wanted := newImportedPaste(d)
		before, ok := known[ids[i]]
		if earlier, again := changed[ids[i]]; again {
			before, ok = earlier.digest(), true
		}
		if ok {
			results[i].Outcome = batch.Updated
			if wanted.digest() == before {
				results[i].Outcome = batch.Unchanged
				continue
			}
		}
		changed[ids[i]] = wanted
	}
	if len(changed) == 0 {
		return results, nil
	}
	if s.file != nil {
		return results, s.storeImportedOneByOne(tx, changed, known)
	}
	return results, s.storeImportedAtOnce(tx, changed)
}

// lockImportedPastes returns what those of the pastes are like that are there, which nobody else can change before the transaction
// ends. Whoever locks several does it in the order of their ids.
func lockImportedPastes(tx *gorm.DB, ids []string) (map[string]importedDigest, error) {
	var rows []pasteRow
	if err := forUpdate(tx).Where("id IN ?", ids).Order("id").Find(&rows).Error; err != nil || len(rows) == 0 {
		return nil, err
	}
	known, locked := make(map[string]importedDigest, len(rows)), make([]string, len(rows))
	for i, row := range rows {
		bare := importedPaste{row: row, content: *newContentRow(paste.Document{}, 0)} // that it has none is the same
		locked[i], known[row.ID] = row.ID, bare.digest()
	}
	var edited []string
	contents := tx.Model(&contentRow{}).Where("paste_id IN ?", locked)
	err := walk(contents, func(content *contentRow) error {
		d := known[content.PasteID]
		d.describe(content)
		known[content.PasteID] = d
		if content.Edits > 0 {
			edited = append(edited, content.PasteID)
		}
		return nil
	})
	if err != nil || len(edited) == 0 {
		return known, err
	}
	entries, of := sha256.New(), ""
	end := func() {
		if d, ok := known[of]; ok {
			entries.Sum(d.entries[:0])
			known[of] = d
		}
		entries.Reset()
	}
	history := tx.Model(&editRow{}).Where("paste_id IN ?", edited).Order("paste_id, position")
	err = walk(history, func(edit *editRow) error {
		if edit.PasteID != of {
			end()
			of = edit.PasteID
		}
		entries.Write(edit.Entry)
		return nil
	})
	end()
	return known, err
}

// storeImportedAtOnce stores each table's rows in one statement.
func (s *Store) storeImportedAtOnce(tx *gorm.DB, pastes map[string]*importedPaste) error {
	n := len(pastes)
	ids := slices.Sorted(maps.Keys(pastes))
	owners, created, expires, visibilities := make([]*string, n), make([]time.Time, n), make([]*time.Time, n), make([]int16, n)
	lifetimes, documents, counts, bytes := make([]string, n), make([][]byte, n), make([]int32, n), make([]int64, n)
	var (
		editIDs   []string
		positions []int64
		entries   [][]byte
	)
	for i, id := range ids {
		p := pastes[id]
		if p.row.OwnerID.Valid {
			owners[i] = &p.row.OwnerID.String
		}
		if p.row.ExpiresAt.Valid {
			expires[i] = &p.row.ExpiresAt.Time
		}
		created[i], visibilities[i] = p.row.CreatedAt, p.row.Visibility
		lifetimes[i], documents[i], counts[i] = p.content.Lifetime, p.content.Document, int32(len(p.entries))
		bytes[i] = p.content.HistoryBytes
		for position, entry := range p.entries {
			editIDs, positions, entries = append(editIDs, id), append(positions, int64(position)), append(entries, entry)
		}
	}
	for _, statement := range []struct {
		text string
		args []any
	}{
		{s.queries.importPastes, []any{ids, owners, created, expires, visibilities}},
		{s.queries.importContents, []any{ids, lifetimes, documents, counts, bytes}},
		{s.queries.removeEdits, []any{ids}},
		{s.queries.importEdits, []any{editIDs, positions, entries}},
	} {
		if _, err := tx.Statement.ConnPool.ExecContext(tx.Statement.Context, statement.text, statement.args...); err != nil {
			return err
		}
	}
	return nil
}

// storeImportedOneByOne stores each row in a statement of its own: SQLite, which has no arrays, is in the same process. What is
// not known is new, since nobody else writes meanwhile.
func (s *Store) storeImportedOneByOne(tx *gorm.DB, pastes map[string]*importedPaste, known map[string]importedDigest) (err error) {
	texts := [...]string{s.queries.importPastes, s.queries.importContents, s.queries.removeEdits, s.queries.importEdits}
	var prepared [len(texts)]*sql.Stmt
	for i, text := range texts {
		if prepared[i], err = tx.Statement.ConnPool.PrepareContext(tx.Statement.Context, text); err != nil { //nolint:sqlclosecheck // below
			return err
		}
		defer func() { err = errors.Join(err, prepared[i].Close()) }()
	}
	run := func(statement int, args ...any) error {
		_, err := prepared[statement].ExecContext(tx.Statement.Context, args...)
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(pastes)) {
		p := pastes[id]
		if err := run(0, id, p.row.OwnerID, p.row.CreatedAt, p.row.ExpiresAt, p.row.Visibility); err != nil {
			return err
		}
		if err := run(1, id, p.content.Lifetime, p.content.Document, len(p.entries), p.content.HistoryBytes); err != nil {
			return err
		}
		if _, ok := known[id]; ok {
			if err := run(2, id); err != nil {
				return err
			}
		}
		for position, entry := range p.entries {
			if err := run(3, id, position, entry); err != nil {
				return err
			}
		}
	}
	return nil
}
