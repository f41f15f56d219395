package twin

import (
	"database/sql"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"go.uber.org/zap"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	_ "modernc.org/sqlite" // registers the driver "sqlite"
)

// The models of a plain service on GORM.
type (
	gormUser struct {
		ID, Username, UsernameFolded, AvatarURL, DefaultLanguage string
		PublicProfile                                            bool
		SupporterMonths                                          int32
		Contributor                                              bool
	}
	gormToken struct {
		ID, UserID string
	}
	gormPaste struct {
		ID           string
		OwnerID      *string
		CreatedAt    time.Time
		ExpiresAt    *time.Time
		EditedAt     *time.Time
		Lifetime     string
		Visibility   int16
		Title        string
		Encrypted    bool
		PastyCount   int `gorm:"column:pasties"`
		TagCount     int `gorm:"column:tags"`
		EditCount    int `gorm:"column:edits"`
		ContentBytes int
		HistoryBytes int
		DeleteKey    []byte
		Pasties      []gormPasty `gorm:"foreignKey:PasteID"`
		Edits        []gormEdit  `gorm:"foreignKey:PasteID"`
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
	gormText struct {
		PasteID                       string `gorm:"primaryKey"`
		Public                        bool
		Titles, Text, Tags, Languages string
	}
)

// TableName implements gorm's Tabler.
func (gormUser) TableName() string { return "users" }

// TableName implements gorm's Tabler.
func (gormToken) TableName() string { return "access_tokens" }

// TableName implements gorm's Tabler.
func (gormPaste) TableName() string { return "pastes" }

// TableName implements gorm's Tabler.
func (gormPasty) TableName() string { return "pasties" }

// TableName implements gorm's Tabler.
func (gormEdit) TableName() string { return "paste_edits" }

// TableName implements gorm's Tabler.
func (gormText) TableName() string { return "paste_texts" }

// NewGORM returns what a user would write instead: plain gin handlers with GORM and prepared statements, without a log
// and deadlines. Only /constant, which answers with constant, has an access log.
func NewGORM(url string, constant []byte) (http.Handler, error) {
	db, err := open(postgres.Open(url))
	if err != nil {
		return nil, err
	}
	log, err := accessLog()
	if err != nil {
		return nil, err
	}
	plain := gin.New()
	plain.GET("/constant", log, func(c *gin.Context) { c.Data(http.StatusOK, "application/json", constant) })
	plain.GET("/user/:name", func(c *gin.Context) {
		var u gormUser
		err := db.WithContext(c.Request.Context()).Where("username_folded = ?", strings.ToLower(c.Param("name"))).
			Take(&u).Error
		answer(c, profile{u.ID, u.Username, u.AvatarURL, u.DefaultLanguage, u.PublicProfile, u.SupporterMonths,
			u.Contributor}, err)
	})
	plain.GET("/paste/:id", func(c *gin.Context) {
		d, err := takeDocument(db.WithContext(c.Request.Context()), c.Param("id"))
		answer(c, d, err)
	})
	plain.POST("/paste", func(c *gin.Context) {
		d, err := create(c, db.WithContext(c.Request.Context()))
		answer(c, d, err)
	})
	plain.PATCH("/paste/:id", func(c *gin.Context) {
		d, err := change(c, db.WithContext(c.Request.Context()))
		answer(c, d, err)
	})
	return plain, nil
}

// NewSQLite is like NewGORM, for the raw text of a pasty in the file at path.
func NewSQLite(path string) (http.Handler, error) {
	pool, err := sql.Open("sqlite", "file:"+path+"?mode=ro&_inttotime=1&_time_integer_format=unix_micro")
	if err != nil {
		return nil, err
	}
	db, err := open(postgres.New(postgres.Config{Conn: pool})) // SQLite understands these statements
	if err != nil {
		return nil, err
	}
	plain := gin.New()
	plain.GET("/raw/:id/:pasty", func(c *gin.Context) {
		db := db.WithContext(c.Request.Context())
		var p gormPaste
		err := db.Where("id = ? AND visibility <> 2 AND NOT encrypted", c.Param("id")).Take(&p).Error
		if err != nil || p.ExpiresAt != nil && p.ExpiresAt.Before(time.Now()) {
			c.String(http.StatusNotFound, "not found")
			return
		}
		var y gormPasty
		if err := db.Where("paste_id = ? AND id = ?", p.ID, c.Param("pasty")).Take(&y).Error; err != nil {
			c.String(http.StatusNotFound, "not found")
			return
		}
		c.Data(http.StatusOK, "text/plain; charset=utf-8", []byte(y.Code))
	})
	return plain, nil
}

func open(dialect gorm.Dialector) (*gorm.DB, error) {
	gin.SetMode(gin.ReleaseMode)
	db, err := gorm.Open(dialect, &gorm.Config{PrepareStmt: true, Logger: logger.Discard})
	if err != nil {
		return nil, err
	}
	pool, err := db.DB()
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	return db, nil
}

// accessLog logs each request to standard error.
func accessLog() (gin.HandlerFunc, error) {
	config := zap.NewProductionConfig()
	config.Sampling = nil
	log, err := config.Build()
	return func(c *gin.Context) {
		start := time.Now()
		c.Next()
		log.Info("request", zap.String("method", c.Request.Method), zap.String("path", c.Request.URL.Path),
			zap.Int("status", c.Writer.Status()), zap.Duration("duration", time.Since(start)),
			zap.Int("bytes", c.Writer.Size()), zap.String("client", c.ClientIP()))
	}, err
}

func answer(c *gin.Context, v any, err error) {
	if err != nil {
		c.String(http.StatusInternalServerError, err.Error())
		return
	}
	c.PureJSON(http.StatusOK, v)
}
