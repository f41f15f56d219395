package httpapi

import (
	"cmp"
	"context"
	"strings"

	"github.com/gluepot/gluepot/adapters/httpapi/wire"
	"github.com/gluepot/gluepot/domain/paste"
)

func (a *API) readText(ctx context.Context, c *call) (any, error) {
	pasty, err := a.modules.Pastes.Read.Raw(ctx, c.viewer, c.Param("id"), c.Param("pastyId"), c.Param("editId"))
	if err != nil {
		return nil, err
	}
	c.Header("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
	return text(pasty.Code), nil
}

var (
	errNoText = wire.Invalid("The body is empty. Send the code.")
	errForm   = wire.Invalid("The body is a form. Send the code itself, as curl --data-binary @FILE does.")
)

// createFromText creates a paste with the body as its only pasty. It answers with the link, or with the paste if the client prefers JSON.
func (a *API) createFromText(ctx context.Context, c *call) (any, error) {
	if strings.HasPrefix(c.GetHeader("Content-Type"), "multipart/form-data") {
		return nil, errForm
	}
	made, err := a.create(ctx, c, func(code []byte) (paste.Draft, error) { return a.textDraft(c, string(code)) })
	if err != nil || prefers(c.Request.Header["Accept"], mediaJSON, mediaText) {
		return made, err
	}
	site := a.cfg.PublicURL
	if site == "" && c.Request.Host != "" {
		site = c.Request.URL.Scheme + "://" + c.Request.Host
	}
	return text(site + a.pathOf(made.ID) + "\n"), nil
}

func (a *API) textDraft(c *call, code string) (draft paste.Draft, err error) {
	if code == "" {
		return draft, errNoText
	}
	err = cmp.Or(
		readFlag(c, "isPrivate", &draft.Private), readFlag(c, "isPublic", &draft.Public), readFlag(c, "burn", &draft.Burns))
	if err != nil {
		return draft, err
	}
	if lifetime, ok := parameter(c, "expiresIn"); ok {
		draft.Lifetime = &lifetime
	}
	if tags, ok := parameter(c, "tags"); ok {
		draft.Tags = []string{tags}
	}
	title, _ := parameter(c, "title")
	draft.Pasties = []paste.PastyDraft{{
		Title: title, Language: a.languageParameter(c.Request.URL.RawQuery), Default: c.viewer.User.DefaultLanguage, Code: &code, Alone: true,
	}}
	return draft, nil
}

// parameter returns the first value of a parameter, and whether there is one.
func parameter(c *call, key string) (string, bool) {
	raw, ok := wire.RawParameter(c.Request.URL.RawQuery, key)
	return wire.Unescape(raw, true), ok
}

// languageParameter returns the reading of the parameter that is a language's name: see wire.Readings.
func (a *API) languageParameter(query string) *string {
	readings := wire.Readings(query, "language")
	if len(readings) == 0 {
		return nil
	}
	name := readings[0]
	if found, err := a.modules.Languages.FindByName.Do(readings...); err == nil {
		name = found.Name
	}
	return &name
}

// readFlag reads a parameter that is true or false. It refuses an empty value, which may be meant as true.
func readFlag(c *call, key string, on *bool) error {
	value, ok := parameter(c, key)
	*on = strings.EqualFold(value, "true")
	if ok && !*on && !strings.EqualFold(value, "false") {
		return wire.Invalid("%s: it must be true or false.", key)
	}
	return nil
}
