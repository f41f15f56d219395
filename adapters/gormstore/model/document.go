package model

import (
	"errors"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/search"
)

// Document has all rows of a paste.
type Document struct {
	Paste   *Paste
	Pasties []Pasty
	Tags    []PasteTag
	Edits   []PasteEdit
	Cipher  *PasteCipher // nil: not encrypted
	Text    *PasteText   `json:"-"` // nil: not searchable
	Origin  *PasteOrigin `json:"-"` // nil: not kept
}

// NewDocument is the inverse of Domain. searched says whether its text is kept for searches.
func NewDocument(d paste.Document, searched bool) *Document {
	row := &Paste{
		ID: string(d.ID), OwnerID: Optional(string(d.Owner)), CreatedAt: Instant(d.CreatedAt),
		ExpiresAt: Nullable(d.ExpiresAt), Burns: d.Burns,
		Lifetime: string(d.Lifetime), Visibility: int16(d.Visibility), Title: Text(d.Title),
		Origin:    Optional(string(d.Origin)),
		Encrypted: d.Encrypted(), Pasties: len(d.Pasties), Tags: len(d.Tags), Edits: len(d.Edits),
		ContentBytes: d.ContentBytes(), HistoryBytes: d.HistoryBytes(),
	}
	if d.DeleteKey != (paste.KeyHash{}) {
		row.DeleteKey = d.DeleteKey[:]
	}
	if n := len(d.Edits); n > 0 {
		row.EditedAt = Nullable(d.Edits[n-1].At)
	}
	rows := &Document{Paste: row}
	for i, p := range d.Pasties {
		rows.Pasties = append(rows.Pasties, Pasty{
			PasteID: row.ID, Position: i, ID: Text(p.ID), Title: Text(p.Title),
			Language: Text(p.Language), Code: Text(p.Code),
		})
	}
	for i, tag := range d.Tags {
		rows.Tags = append(rows.Tags, PasteTag{row.ID, i, Text(tag)})
	}
	for i, e := range d.Edits {
		rows.Edits = append(rows.Edits, PasteEdit{
			PasteID: row.ID, Position: int64(i), ID: Text(e.ID), Number: e.Number, Type: int16(e.Type),
			Metadata: append([]string{}, e.Metadata...), Text: Text(e.Text), EditedAt: Instant(e.At),
		})
	}
	if searched {
		rows.Text = NewText(&d)
	}
	if d.Encrypted() {
		rows.Cipher = &PasteCipher{row.ID, d.Cipher.Version, d.Cipher.Data, d.Cipher.Key, d.Cipher.Salt}
	}
	if d.CreatedFrom.IsValid() {
		rows.Origin = &PasteOrigin{row.ID, d.CreatedFrom.String(), row.CreatedAt}
	}
	return rows
}

// Bytes is the size of content and history.
func (r *Document) Bytes() int64 { return r.Paste.ContentBytes + r.Paste.HistoryBytes }

// Load reads the content of a paste.
func Load(tx *gorm.DB, row *Paste) (*Document, error) {
	all, err := LoadAll(tx, []*Paste{row})
	return all[row.ID], err
}

// LoadAll reads the content of pastes, by id.
func LoadAll(tx *gorm.DB, rows []*Paste) (map[string]*Document, error) {
	all := make(map[string]*Document, len(rows))
	for _, row := range rows {
		all[row.ID] = &Document{Paste: row}
	}
	const ordered = "paste_id, position"
	return all, errors.Join(
		each(tx.Order(ordered), rows, func(p *Paste) bool { return p.Pasties > 0 }, func(r Pasty) {
			all[r.PasteID].Pasties = append(all[r.PasteID].Pasties, r)
		}),
		each(tx.Order(ordered), rows, func(p *Paste) bool { return p.Tags > 0 }, func(r PasteTag) {
			all[r.PasteID].Tags = append(all[r.PasteID].Tags, r)
		}),
		each(tx.Order(ordered), rows, func(p *Paste) bool { return p.Edits > 0 }, func(r PasteEdit) {
			all[r.PasteID].Edits = append(all[r.PasteID].Edits, r)
		}),
		each(tx, rows, func(p *Paste) bool { return p.Encrypted }, func(r PasteCipher) { all[r.PasteID].Cipher = &r }),
	)
}

// each calls add with each row, in one table, of the pastes that have any.
func each[R any](tx *gorm.DB, pastes []*Paste, has func(*Paste) bool, add func(R)) error {
	var ids []string
	for _, p := range pastes {
		if has(p) {
			ids = append(ids, p.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	var rows []R
	if err := tx.Where("paste_id IN ?", ids).Find(&rows).Error; err != nil {
		return err // rows may have one that was not read whole
	}
	for _, row := range rows {
		add(row)
	}
	return nil
}

// Domain returns the paste, or none for nil.
func (r *Document) Domain() paste.Document {
	if r == nil {
		return paste.Document{}
	}
	d := r.Paste.WithoutContent()
	for _, row := range r.Pasties {
		d.Pasties = append(d.Pasties, paste.Pasty{
			ID: string(row.ID), Title: string(row.Title), Language: string(row.Language), Code: string(row.Code),
		})
	}
	for _, row := range r.Tags {
		d.Tags = append(d.Tags, string(row.Tag))
	}
	for _, row := range r.Edits {
		d.Edits = append(d.Edits, paste.Edit{
			ID: string(row.ID), Number: row.Number, Type: paste.EditType(row.Type), Metadata: row.Metadata,
			Text: string(row.Text), At: row.EditedAt.UTC(),
		})
	}
	if r.Cipher != nil {
		d.Cipher = &paste.Cipher{Version: r.Cipher.Version, Data: r.Cipher.Data, Key: r.Cipher.Key, Salt: r.Cipher.Salt}
	}
	return d
}

// Insert stores a new paste.
func (r *Document) Insert(tx *gorm.DB) error {
	return Insert(tx, r.Paste, r.Origin, r.Pasties, r.Tags, r.Edits, r.Cipher, r.Text)
}

// Replace stores the differences after an edit. dropped is how many of the oldest entries of the history the edit has
// removed.
func (r *Document) Replace(tx *gorm.DB, before *Document, dropped int) error {
	if err := tx.Select("*").Omit("Stars", "Starred", "RemovedAt", "Hidden").Updates(r.Paste).Error; err != nil {
		return err
	}
	id := r.Paste.ID
	var changed []Pasty
	for i, row := range r.Pasties {
		if i >= len(before.Pasties) || row != before.Pasties[i] {
			changed = append(changed, row)
		}
	}
	if err := Insert(tx.Clauses(clause.OnConflict{UpdateAll: true}), changed); err != nil {
		return err
	}
	if len(r.Pasties) < len(before.Pasties) {
		if err := tx.Where("paste_id = ? AND position >= ?", id, len(r.Pasties)).Delete(&Pasty{}).Error; err != nil {
			return err
		}
	}
	if !slices.Equal(before.Tags, r.Tags) {
		if err := tx.Where("paste_id = ?", id).Delete(&PasteTag{}).Error; err != nil {
			return err
		}
		if err := Insert(tx, r.Tags); err != nil {
			return err
		}
	}
	var err error
	if r.Text != nil {
		err = OverTexts(tx).Create(r.Text).Error
	} else { // with search off, the text from before the edit must not stay
		err = tx.Where("paste_id = ?", id).Delete(&PasteText{}).Error
	}
	if err != nil {
		return err
	}
	if dropped > 0 {
		last := before.Edits[dropped-1].Position
		if err := tx.Where("paste_id = ? AND position <= ?", id, last).Delete(&PasteEdit{}).Error; err != nil {
			return err
		}
	}
	added, next := r.Edits[len(before.Edits)-dropped:], int64(0)
	if n := len(before.Edits); n > 0 {
		next = before.Edits[n-1].Position + 1
	}
	for i := range added {
		added[i].Position = next + int64(i)
	}
	return Insert(tx, added)
}

// NewText returns the searchable text of a paste, or nil.
func NewText(d *paste.Document) *PasteText {
	if d.Owner == "" || d.Encrypted() || d.Burns {
		return nil
	}
	texts := search.TextsOf(d)
	return &PasteText{string(d.ID), d.Visibility == paste.Public, texts.Titles, texts.Text, texts.Tags, texts.Languages}
}

// OverTexts upserts rows. An unchanged row does not touch the index.
func OverTexts(tx *gorm.DB) *gorm.DB {
	different := clause.Expr{SQL: `
		(paste_texts.public, paste_texts.titles, paste_texts.text, paste_texts.tags, paste_texts.languages)
		IS DISTINCT FROM (excluded.public, excluded.titles, excluded.text, excluded.tags, excluded.languages)`}
	return tx.Clauses(clause.OnConflict{
		Columns: []clause.Column{{Name: "paste_id"}}, UpdateAll: true,
		Where: clause.Where{Exprs: []clause.Expression{different}},
	})
}
