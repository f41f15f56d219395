package httpapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/adapters/httpapi/wire"
	"github.com/gluepot/gluepot/domain/paste"
)

var textContentType = []string{"text/plain; charset=utf-8"}

func (a *API) readText(ctx context.Context, c *call) error {
	pasty, err := a.modules.Pastes.Read.Raw(ctx, c.viewer, c.Param("id"), c.Param("pastyId"), c.Param("editId"))
	if err != nil {
		return err
	}
	held := a.claim(c.Request)
	defer held.Release()
	if err := held.Resize(min(int64(len(pasty.Code)), a.memory.Share())); err != nil {
		return err
	}
	c.Header("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
	etag := etagOf(c.secret == "", xxhash.Sum64String(pasty.Code))
	if begin(c.Context, http.StatusOK, textContentType, etag, int64(len(pasty.Code))) {
		_, _ = c.Writer.WriteString(pasty.Code) // a client that has gone cannot be told
	}
	return nil
}

var (
	errNoText = wire.Invalid("The body is empty. Send the code.")
	errForm   = wire.Invalid("The body is a form. Send the code itself, as curl --data-binary @FILE does.")
)

// createFromText creates a paste with the body as its only pasty. It answers with the link, or with the paste if the client prefers JSON.
func (a *API) createFromText(ctx context.Context, c *call) error {
	if strings.HasPrefix(c.GetHeader("Content-Type"), "multipart/form-data") {
		return errForm
	}
	made, err := a.create(ctx, c, func(code []byte) (paste.Draft, error) { return a.textDraft(c, string(code)) })
	if err != nil {
		return err
	}
	if prefers(c.Request.Header["Accept"], mediaJSON, mediaText) {
		return a.sendPaste(c, &made, false, true)
	}
	site := a.publicURL
	if site == "" && c.Request.Host != "" {
		site = c.Request.URL.Scheme + "://" + c.Request.Host
	}
	sendBody(c.Context, http.StatusOK, textContentType, nil, []byte(site+a.pathOf(made.ID)+"\n"))
	return nil
}

func (a *API) textDraft(c *call, code string) (draft paste.Draft, err error) {
	if code == "" {
		return draft, errNoText
	}
	if draft.Private, err = switchedOn(c.Context, "isPrivate"); err != nil {
		return draft, err
	}
	if draft.Public, err = switchedOn(c.Context, "isPublic"); err != nil {
		return draft, err
	}
	if draft.Burns, err = switchedOn(c.Context, "burn"); err != nil {
		return draft, err
	}
	if lifetime, ok := parameter(c.Context, "expiresIn"); ok {
		draft.Lifetime = &lifetime
	}
	if tags, ok := parameter(c.Context, "tags"); ok {
		draft.Tags = []string{tags}
	}
	title, _ := parameter(c.Context, "title")
	draft.Pasties = []paste.PastyDraft{{
		Title: title, Language: a.languageParameter(c.Request.URL.RawQuery), Default: c.viewer.User.DefaultLanguage, Code: &code, Alone: true,
	}}
	return draft, nil
}

// parameter returns the first value of a parameter, and whether there is one.
func parameter(c *gin.Context, key string) (string, bool) {
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

// switchedOn reads a flag. It refuses an empty value, which may be meant as true.
func switchedOn(c *gin.Context, key string) (bool, error) {
	text, ok := parameter(c, key)
	switch {
	case !ok || strings.EqualFold(text, "false"):
		return false, nil
	case strings.EqualFold(text, "true"):
		return true, nil
	}
	return false, wire.Invalid("%s: it must be true or false.", key)
}

// pathOf returns the path of a paste's page, or of its endpoint if there are no pages.
func (a *API) pathOf(id paste.ID) string {
	if a.pages == nil {
		return a.basePath + "/paste/" + string(id)
	}
	return "/" + string(id)
}
