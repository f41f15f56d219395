package gormstore

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/gluepot/gluepot/adapters/gormstore/db"
	"github.com/gluepot/gluepot/adapters/gormstore/model"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// ActiveCount implements paste.Store. On PostgreSQL, triggers keep 64 counters, so it takes the same time for any
// number of pastes. On SQLite its time grows with their number.
func (p *Pastes) ActiveCount(ctx context.Context) (count int64, err error) {
	err = p.store.List(ctx, func(tx *gorm.DB) error {
		return tx.Raw(p.store.Dialect().ActiveCount, p.store.Now()).Scan(&count).Error
	})
	return count, err
}

// newest selects pastes after a cursor, newest first.
func newest(tx *gorm.DB, after paste.Cursor, limit int) *gorm.DB {
	return latest(tx.Model(&model.Paste{}), "pastes.created_at", "pastes.id", after.CreatedAt, string(after.ID), limit)
}

// latest orders a query by a time and an id, the latest first, and restricts it to the rows after the given time and
// id, unless these are zero. at and id are columns.
func latest(query *gorm.DB, at, id string, afterTime time.Time, afterID string, limit int) *gorm.DB {
	if afterID != "" || !afterTime.IsZero() {
		query = query.Where("("+at+", "+id+") < (?, ?)", model.Instant(afterTime), afterID)
	}
	return query.Order(at + " DESC, " + id + " DESC").Limit(limit)
}

// unexpired restricts a query to rows that have not expired. Only one of its tables may have the column expires_at.
func unexpired(s *db.Store, query *gorm.DB) *gorm.DB {
	return query.Where("expires_at IS NULL OR expires_at > ?", s.Now())
}

// active restricts a query to pastes that have neither expired nor been removed.
func active(s *db.Store, query *gorm.DB) *gorm.DB {
	return unexpired(s, query.Where("removed_at IS NULL"))
}

// ActiveIDs implements paste.Store. It reads the ids of a page as one text: a row for each id would take twice as long.
func (p *Pastes) ActiveIDs(
	ctx context.Context, owner user.ID, after paste.Cursor, limit int,
) (ids []paste.ID, last paste.Cursor, err error) {
	const separator = "\x1f" // which no id contains (ident.Valid)
	ids = []paste.ID{}
	err = p.store.ReadLimited(ctx, func(tx *gorm.DB) error { // quick: it only reads an index
		page := newest(tx, after, limit).Where("pastes.owner_id = ?", string(owner)).Select("created_at", "id")
		var row struct {
			Joined sql.NullString // NULL for an empty page
			At     model.Computed
		}
		err := tx.Table("(?) AS page", active(p.store, page)).
			Select("string_agg(id, ?) AS joined, min(created_at) AS at", separator).Scan(&row).Error
		if err != nil || !row.Joined.Valid {
			return err
		}
		for id := range strings.SplitSeq(row.Joined.String, separator) {
			ids = append(ids, paste.ID(id))
		}
		last = paste.Cursor{CreatedAt: time.Time(row.At).UTC(), ID: ids[len(ids)-1]}
		return nil
	}, p.store.Pastes)
	return ids, last, err
}

// titleKey selects paste.Summary.TitleKey: the first 100 characters of a paste's title, so that cursors stay short.
// lower is paste.FoldTitle: both databases fold only ASCII.
const titleKey = `substr(lower(coalesce(nullif(pastes.title, ''), q.title, '')), 1, 100)`

// Select implements paste.Store.
func (p *Pastes) Select(
	ctx context.Context, owner user.ID, selection paste.Selection, limit int,
) (summaries []paste.Summary, err error) {
	err = p.store.Snapshot(ctx, func(tx *gorm.DB) error {
		summaries, err = p.selectPastes(tx, owner, selection, limit)
		return err
	}, p.store.Slow, p.store.Pastes)
	return summaries, err
}

// Profile implements paste.Store.
func (p *Pastes) Profile(
	ctx context.Context, name user.Name, allow func(user.User) error, selection paste.Selection, limit int,
) (owner user.User, summaries []paste.Summary, err error) {
	err = p.store.Snapshot(ctx, func(tx *gorm.DB) error {
		if owner, err = find(tx.Where("username_folded = ?", name.Folded()), (*model.User).Domain); err != nil {
			return err
		}
		if err = allow(owner); err != nil {
			return err
		}
		selection.Public = true
		summaries, err = p.selectPastes(tx, owner.ID, selection, limit)
		return err
	}, p.store.Slow, p.store.Pastes)
	if err != nil {
		return user.User{}, nil, err
	}
	return owner, summaries, nil
}

// selectPastes reads the pastes of a selection with their tags.
func (p *Pastes) selectPastes(
	tx *gorm.DB, owner user.ID, selection paste.Selection, limit int,
) ([]paste.Summary, error) {
	var query *gorm.DB
	after := selection.After
	switch selection.Order {
	case paste.ByEdit:
		query = latest(tx.Model(&model.Paste{}), "coalesce(pastes.edited_at, pastes.created_at)", "pastes.id",
			after.CreatedAt, string(after.ID), limit)
	case paste.ByTitle:
		query = tx.Model(&model.Paste{}).Order(titleKey + ", pastes.id").Limit(limit)
		if after != (paste.Cursor{}) {
			query = query.Where("("+titleKey+", pastes.id) > (?, ?)", selection.AfterTitle, string(after.ID))
		}
	default:
		query = newest(tx, after, limit)
	}
	const byClient = "EXISTS (SELECT 1 FROM paste_ciphers c WHERE c.paste_id = pastes.id AND c.version > 0)"
	query = query.Where("pastes.owner_id = ?", string(owner)).Where("NOT pastes.encrypted OR " + byClient)
	if selection.Public { // literals, for a partial index
		query = query.Where("pastes.visibility = 1 AND NOT pastes.burns AND NOT pastes.encrypted AND o.public_profile")
	}
	query = withTitle(query, selection.Title)
	if selection.Tag != "" {
		query = query.Where(
			"EXISTS (SELECT 1 FROM paste_tags g WHERE g.paste_id = pastes.id AND g.tag = ?) AND (o.show_tags OR NOT ?)",
			model.Text(selection.Tag), selection.Public)
	}
	summaries, err := p.summaries(tx, query)
	if err != nil || len(summaries) == 0 {
		return summaries, err
	}
	return summaries, addTags(tx, summaries, selection.Public)
}

// withTitle restricts a query to pastes whose titles contain a part (paste.Selection.Title), unless the part is empty.
func withTitle(query *gorm.DB, part string) *gorm.DB {
	if part == "" {
		return query
	}
	value, _ := model.Text(paste.FoldTitle(part)).Value() // always a string
	text, _ := value.(string)
	return query.Where("lower(coalesce(nullif(pastes.title, ''), q.title, ''))"+like, pattern(text))
}

// addTags reads the tags of a list. It reads those of a public list only if the owner shows them.
func addTags(tx *gorm.DB, summaries []paste.Summary, public bool) error {
	byID := make(map[string]*paste.Summary, len(summaries))
	for i := range summaries {
		byID[string(summaries[i].ID)] = &summaries[i]
	}
	query := tx.Where("paste_id IN ?", slices.Collect(maps.Keys(byID)))
	if public {
		query = query.Where("(SELECT o.show_tags FROM pastes p JOIN users o ON o.id = p.owner_id WHERE p.id = paste_id)")
	}
	var rows []model.PasteTag
	err := query.Order("paste_id, position").Find(&rows).Error
	for _, row := range rows {
		byID[row.PasteID].Tags = append(byID[row.PasteID].Tags, string(row.Tag))
	}
	return err
}

// StarredBy implements paste.Store. Its time grows with the number of the user's stars. If it ordered by the bare
// column, PostgreSQL would scan the pastes of all users by time, which are very many if the starred ones are old.
func (p *Pastes) StarredBy(
	ctx context.Context, reader user.ID, title string, after paste.Cursor, limit int,
) ([]paste.Summary, error) {
	return p.list(ctx, func(tx *gorm.DB) *gorm.DB {
		const unindexed = "coalesce(pastes.created_at, pastes.created_at)"
		query := latest(tx.Model(&model.Paste{}), unindexed, "pastes.id", after.CreatedAt, string(after.ID), limit)
		return withTitle(query, title).
			Joins("JOIN stars s ON s.paste_id = pastes.id AND s.user_id = ?", string(reader)).
			Where("NOT pastes.burns AND NOT pastes.encrypted AND (pastes.visibility <> ? OR pastes.owner_id = ?)",
				paste.Private, string(reader))
	})
}

// Recent implements paste.Store.
func (p *Pastes) Recent(
	ctx context.Context, title string, after paste.Cursor, limit int,
) ([]paste.Summary, error) {
	return p.list(ctx, func(tx *gorm.DB) *gorm.DB {
		query := newest(tx.Model(&model.Paste{}), after, limit)
		if title != "" {
			window := newest(tx.Model(&model.Paste{}), after, paste.TitleWindow)
			query = query.Where("pastes.id IN (?)", window.Select("pastes.id").
				Where("pastes.visibility = 1 AND NOT pastes.encrypted"))
		}
		return withTitle(query, title).
			Where("pastes.visibility = 1 AND NOT pastes.encrypted AND o.public_profile") // literals, for the partial index
	})
}

const listedColumns = `pastes.id, pastes.owner_id, pastes.created_at, pastes.expires_at, pastes.burns,
	pastes.encrypted, pastes.visibility, pastes.title, pastes.edited_at, pastes.pasties, pastes.content_bytes,
	(SELECT count(*) FROM stars t WHERE t.paste_id = pastes.id) AS stars, coalesce(o.username, '') AS owner_name,
	` + titleKey + ` AS title_key, coalesce(q.title, '') AS pasty_title,
	coalesce(substr(q.code, 1, ?), '') AS beginning`

// listedRow is a paste with the title and the beginning of its first pasty, and the name of its owner.
type listedRow struct {
	Paste      model.Paste `gorm:"embedded"`
	OwnerName  string
	PastyTitle model.Text
	Beginning  model.Text
	TitleKey   string
}

// summaryRow is a pasty without most of its code.
type summaryRow struct {
	PasteID   string
	ID        model.Text
	Title     model.Text
	Language  model.Text
	Lines     int
	Beginning model.Text
}

// previewCharacters is how many characters of code are read for a preview. Two of them may stand for one (model.Text).
const previewCharacters = 2*paste.MaxPreviewBytes + 1

// addPasties reads the pasties of listed pastes, except those that are cut.
func addPasties(tx *gorm.DB, summaries []paste.Summary) error {
	whole := paste.CutPasties(len(summaries), func(i int) *paste.Summary {
		return &summaries[i]
	})
	if whole == 0 {
		return nil
	}
	byID := make(map[string]*paste.Summary, whole)
	for i := range summaries[:whole] {
		byID[string(summaries[i].ID)] = &summaries[i]
	}
	var rows []summaryRow
	err := tx.Table("pasties").
		Select("paste_id, id, title, language, lines, substr(code, 1, ?) AS beginning", previewCharacters).
		Where("paste_id IN ?", slices.Sorted(maps.Keys(byID))).Order("paste_id, position").Scan(&rows).Error
	for _, row := range rows {
		summary := byID[row.PasteID]
		summary.Pasties = append(summary.Pasties, paste.PastySummary{
			ID: string(row.ID), Title: string(row.Title), Language: string(row.Language), Lines: row.Lines,
			Preview: paste.Preview(string(row.Beginning)),
		})
	}
	return err
}

// list calls summaries in a snapshot.
func (p *Pastes) list(ctx context.Context, query func(tx *gorm.DB) *gorm.DB) (summaries []paste.Summary, err error) {
	err = p.store.Snapshot(ctx, func(tx *gorm.DB) error {
		summaries, err = p.summaries(tx, query(tx))
		return err
	}, p.store.Slow, p.store.Pastes)
	return summaries, err
}

// summaries reads the active pastes of a query.
func (p *Pastes) summaries(tx, query *gorm.DB) ([]paste.Summary, error) {
	var rows []listedRow
	err := active(p.store, query).Select(listedColumns, paste.MaxFirstLine).
		Joins("LEFT JOIN pasties q ON q.paste_id = pastes.id AND q.position = 0").
		Joins("LEFT JOIN users o ON o.id = pastes.owner_id AND o.public_profile").Scan(&rows).Error
	summaries := make([]paste.Summary, 0, len(rows))
	for i := range rows {
		summaries = append(summaries, rows[i].domain())
	}
	if err == nil {
		err = addPasties(tx, summaries)
	}
	return summaries, err
}

func (r *listedRow) domain() paste.Summary {
	return paste.Summary{
		EditedAt: cmp.Or(r.Paste.EditedAt.Time, r.Paste.CreatedAt).UTC(), TitleKey: r.TitleKey,
		Paste: r.Paste.Domain(), Title: string(r.Paste.Title), Visibility: paste.Visibility(r.Paste.Visibility),
		Encrypted: r.Paste.Encrypted, PastyTitle: string(r.PastyTitle), OwnerName: r.OwnerName,
		FirstLine: paste.FirstLine(string(r.Beginning)),
		Stars:     r.Paste.Stars, Bytes: r.Paste.ContentBytes, PastyCount: r.Paste.Pasties,
	}
}

// Users implements user.Store.
func (u *Users) Users(ctx context.Context, after user.Name, limit int) ([]user.User, error) {
	query := u.store.Read(ctx).Where("username_folded > ?", after.Folded()).Order("username_folded").Limit(limit)
	return list(query, (*model.User).Domain)
}
