// Package view encodes users and pastes as JSON, as the v2 API has them.
package view

import "github.com/gluepot/gluepot/domain/user"

// Public is a profile as anyone sees it. The specification fixes the fields; strict clients fail on others.
type Public struct {
	ID              string `json:"_id"`
	Username        string `json:"username"`
	AvatarURL       string `json:"avatarUrl"`
	DefaultLang     string `json:"defaultLang"`
	PublicProfile   bool   `json:"publicProfile"`
	SupporterLength int32  `json:"supporterLength"` // months
	Contributor     bool   `json:"contributor"`
}

// Self is a profile as its owner sees it.
type Self struct {
	Public

	Stars      []string          `json:"stars"`
	ServiceIDs map[string]string `json:"serviceIds"`
}

// PublicOf returns the profile of a user.
func PublicOf(u user.User) Public {
	return Public{
		ID: string(u.ID), Username: u.Name.String(), AvatarURL: u.AvatarURL, DefaultLang: u.DefaultLanguage,
		PublicProfile: u.PublicProfile, SupporterLength: u.SupporterMonths, Contributor: u.Contributor,
	}
}

// SelfOf returns the profile of an account.
func SelfOf(account user.Account) Self {
	view := Self{Public: PublicOf(account.User), Stars: list(account.Stars), ServiceIDs: account.Identities}
	if view.ServiceIDs == nil {
		view.ServiceIDs = map[string]string{}
	}
	return view
}
