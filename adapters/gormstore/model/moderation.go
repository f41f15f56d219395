package model

import (
	"database/sql"
	"time"
)

// PasteQuota is what a client has used of its quota.
type PasteQuota struct {
	Client []byte `gorm:"primaryKey"`
	FullAt time.Time
}

// TableName implements schema.Tabler.
func (PasteQuota) TableName() string { return "paste_quotas" }

// PasteOrigin is the address that created a paste. It is swept by age, even if the paste stays.
type PasteOrigin struct {
	PasteID   string `gorm:"primaryKey"`
	Address   string
	CreatedAt time.Time `gorm:"autoCreateTime:false"`
}

// Block is a network that may not write.
type Block struct {
	Network   string    `gorm:"primaryKey"`
	CreatedAt time.Time `gorm:"autoCreateTime:false"`
	ExpiresAt sql.NullTime
	Reason    string
}

// Report is an open report.
type Report struct {
	ID        string `gorm:"primaryKey"`
	PasteID   string
	Reason    string
	Text      string
	CreatedAt time.Time `gorm:"autoCreateTime:false"`
}

// AuditEntry is one act.
type AuditEntry struct {
	ID     string `gorm:"primaryKey"`
	At     time.Time
	Actor  string
	Act    string
	Target string
	Reason string
}

// TableName implements schema.Tabler.
func (AuditEntry) TableName() string { return "audit_log" }

// Tombstone remains of a deleted user or paste, so that no import brings it back.
type Tombstone struct {
	Kind      string `gorm:"primaryKey"`
	ID        string `gorm:"primaryKey"`
	DeletedAt time.Time
	RemovedBy string // the operator or administrator who removed a paste; else empty
	Reason    string
	Told      bool // its page says that it was removed
}

// Kinds of tombstones.
const (
	PasteTombstone = "paste"
	UserTombstone  = "user"
)
