package gormstore

import (
	"context"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/gluepot/gluepot/adapters/gormstore/db"
	"github.com/gluepot/gluepot/adapters/gormstore/model"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/search"
	"github.com/gluepot/gluepot/domain/user"
)

// Search finds pastes by their content.
type Search struct{ store *db.Store }

// NewSearch returns the search of a store.
func NewSearch(store *db.Store) *Search { return &Search{store} }

// firstScan is how many of the newest public pastes are scanned before the index is used. If they have a quarter of the
// results, secondScan pastes are scanned. A scan is quick for frequent words, and the index is quick for rare ones.
const firstScan, secondScan = 1000, 5000

// Find implements search.Store.
func (s *Search) Find(
	ctx context.Context, query search.Query, reader user.ID, after search.Cursor, limit int,
) (results []search.Result, more bool, err error) {
	if !model.IsText(string(reader)) {
		reader = ""
	}
	results = []search.Result{}
	err = s.store.Snapshot(ctx, func(tx *gorm.DB) error {
		if err := tx.Exec(s.store.Dialect().ReplanEach).Error; err != nil {
			return err
		}
		f := &finder{s.store, tx, query, string(reader), after, limit + 1}
		rows, err := f.rows()
		if err != nil {
			return err
		}
		more = len(rows) > limit
		for rows = rows[:min(len(rows), limit)]; len(rows) > 0; {
			read, n, err := f.read(rows)
			if err != nil {
				return err
			}
			results, rows = append(results, read...), rows[n:]
		}
		paste.CutPasties(len(results), func(i int) *paste.Summary { return &results[i].Summary })
		return nil
	}, s.store.Slow, s.store.Pastes)
	if err != nil {
		return nil, false, err
	}
	return results, more, nil
}

// finder runs one search.
type finder struct {
	store  *db.Store
	tx     *gorm.DB
	query  search.Query
	reader string
	after  search.Cursor
	limit  int
}

type matchRow struct {
	Paste    model.Paste `gorm:"embedded"`
	Username string
	InTitles bool
	ShowTags bool
}

func (r *matchRow) cursor() search.Cursor {
	return search.Cursor{Cursor: r.Paste.Domain().Cursor(), InTitles: r.InTitles}
}

// rows returns the first results.
func (f *finder) rows() ([]matchRow, error) {
	all, err := f.owned()
	if err != nil || f.query.Mine || len(f.query.Users) > 0 {
		return all, err
	}
	for _, inTitles := range []bool{true, false} {
		public, err := f.public(inTitles)
		if err != nil {
			return nil, err
		}
		if all = append(all, public...); len(public) == f.limit {
			break
		}
	}
	slices.SortFunc(all, func(a, b matchRow) int {
		if a.cursor().Before(b.cursor()) {
			return -1
		}
		return 1
	})
	return all[:min(len(all), f.limit)], nil
}

// owned returns results from one user's pastes: the user's in the query, or else the reader's own that are not public.
// It reads only the public pastes of another user, so that timing reveals nothing.
func (f *finder) owned() ([]matchRow, error) {
	from := f.tx.Table("pastes o").Joins("JOIN paste_texts x ON x.paste_id = o.id")
	switch onlyOneUser := f.query.Mine || len(f.query.Users) > 0; {
	case onlyOneUser:
		from = from.Where("o.visibility = 1 OR o.owner_id = ?", f.reader)
	case f.reader == "":
		return nil, nil
	default:
		from = from.Where("o.visibility <> 1")
	}
	if len(f.query.Users) == 0 || f.query.Mine {
		from = from.Where("o.owner_id = ?", f.reader)
	}
	for _, name := range f.query.Users {
		from = from.Where("o.owner_id = (SELECT id FROM users WHERE username_folded = ?)", name.Folded())
	}
	return f.readableOf(f.whereMatches(from, "x.text"))
}

// public returns results from public pastes: those whose titles contain every word, or the others.
func (f *finder) public(inTitles bool) ([]matchRow, error) {
	column, after := "x.text", paste.Cursor{}
	if inTitles {
		column = "x.titles"
		if len(f.query.Words) == 0 || f.after != (search.Cursor{}) && !f.after.InTitles {
			return nil, nil
		}
	}
	if f.after.InTitles == inTitles {
		after = f.after.Cursor
	}
	match := func(from *gorm.DB) ([]matchRow, error) {
		if from = f.whereMatches(from.Where("x.public"), column); !inTitles && len(f.query.Words) > 0 {
			from = from.Not(f.inTitles())
		}
		return f.readableOf(from)
	}
	for _, most := range []int{firstScan, secondScan} {
		first := newest(f.tx, after, most).Select("id").Where("visibility = 1 AND removed_at IS NULL")
		texts := f.tx.Table("(?) w", first).Select("x.*").Joins("JOIN paste_texts x ON x.paste_id = w.id").Limit(most)
		rows, err := match(f.tx.Table("(?) x", texts)) // without its own limit, PostgreSQL would use the index
		if err != nil || len(rows) == f.limit {
			return rows, err
		}
		if len(rows) < f.limit/4 {
			break
		}
	}
	return match(f.store.Dialect().Indexed(f.tx.Table("paste_texts x"), f.phrases(column)))
}

// inTitles is the condition that the titles contain every word.
func (f *finder) inTitles() clause.Expr {
	if len(f.query.Words) == 0 {
		return gorm.Expr("FALSE")
	}
	parts, patterns := make([]string, len(f.query.Words)), make([]any, len(f.query.Words))
	for i, word := range f.query.Words {
		parts[i], patterns[i] = "x.titles"+like, pattern(word)
	}
	return gorm.Expr("("+strings.Join(parts, " AND ")+")", patterns...)
}

// whereMatches restricts a query to texts that match. The words must be in the column.
func (f *finder) whereMatches(from *gorm.DB, column string) *gorm.DB {
	for column, parts := range f.parts(column) {
		for _, part := range parts {
			from = from.Where(column+like, pattern(part))
		}
	}
	return from.Select("x.paste_id, ? AS in_titles", f.inTitles())
}

// parts yields columns, each with the texts that it must contain. The words must be in the column words.
func (f *finder) parts(words string) iter.Seq2[string, []string] {
	return func(yield func(string, []string) bool) {
		_ = yield(words, f.query.Words) && yield("x.tags", f.query.Tags) && yield("x.languages", f.query.Languages)
	}
}

const like = ` LIKE ? ESCAPE '\'`

var likeEscaper = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// pattern returns the LIKE pattern for texts that contain a part.
func pattern(part string) string { return "%" + likeEscaper.Replace(part) + "%" }

// phrases returns the MATCH expression for SQLite's trigram index, which cannot find fewer than three characters. It
// is never empty where it is used: a query has a word of three characters or a filter.
func (f *finder) phrases(words string) string {
	var phrases []string
	for column, parts := range f.parts(words) {
		for _, part := range parts {
			if utf8.RuneCountInString(part) >= 3 {
				phrases = append(phrases, strings.TrimPrefix(column, "x.")+` : "`+strings.ReplaceAll(part, `"`, `""`)+`"`)
			}
		}
	}
	return strings.Join(phrases, " AND ")
}

// selectReadable selects the pastes of matching texts that the reader may see. MATERIALIZED makes the database search
// the texts first. Otherwise it would go through all pastes by time, which is slow for rare words.
const selectReadable = `WITH t AS MATERIALIZED (?)
	SELECT p.id, p.owner_id, p.created_at, p.expires_at, p.visibility, p.title, p.pasties, p.tags, u.username, t.in_titles,
		p.edited_at, p.content_bytes, (SELECT count(*) FROM stars s WHERE s.paste_id = p.id) AS stars, u.show_tags
	FROM t JOIN pastes p ON p.id = t.paste_id JOIN users u ON u.id = p.owner_id
	WHERE (p.owner_id = ? OR p.visibility = 1 AND u.public_profile AND (? OR u.show_tags))
		AND p.removed_at IS NULL AND (p.expires_at IS NULL OR p.expires_at > ?)
		AND (? OR (t.in_titles, p.created_at, p.id) < (?, ?, ?))
	ORDER BY t.in_titles DESC, p.created_at DESC, p.id DESC LIMIT ?`

// readableOf returns the first results among the texts.
func (f *finder) readableOf(texts *gorm.DB) (rows []matchRow, err error) {
	err = f.tx.Raw(selectReadable, texts, f.reader, len(f.query.Tags) == 0, f.store.Now(), f.after == search.Cursor{},
		f.after.InTitles, model.Instant(f.after.CreatedAt), string(f.after.ID), f.limit).Scan(&rows).Error
	return rows, err
}

// readBytes is about how many bytes of pastes are read at once for their results. At least one paste is read.
const readBytes = 4 << 20

// read returns the results of the first rows, and how many rows it has read. It leaves out pastes that no longer match.
func (f *finder) read(rows []matchRow) (results []search.Result, n int, err error) {
	var pastes []*model.Paste
	for size := int64(0); n < len(rows); n++ {
		if size += rows[n].Paste.ContentBytes; size > readBytes && n > 0 {
			break
		}
		pastes = append(pastes, &rows[n].Paste)
	}
	documents, err := model.LoadAll(f.tx, pastes)
	if err != nil {
		return nil, 0, err
	}
	for i := range rows[:n] {
		if result, ok := f.result(&rows[i], documents[rows[i].Paste.ID]); ok {
			results = append(results, result)
		}
	}
	return results, n, nil
}

// result returns the result of a row, with the lines that match. ok is false for a paste that no longer matches: it was
// edited while searches were off.
func (f *finder) result(row *matchRow, rows *model.Document) (result search.Result, ok bool) {
	document := rows.Domain()
	lines, ok := f.query.Match(&document)
	if !ok {
		return result, false
	}
	listed := listedRow{Paste: row.Paste, OwnerName: row.Username}
	if len(rows.Pasties) > 0 {
		listed.PastyTitle, listed.Beginning = rows.Pasties[0].Title, rows.Pasties[0].Code
	}
	result = search.Result{Summary: listed.domain(), Cursor: row.cursor(), Lines: lines}
	for _, p := range document.Pasties {
		result.Pasties = append(result.Pasties, p.Summary())
	}
	if row.ShowTags || row.Paste.OwnerID.String == f.reader {
		result.Tags = document.Tags
	}
	return result, true
}

// Indexed implements search.Store.
func (s *Search) Indexed(ctx context.Context) (indexed bool, err error) {
	err = s.store.Read(ctx).Raw(s.store.Dialect().Searchable).Scan(&indexed).Error
	return indexed, db.Translate(err)
}

// Prepare implements search.Store.
func (s *Search) Prepare(ctx context.Context) error { return s.store.PrepareSearch(ctx) }

// Limits of one batch of a rebuild, which reads at least one paste.
const (
	rebuildPastes = 200
	rebuildBytes  = 8 << 20
)

// Rebuild implements search.Store.
func (s *Search) Rebuild(ctx context.Context, after paste.ID) (last paste.ID, read int, err error) {
	err = s.store.WritePaste(ctx, func(tx *gorm.DB) error {
		last, read = "", 0
		var rows []*model.Paste
		err := db.ForUpdate(tx).Omit("Stars", "Starred").
			Where("id > ? AND owner_id IS NOT NULL AND removed_at IS NULL", string(after)).
			Order("id").Limit(rebuildPastes).Find(&rows).Error
		if err != nil {
			return err
		}
		size := int64(0)
		for i, row := range rows {
			if size += row.ContentBytes; size > rebuildBytes && i > 0 {
				rows = rows[:i]
				break
			}
			last = paste.ID(row.ID)
		}
		read = len(rows)
		return keepTexts(s.store, tx, rows)
	})
	return last, read, err
}

// keepTexts stores the searchable texts of pastes.
func keepTexts(s *db.Store, tx *gorm.DB, rows []*model.Paste) error {
	if !s.KeepsSearch() {
		return nil
	}
	for _, row := range rows {
		row.Edits = 0 // the history is not searched
	}
	documents, err := model.LoadAll(tx, rows)
	if err != nil {
		return err
	}
	var texts []*model.PasteText
	for _, row := range rows {
		document := documents[row.ID].Domain()
		if text := model.NewText(&document); text != nil {
			texts = append(texts, text)
		}
	}
	return model.Insert(model.OverTexts(tx), texts)
}
