package gormstore

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"gorm.io/gorm"

	"github.com/gluepot/gluepot/domain/batch"
	"github.com/gluepot/gluepot/domain/paste"
)

// Import implements paste.Importer.
func (p *Pastes) Import(ctx context.Context, pastes []paste.Document, orphans paste.Orphans) ([]batch.Result, error) {
	encoded := make([]*importedPaste, len(pastes))
	for i := range pastes {
		encoded[i] = newImportedPaste(pastes[i])
	}
	return importBatch(ctx, p.store, pastesImport, encoded, func(tx *gorm.DB, pastes []*importedPaste) ([]batch.Result, error) {
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

// withoutOwner returns the paste as one that is anonymous. What it was made of stays as it is, for the next attempt.
func (p *importedPaste) withoutOwner() *importedPaste {
	anonymous := *p
	anonymous.row.OwnerID = sql.NullString{}
	return &anonymous
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

func (s *Store) importPastes(tx *gorm.DB, pastes []*importedPaste, orphans paste.Orphans) ([]batch.Result, error) {
	ids, owners := make([]string, len(pastes)), make([]string, 0, len(pastes))
	for i, p := range pastes {
		ids[i] = p.row.ID
		if p.row.OwnerID.Valid {
			owners = append(owners, p.row.OwnerID.String)
		}
	}
	exists, err := lockOwners(tx, owners)
	if err != nil {
		return nil, err
	}
	known, err := s.lockImportedPastes(tx, ids)
	if err != nil {
		return nil, err
	}
	results, changed := make([]batch.Result, len(pastes)), make(map[string]*importedPaste, len(pastes))
	for i, p := range pastes {
		if p.row.OwnerID.Valid && !exists[p.row.OwnerID.String] {
			if orphans != paste.AnonymizeOrphans {
				results[i].Err = errUnknownOwner
				continue
			}
			p = p.withoutOwner()
		}
		before, ok := known[ids[i]]
		if earlier, again := changed[ids[i]]; again {
			before, ok = earlier.digest(), true
		}
		if ok {
			results[i].Outcome = batch.Updated
			if p.digest() == before {
				results[i].Outcome = batch.Unchanged
				continue
			}
		}
		changed[ids[i]] = p
	}
	var added, replaced []*importedPaste
	for _, id := range slices.Sorted(maps.Keys(changed)) {
		if _, ok := known[id]; ok {
			replaced = append(replaced, changed[id])
		} else {
			added = append(added, changed[id])
		}
	}
	if s.file != nil {
		if err := storeOneByOne(tx, added, s.queries.addPastes); err != nil {
			return nil, err
		}
		return results, storeOneByOne(tx, replaced, s.queries.replacePastes)
	}
	if err := copyPastes(tx, added); err != nil {
		return nil, err
	}
	return results, replaceAtOnce(tx, replaced, s.queries.replacePastes)
}

// lockImportedPastes returns what those of the pastes are like that are there, which nobody else can change before the transaction
// ends. Whoever locks several does it in the order of their ids.
func (s *Store) lockImportedPastes(tx *gorm.DB, ids []string) (map[string]importedDigest, error) {
	rows, err := s.lockPastes(tx, ids)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	known, locked := make(map[string]importedDigest, len(rows)), make([]string, len(rows))
	for i, row := range rows {
		bare := importedPaste{row: row, content: *newContentRow(paste.Document{}, 0)} // that it has none is the same
		locked[i], known[row.ID] = row.ID, bare.digest()
	}
	var edited []string
	contents := tx.Model(&contentRow{}).Where("paste_id IN ?", locked)
	err = walk(contents, func(content *contentRow) error {
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

// lockPastes locks those of the pastes that are there. On PostgreSQL a parameter for each id would take longer than the search.
func (s *Store) lockPastes(tx *gorm.DB, ids []string) (locked []pasteRow, err error) {
	if s.queries.lockPastes == "" {
		err = forUpdate(tx).Where("id IN ?", ids).Order("id").Find(&locked).Error
		return locked, err
	}
	rows, err := tx.Statement.ConnPool.QueryContext(tx.Statement.Context, s.queries.lockPastes, ids)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err below says what went wrong
	for rows.Next() {
		var row pasteRow
		if err := rows.Scan(row.fields()...); err != nil {
			return nil, err
		}
		locked = append(locked, row)
	}
	return locked, rows.Err()
}

// copyPastes adds pastes that are new by COPY, which takes PostgreSQL two thirds of the time of an INSERT.
func copyPastes(tx *gorm.DB, pastes []*importedPaste) error {
	if len(pastes) == 0 {
		return nil
	}
	edits := 0
	for _, p := range pastes {
		edits += len(p.entries)
	}
	return postgresConn(tx, func(ctx context.Context, conn *pgx.Conn) error {
		add := func(table string, rows int, row func(i int, values []any), columns ...string) error {
			_, err := conn.CopyFrom(ctx, pgx.Identifier{table}, columns, &copiedRows{rows: rows, fill: row, values: make([]any, len(columns))})
			return err
		}
		err := add("pastes", len(pastes), func(i int, values []any) {
			p := &pastes[i].row
			values[0], values[1], values[2], values[3], values[4] = p.ID, nil, p.CreatedAt, nil, p.Visibility
			if p.OwnerID.Valid {
				values[1] = p.OwnerID.String
			}
			if p.ExpiresAt.Valid {
				values[3] = p.ExpiresAt.Time
			}
		}, "id", "owner_id", "created_at", "expires_at", "visibility")
		if err != nil {
			return err
		}
		err = add("paste_contents", len(pastes), func(i int, values []any) {
			p := pastes[i]
			values[0], values[1], values[2] = p.row.ID, p.content.Lifetime, p.content.Document
			values[3], values[4] = int32(len(p.entries)), p.content.HistoryBytes
		}, "paste_id", "lifetime", "document", "edits", "history_bytes")
		if err != nil || edits == 0 {
			return err
		}
		of, position := 0, 0
		return add("paste_edits", edits, func(_ int, values []any) {
			for position == len(pastes[of].entries) {
				of, position = of+1, 0
			}
			values[0], values[1], values[2] = pastes[of].row.ID, int64(position), pastes[of].entries[position]
			position++
		}, "paste_id", "position", "entry")
	})
}

// copiedRows is a pgx.CopyFromSource of so many rows, each of which is filled in where the one before was.
type copiedRows struct {
	rows, next int
	fill       func(i int, values []any)
	values     []any
}

// Next implements pgx.CopyFromSource.
func (r *copiedRows) Next() bool {
	if r.next == r.rows {
		return false
	}
	r.fill(r.next, r.values)
	r.next++
	return true
}

// Values implements pgx.CopyFromSource.
func (r *copiedRows) Values() ([]any, error) { return r.values, nil }

// Err implements pgx.CopyFromSource.
func (r *copiedRows) Err() error { return nil }

// replaceAtOnce brings pastes that are there into line, the rows of each table in one statement.
func replaceAtOnce(tx *gorm.DB, pastes []*importedPaste, statements pasteStatements) error {
	n := len(pastes)
	if n == 0 {
		return nil
	}
	ids, owners, created, expires := make([]string, n), make([]*string, n), make([]time.Time, n), make([]*time.Time, n)
	visibilities, lifetimes, documents := make([]int16, n), make([]string, n), make([][]byte, n)
	counts, bytes := make([]int32, n), make([]int64, n)
	var (
		editIDs   []string
		positions []int64
		entries   [][]byte
	)
	for i, p := range pastes {
		if p.row.OwnerID.Valid {
			owners[i] = &p.row.OwnerID.String
		}
		if p.row.ExpiresAt.Valid {
			expires[i] = &p.row.ExpiresAt.Time
		}
		ids[i], created[i], visibilities[i] = p.row.ID, p.row.CreatedAt, p.row.Visibility
		lifetimes[i], documents[i], counts[i] = p.content.Lifetime, p.content.Document, int32(len(p.entries))
		bytes[i] = p.content.HistoryBytes
		for position, entry := range p.entries {
			editIDs, positions, entries = append(editIDs, p.row.ID), append(positions, int64(position)), append(entries, entry)
		}
	}
	run := func(statement string, args ...any) error {
		_, err := tx.Statement.ConnPool.ExecContext(tx.Statement.Context, statement, args...)
		return err
	}
	if err := run(statements.pastes, ids, owners, created, expires, visibilities); err != nil {
		return err
	}
	if err := run(statements.contents, ids, lifetimes, documents, counts, bytes); err != nil {
		return err
	}
	if err := run(statements.removeEdits, ids); err != nil {
		return err
	}
	if len(entries) == 0 {
		return nil
	}
	return run(statements.edits, editIDs, positions, entries)
}

// storeOneByOne stores each row in a statement of its own: SQLite, which has no arrays, is in the same process, and for a
// statement that stores one new row it needs no copy of the pages as they were before.
func storeOneByOne(tx *gorm.DB, pastes []*importedPaste, statements pasteStatements) (err error) {
	if len(pastes) == 0 {
		return nil
	}
	texts := [...]string{statements.pastes, statements.contents, statements.edits, statements.removeEdits}
	var prepared [len(texts)]*sql.Stmt
	for i, text := range texts {
		if text == "" {
			continue
		}
		if prepared[i], err = tx.Statement.ConnPool.PrepareContext(tx.Statement.Context, text); err != nil { //nolint:sqlclosecheck // below
			return err
		}
		defer func() { err = errors.Join(err, prepared[i].Close()) }()
	}
	// For each statement whose context can end, the driver starts a goroutine: a fifth of the processor time of an import.
	ctx := tx.Statement.Context
	uninterrupted := context.WithoutCancel(ctx)
	run := func(statement *sql.Stmt, args ...any) error {
		_, err := statement.ExecContext(uninterrupted, args...)
		if err != nil && ctx.Err() != nil { // with it the transaction has ended, which is all that err says
			return ctx.Err()
		}
		return err
	}
	addPaste, addContent, addEdit, removeEdits := prepared[0], prepared[1], prepared[2], prepared[3]
	for _, p := range pastes {
		if err := ctx.Err(); err != nil {
			return err
		}
		id := p.row.ID
		if err := run(addPaste, id, p.row.OwnerID, p.row.CreatedAt, p.row.ExpiresAt, p.row.Visibility); err != nil {
			return err
		}
		if err := run(addContent, id, p.content.Lifetime, p.content.Document, len(p.entries), p.content.HistoryBytes); err != nil {
			return err
		}
		if removeEdits != nil {
			if err := run(removeEdits, id); err != nil {
				return err
			}
		}
		for position, entry := range p.entries {
			if err := run(addEdit, id, position, entry); err != nil {
				return err
			}
		}
	}
	return nil
}
