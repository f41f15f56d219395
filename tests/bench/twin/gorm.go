package twin

import (
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// The models of a plain service on GORM.
type (
	gormUser struct {
		ID, Username, UsernameFolded, AvatarURL, DefaultLanguage string
		PublicProfile                                            bool
		SupporterMonths                                          int32
		Contributor                                              bool
	}
	gormPaste struct {
		ID         string
		OwnerID    *string
		CreatedAt  time.Time
		ExpiresAt  *time.Time
		Lifetime   string
		Visibility int16
		Title      string
		Encrypted  bool
		Pasties    []gormPasty `gorm:"foreignKey:PasteID"`
		Edits      []gormEdit  `gorm:"foreignKey:PasteID"`
	}
	gormPasty struct {
		PasteID                   string
		Position                  int
		ID, Title, Language, Code string
	}
	gormEdit struct {
		PasteID, ID string
		Position    int64
		Number      int64
		Type        int16
		Metadata    []string `gorm:"serializer:json"`
		Text        string
		EditedAt    time.Time
	}
)

// TableName implements gorm's Tabler.
func (gormUser) TableName() string { return "users" }

// TableName implements gorm's Tabler.
func (gormPaste) TableName() string { return "pastes" }

// TableName implements gorm's Tabler.
func (gormPasty) TableName() string { return "pasties" }

// TableName implements gorm's Tabler.
func (gormEdit) TableName() string { return "paste_edits" }

// NewGORM returns what a user would write instead: a plain gin handler with GORM's Take, statements prepared, without
// log and deadline. It answers for profiles and pastes as the twin does.
func NewGORM(url string) (http.Handler, error) {
	db, err := gorm.Open(postgres.Open(url), &gorm.Config{PrepareStmt: true, Logger: logger.Discard})
	if err != nil {
		return nil, err
	}
	pool, err := db.DB()
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	gin.SetMode(gin.ReleaseMode)
	plain := gin.New()
	plain.GET("/user/:name", func(c *gin.Context) {
		var u gormUser
		if err := db.WithContext(c.Request.Context()).Where("username_folded = ?",
			strings.ToLower(c.Param("name"))).Take(&u).Error; err != nil {
			c.String(http.StatusInternalServerError, err.Error())
			return
		}
		c.JSON(http.StatusOK, profile{u.ID, u.Username, u.AvatarURL, u.DefaultLanguage, u.PublicProfile, u.SupporterMonths,
			u.Contributor})
	})
	plain.GET("/paste/:id", func(c *gin.Context) {
		d, err := takeDocument(db.WithContext(c.Request.Context()), c.Param("id"))
		if err != nil {
			c.String(http.StatusInternalServerError, err.Error())
			return
		}
		c.PureJSON(http.StatusOK, d)
	})
	return plain, nil
}

func takeDocument(db *gorm.DB, id string) (document, error) {
	inOrder := func(db *gorm.DB) *gorm.DB { return db.Order("position") }
	var p gormPaste
	err := db.Preload("Pasties", inOrder).Preload("Edits", inOrder).
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
