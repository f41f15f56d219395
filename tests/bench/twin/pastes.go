package twin

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/rogpeppe/go-internal/diff"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// takeDocument reads a paste, in statements with these clauses. Like create and change, it is for pastes that are
// neither private nor encrypted, never expire, and have no tags and no U+0000 in their texts.
func takeDocument(db *gorm.DB, id string, clauses ...clause.Expression) (document, error) {
	inOrder := func(db *gorm.DB) *gorm.DB { return db.Order("position") }
	var p gormPaste
	err := db.Clauses(clauses...).Preload("Pasties", inOrder).Preload("Edits", inOrder).
		Where("id = ? AND (expires_at IS NULL OR expires_at > now()) AND visibility <> 2 AND NOT encrypted",
			id).Take(&p).Error
	if err != nil {
		return document{}, err
	}
	d := document{
		ID: p.ID, Title: p.Title, CreatedAt: p.CreatedAt.Unix(), ExpiresIn: p.Lifetime, IsPublic: p.Visibility == 1,
		Tags: []string{}, Edits: []edit{},
	}
	if p.OwnerID != nil {
		d.OwnerID = *p.OwnerID
	}
	for _, y := range p.Pasties {
		d.Pasties = append(d.Pasties, pasty{y.ID, y.Language, y.Title, y.Code})
	}
	for _, e := range p.Edits {
		d.Edits = append(d.Edits, edit{e.ID, e.Number, e.Type, e.Metadata, e.Text, e.EditedAt.Unix()})
	}
	return d, db.Table("stars").Where("paste_id = ?", id).Count(&d.Stars).Error
}

// create creates an anonymous paste, and stores the same rows as Gluepot.
func create(c *gin.Context, db *gorm.DB) (d document, err error) {
	if err := c.ShouldBindJSON(&d); err != nil {
		return d, err
	}
	now, key := time.Now(), make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	d.ID, d.CreatedAt, d.ExpiresIn, d.Tags, d.Edits = newID(), now.Unix(), "never", []string{}, []edit{}
	p := gormPaste{ID: d.ID, CreatedAt: now, Lifetime: d.ExpiresIn, Title: d.Title, PastyCount: len(d.Pasties),
		ContentBytes: d.bytes(), DeleteKey: key}
	for i := range d.Pasties {
		y := &d.Pasties[i]
		y.ID = newID()
		p.Pasties = append(p.Pasties, gormPasty{d.ID, i, y.ID, y.Title, y.Language, y.Code})
	}
	return d, db.Transaction(func(tx *gorm.DB) error {
		if err := tx.Omit(clause.Associations).Create(&p).Error; err != nil {
			return err
		}
		return tx.Create(&p.Pasties).Error
	})
}

var errUnknown = errors.New("unknown pasty")

// change changes the code of a pasty, and stores the same rows as Gluepot, including the history and the searchable
// text.
func change(c *gin.Context, db *gorm.DB) (d document, err error) {
	var input document
	if err := c.ShouldBindJSON(&input); err != nil {
		return d, err
	}
	hash := sha256.Sum256([]byte(c.GetHeader("Authorization")))
	err = db.Transaction(func(tx *gorm.DB) error {
		var token gormToken
		if err := tx.Where("hash = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())", hash[:]).
			Take(&token).Error; err != nil {
			return err
		}
		if d, err = takeDocument(tx, c.Param("id"), clause.Locking{Strength: clause.LockingStrengthUpdate}); err != nil {
			return err
		}
		if d.OwnerID != token.UserID {
			return errUnknown
		}
		position, record, err := d.change(input.Pasties[0])
		if err != nil {
			return err
		}
		return d.store(tx, position, record)
	})
	return d, err
}

// change changes the code of a pasty, and returns its position and the new entry of the history.
func (d *document) change(to pasty) (position int, record edit, err error) {
	number := int64(0)
	if n := len(d.Edits); n > 0 {
		number = d.Edits[n-1].EditID + 1
	}
	for i := range d.Pasties {
		p := &d.Pasties[i]
		if p.ID != to.ID {
			continue
		}
		_, text, _ := bytes.Cut(diff.Diff("", []byte(p.Code), "", []byte(to.Code)), []byte("\n"))
		p.Code = to.Code
		record = edit{newID(), number, 3, []string{p.ID}, string(text), time.Now().Unix()}
		d.Edits = append(d.Edits, record)
		return i, record, nil
	}
	return 0, record, errUnknown
}

func (d *document) store(tx *gorm.DB, position int, record edit) error {
	at := time.Unix(record.EditedAt, 0)
	err := tx.Model(&gormPaste{}).Where("id = ?", d.ID).Updates(map[string]any{
		"edits": len(d.Edits), "edited_at": at, "content_bytes": d.bytes(),
		"history_bytes": gorm.Expr("history_bytes + ?", len(record.Edit)),
	}).Error
	if err != nil {
		return err
	}
	y := d.Pasties[position]
	err = tx.Model(&gormPasty{}).Where("paste_id = ? AND position = ?", d.ID, position).Update("code", y.Code).Error
	if err != nil {
		return err
	}
	entry := gormEdit{d.ID, record.ID, int64(len(d.Edits) - 1), record.EditID, record.EditType, record.Metadata,
		record.Edit, at}
	if err := tx.Create(&entry).Error; err != nil {
		return err
	}
	titles := strings.ToLower(d.Title + "\n" + y.Title + "\n")
	return tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&gormText{
		d.ID, d.IsPublic, titles, titles + strings.ToLower(y.Code) + "\n", "\n", "\n" + strings.ToLower(y.Language) + "\n",
	}).Error
}
