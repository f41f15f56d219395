package gormstore

import (
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/gluepot/gluepot/adapters/gormstore/connection"
	"github.com/gluepot/gluepot/adapters/internal/storedtext"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// pasteRows are all rows of a paste.
type pasteRows struct {
	paste   *pasteRow
	pasties []pastyRow
	tags    []tagRow
	edits   []editRow
	cipher  *cipherRow // nil: not encrypted
	texts   *textRow   // nil: not searchable
	origin  *originRow // nil: not kept
}

func newPasteRows(s *connection.Store, d paste.Document) *pasteRows {
	row := newPasteRow(d.Paste)
	row.Lifetime, row.Visibility, row.Title = string(d.Lifetime), int16(d.Visibility), storedtext.Text(d.Title)
	row.Encrypted, row.Pasties, row.Tags, row.Edits = d.Encrypted(), len(d.Pasties), len(d.Tags), len(d.Edits)
	row.ContentBytes, row.HistoryBytes = d.ContentBytes(), d.HistoryBytes()
	row.Origin = optional(string(d.Origin))
	if n := len(d.Edits); n > 0 {
		row.EditedAt = connection.Nullable(d.Edits[n-1].At)
	}
	rows := &pasteRows{paste: row}
	for i, p := range d.Pasties {
		rows.pasties = append(rows.pasties, pastyRow{
			PasteID: row.ID, Position: i, ID: storedtext.Text(p.ID), Title: storedtext.Text(p.Title),
			Language: storedtext.Text(p.Language), Code: storedtext.Text(p.Code),
		})
	}
	for i, tag := range d.Tags {
		rows.tags = append(rows.tags, tagRow{row.ID, i, storedtext.Text(tag)})
	}
	for i, e := range d.Edits {
		rows.edits = append(rows.edits, editRow{
			PasteID: row.ID, Position: int64(i), ID: storedtext.Text(e.ID), Number: e.Number, Type: int16(e.Type),
			Metadata: append([]string{}, e.Metadata...), Text: storedtext.Text(e.Text), EditedAt: connection.Instant(e.At),
		})
	}
	rows.texts = newTextRow(s, &d)
	if d.Encrypted() {
		rows.cipher = &cipherRow{row.ID, d.Cipher.Version, d.Cipher.Data, d.Cipher.Key, d.Cipher.Salt}
	}
	return rows
}

func (r *pasteRows) bytes() int64 { return r.paste.ContentBytes + r.paste.HistoryBytes }

func newPasteRow(p paste.Paste) *pasteRow {
	row := &pasteRow{
		ID: string(p.ID), OwnerID: optional(string(p.Owner)),
		CreatedAt: connection.Instant(p.CreatedAt), ExpiresAt: connection.Nullable(p.ExpiresAt), Burns: p.Burns,
	}
	if p.DeleteKey != (paste.KeyHash{}) {
		row.DeleteKey = p.DeleteKey[:]
	}
	return row
}

// load reads the content of a paste.
func load(tx *gorm.DB, row *pasteRow) (*pasteRows, error) {
	all, err := loadAll(tx, []*pasteRow{row})
	return all[row.ID], err
}

// loadAll reads the content of pastes, by id.
func loadAll(tx *gorm.DB, rows []*pasteRow) (map[string]*pasteRows, error) {
	all := make(map[string]*pasteRows, len(rows))
	var pasties, tags, edits, ciphers []string // ids of the pastes that have any
	for _, row := range rows {
		all[row.ID] = &pasteRows{paste: row}
		if row.Pasties > 0 {
			pasties = append(pasties, row.ID)
		}
		if row.Tags > 0 {
			tags = append(tags, row.ID)
		}
		if row.Edits > 0 {
			edits = append(edits, row.ID)
		}
		if row.Encrypted {
			ciphers = append(ciphers, row.ID)
		}
	}
	const ordered = "paste_id, position"
	err := each(tx.Order(ordered), pasties, func(r pastyRow) { all[r.PasteID].pasties = append(all[r.PasteID].pasties, r) })
	if err == nil {
		err = each(tx.Order(ordered), tags, func(r tagRow) { all[r.PasteID].tags = append(all[r.PasteID].tags, r) })
	}
	if err == nil {
		err = each(tx.Order(ordered), edits, func(r editRow) { all[r.PasteID].edits = append(all[r.PasteID].edits, r) })
	}
	if err == nil {
		err = each(tx, ciphers, func(r cipherRow) { all[r.PasteID].cipher = &r })
	}
	return all, err
}

// each calls add with each row of the pastes in one table.
func each[R any](tx *gorm.DB, pastes []string, add func(R)) error {
	if len(pastes) == 0 {
		return nil
	}
	var rows []R
	if err := tx.Where("paste_id IN ?", pastes).Find(&rows).Error; err != nil {
		return err
	}
	for _, row := range rows {
		add(row)
	}
	return nil
}

func (r *pasteRow) paste() paste.Paste {
	p := paste.Paste{
		ID: paste.ID(r.ID), Owner: user.ID(r.OwnerID.String), CreatedAt: r.CreatedAt.UTC(), ExpiresAt: connection.FromNullable(r.ExpiresAt),
		Burns: r.Burns,
	}
	copy(p.DeleteKey[:], r.DeleteKey)
	return p
}

// outline returns the paste without the content of other tables. An empty cipher marks it as encrypted.
func (r *pasteRow) outline() paste.Document {
	d := paste.Document{
		Paste: r.paste(), Stars: r.Stars, Starred: r.Starred,
		Content: paste.Content{
			Title: string(r.Title), Visibility: paste.Visibility(r.Visibility), Lifetime: paste.Lifetime(r.Lifetime),
			Origin: paste.ID(r.Origin.String),
		},
	}
	if r.Encrypted {
		d.Cipher = &paste.Cipher{Version: paste.CipherVersion}
	}
	return d
}

func (r *pasteRows) document() paste.Document {
	if r == nil {
		return paste.Document{}
	}
	d := r.paste.outline()
	for _, row := range r.pasties {
		d.Pasties = append(d.Pasties, paste.Pasty{
			ID: string(row.ID), Title: string(row.Title), Language: string(row.Language), Code: string(row.Code),
		})
	}
	for _, row := range r.tags {
		d.Tags = append(d.Tags, string(row.Tag))
	}
	for _, row := range r.edits {
		d.Edits = append(d.Edits, paste.Edit{
			ID: string(row.ID), Number: row.Number, Type: paste.EditType(row.Type), Metadata: row.Metadata,
			Text: string(row.Text), At: row.EditedAt.UTC(),
		})
	}
	if r.cipher != nil {
		d.Cipher = &paste.Cipher{Version: r.cipher.Version, Data: r.cipher.Data, Key: r.cipher.Key, Salt: r.cipher.Salt}
	}
	return d
}

// insert stores a new paste.
func (r *pasteRows) insert(tx *gorm.DB) error {
	return insert(tx, ifAny(r.paste), ifAny(r.origin), r.pasties, r.tags, r.edits, ifAny(r.cipher), ifAny(r.texts))
}

// replace stores the differences after an edit. dropped is how many of the oldest entries of the history the edit has removed.
func (r *pasteRows) replace(tx *gorm.DB, before *pasteRows, dropped int) error {
	if err := tx.Select("*").Omit("Stars", "Starred").Updates(r.paste).Error; err != nil {
		return err
	}
	id := r.paste.ID
	var changed []pastyRow
	for i, row := range r.pasties {
		if i >= len(before.pasties) || row != before.pasties[i] {
			changed = append(changed, row)
		}
	}
	if err := insert(tx.Clauses(clause.OnConflict{UpdateAll: true}), changed); err != nil {
		return err
	}
	if len(r.pasties) < len(before.pasties) {
		if err := tx.Where("paste_id = ? AND position >= ?", id, len(r.pasties)).Delete(&pastyRow{}).Error; err != nil {
			return err
		}
	}
	if !slices.Equal(before.tags, r.tags) {
		if err := tx.Where("paste_id = ?", id).Delete(&tagRow{}).Error; err != nil {
			return err
		}
		if err := insert(tx, r.tags); err != nil {
			return err
		}
	}
	if err := replaceTexts(tx, id, r.texts); err != nil {
		return err
	}
	if dropped > 0 {
		last := before.edits[dropped-1].Position
		if err := tx.Where("paste_id = ? AND position <= ?", id, last).Delete(&editRow{}).Error; err != nil {
			return err
		}
	}
	kept := len(before.edits) - dropped
	added := r.edits[kept:]
	next := int64(0)
	if n := len(before.edits); n > 0 {
		next = before.edits[n-1].Position + 1
	}
	for i := range added {
		added[i].Position = next + int64(i)
	}
	return insert(tx, added)
}
