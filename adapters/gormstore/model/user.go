package model

import (
	"database/sql"
	"fmt"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/user"
)

// User is a row of users.
type User struct {
	ID              string `gorm:"primaryKey"`
	Username        string
	AvatarURL       string
	DefaultLanguage string
	PublicProfile   bool
	ShowTags        bool
	SupporterMonths int32
	Contributor     bool
	CreatedAt       time.Time `gorm:"autoCreateTime:false"`
	Admin           bool
	Suspended       bool
	PastesHidden    bool
	ProfileClosed   bool // here: see user.LocalChanges
}

// Identity is a user's account at a provider.
type Identity struct {
	UserID   string `gorm:"primaryKey"`
	Provider string `gorm:"primaryKey"`
	Subject  string
	Imported bool // and not linked here
}

// UnlinkedIdentity is an identity that was taken from a user. No import brings it back.
type UnlinkedIdentity struct {
	UserID   string `gorm:"primaryKey"`
	Provider string `gorm:"primaryKey"`
	Subject  string `gorm:"primaryKey"`
}

// Password is the hash of a user's password.
type Password struct {
	UserID string `gorm:"primaryKey"`
	Hash   string
}

// OneTimeLink is a link that was not used.
type OneTimeLink struct {
	Hash      []byte `gorm:"primaryKey"`
	UserID    sql.NullString
	OfferedBy sql.NullString
	ExpiresAt time.Time
}

// Domain returns the link.
func (r *OneTimeLink) Domain() (identity.OneTimeLink, error) {
	return identity.OneTimeLink{
		Hash: identity.Hash(r.Hash), Owner: user.ID(r.UserID.String), ExpiresAt: r.ExpiresAt.UTC(),
	}, nil
}

// NewUser is the inverse of Domain.
func NewUser(u user.User) *User {
	return &User{
		ID: string(u.ID), Username: u.Name.String(), AvatarURL: u.AvatarURL, DefaultLanguage: u.DefaultLanguage,
		PublicProfile: u.PublicProfile, ShowTags: u.ShowTags, SupporterMonths: u.SupporterMonths, Contributor: u.Contributor,
		CreatedAt: Instant(u.CreatedAt), Admin: u.Admin, Suspended: u.Suspended, PastesHidden: u.PastesHidden,
	}
}

// Domain returns the user.
func (r *User) Domain() (user.User, error) {
	name, err := user.ParseName(r.Username)
	if err != nil {
		return user.User{}, fault.Unexpected(fmt.Errorf("user %s: %w", r.ID, err))
	}
	return user.User{
		ID: user.ID(r.ID), Name: name, AvatarURL: r.AvatarURL, DefaultLanguage: r.DefaultLanguage,
		PublicProfile: r.PublicProfile, ShowTags: r.ShowTags, SupporterMonths: r.SupporterMonths, Contributor: r.Contributor,
		CreatedAt: r.CreatedAt.UTC(), Admin: r.Admin, Suspended: r.Suspended, PastesHidden: r.PastesHidden,
	}, nil
}

// NewIdentities returns the rows of identities that were linked on this server.
func NewIdentities(id string, identities map[string]string) []Identity {
	rows := make([]Identity, 0, len(identities))
	for provider, subject := range identities {
		rows = append(rows, Identity{UserID: id, Provider: provider, Subject: subject})
	}
	return rows
}

// FormerName is a name that a user, perhaps deleted by now, gave up.
type FormerName struct {
	UsernameFolded string `gorm:"primaryKey"`
	UserID         string
	GivenUpAt      time.Time
}

// SignInAttempt is an attempt that has not ended.
type SignInAttempt struct {
	Hash         []byte `gorm:"primaryKey"`
	Source       string
	State        string
	Nonce        string
	Verifier     string
	Provider     string
	Subject      string
	Name         string
	AvatarURL    string
	Next         string
	InvitationID sql.NullString
	UserID       sql.NullString
	ExpiresAt    time.Time
}

// Domain returns the attempt.
func (r *SignInAttempt) Domain() identity.Attempt {
	return identity.Attempt{
		Provider: r.Source, Proof: identity.Proof{State: r.State, Nonce: r.Nonce, Verifier: r.Verifier},
		Profile: identity.Profile{
			Identity: identity.Identity{Key: r.Provider, Subject: r.Subject}, Name: r.Name, AvatarURL: r.AvatarURL,
		},
		Next: r.Next, Invitation: identity.InvitationID(r.InvitationID.String), Link: user.ID(r.UserID.String),
	}
}

// Invitation is a row of invitations.
type Invitation struct {
	ID        string `gorm:"primaryKey"`
	Hash      []byte
	Uses      int
	Note      string
	CreatedAt time.Time `gorm:"autoCreateTime:false"`
	ExpiresAt time.Time
}

// Domain returns the invitation.
func (r *Invitation) Domain() (identity.Invitation, error) {
	return identity.Invitation{
		ID: identity.InvitationID(r.ID), Hash: identity.Hash(r.Hash), Uses: r.Uses, Note: r.Note,
		CreatedAt: r.CreatedAt.UTC(),
		ExpiresAt: r.ExpiresAt.UTC(),
	}, nil
}

// UserDeletion is the deletion of a user that has begun.
type UserDeletion struct {
	UserID   string `gorm:"primaryKey"`
	Keeps    bool
	Until    sql.NullTime
	Lifetime string
}

// NewUserDeletion is the inverse of Retention.
func NewUserDeletion(id user.ID, retention *user.PasteRetention) *UserDeletion {
	row := &UserDeletion{UserID: string(id), Keeps: retention != nil}
	if retention != nil {
		row.Until, row.Lifetime = Nullable(retention.Until), retention.Lifetime
	}
	return row
}

// Retention returns what becomes of the user's pastes.
func (r *UserDeletion) Retention() *user.PasteRetention {
	if !r.Keeps {
		return nil
	}
	return &user.PasteRetention{Until: r.Until.Time.UTC(), Lifetime: r.Lifetime}
}
