package httpapi

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/domain/user"
)

// publicView is a profile as anyone sees it. The specification fixes the fields; strict clients fail on others.
type publicView struct {
	ID              string `json:"_id"`
	Username        string `json:"username"`
	AvatarURL       string `json:"avatarUrl"`
	DefaultLang     string `json:"defaultLang"`
	PublicProfile   bool   `json:"publicProfile"`
	SupporterLength int32  `json:"supporterLength"` // months
	Contributor     bool   `json:"contributor"`
}

// selfView is a profile as its owner sees it.
type selfView struct {
	publicView
	Stars      []string          `json:"stars"`
	ServiceIDs map[string]string `json:"serviceIds"`
}

func newPublicView(u user.User) publicView {
	return publicView{
		ID: string(u.ID), Username: u.Name.String(), AvatarURL: u.AvatarURL, DefaultLang: u.DefaultLanguage,
		PublicProfile: u.PublicProfile, SupporterLength: u.SupporterMonths, Contributor: u.Contributor,
	}
}

func newSelfView(account user.Account) selfView {
	view := selfView{publicView: newPublicView(account.User), Stars: list(account.Stars), ServiceIDs: account.Services}
	if view.ServiceIDs == nil {
		view.ServiceIDs = map[string]string{}
	}
	return view
}

// emptyString is what the specification has for "yes, the user exists".
var emptyString = []byte(`""`)

func (a *API) userExists(ctx context.Context, c *gin.Context) error {
	if err := a.modules.Users.CheckExists.Do(ctx, c.Param("username")); err != nil {
		return err
	}
	writeJSON(c, emptyString)
	return nil
}

func (a *API) userProfile(ctx context.Context, c *gin.Context) error {
	profile, err := a.modules.Users.ShowProfile.Do(ctx, c.Param("username"))
	if err != nil {
		return err
	}
	return encodeAndWrite(c, newPublicView(profile))
}

func (a *API) self(ctx context.Context, c *gin.Context) error {
	account, err := a.modules.Users.ShowSelf.Do(ctx, viewerOf(c))
	if err != nil {
		return err
	}
	return encodeAndWrite(c, newSelfView(account))
}
