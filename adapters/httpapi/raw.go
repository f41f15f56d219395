package httpapi

import (
	"context"
	"io"
	"strings"

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
	c.Writer.Header()["Content-Security-Policy"] = sandboxed
	return sendStream(c.Context, textContentType, c.secret == "", func(to io.Writer) error {
		_, err := io.WriteString(to, pasty.Code)
		return err
	})
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
	made, err := a.create(ctx, c, func() (paste.Draft, error) { return a.textDraft(c) })
	if err != nil {
		return err
	}
	if prefers(c.Request.Header["Accept"], mediaJSON, mediaText) {
		return a.sendPaste(c, &made, false, true)
	}
	site := a.publicURL
	if _, proxied := a.proxies.client(c.Request); site == "" && c.Request.Host != "" {
		asked := a.asked(c.Request, proxied)
		site = asked.URL.Scheme + "://" + asked.Host
	}
	sendBody(c.Context, textContentType, nil, []byte(site+a.pathOf(made.ID)+"\n"))
	return nil
}

func (a *API) textDraft(c *call) (draft paste.Draft, err error) {
	query := c.Request.URL.RawQuery
	if c.body.length == 0 {
		return draft, errNoText
	}
	if draft.Private, err = switchedOn(query, "isPrivate"); err != nil {
		return draft, err
	}
	if draft.Public, err = switchedOn(query, "isPublic"); err != nil {
		return draft, err
	}
	if draft.Burns, err = switchedOn(query, "burn"); err != nil {
		return draft, err
	}
	draft.Lifetime = parameter(query, "expiresIn")
	if tags := parameter(query, "tags"); tags != nil {
		draft.Tags = []string{*tags}
	}
	code := string(c.body.join())
	draft.Pasties = []paste.PastyDraft{{
		Title: wire.Value(parameter(query, "title")), Language: a.languageParameter(query), Default: c.viewer.User.DefaultLanguage,
		Code: &code, Alone: true,
	}}
	return draft, nil
}

// parameter returns the first value of a parameter, or nil.
func parameter(query, key string) *string {
	raw, ok := wire.RawParameter(query, key)
	if !ok {
		return nil
	}
	text := wire.Unescape(raw, true)
	return &text
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
func switchedOn(query, key string) (bool, error) {
	text := parameter(query, key)
	switch {
	case text == nil || strings.EqualFold(*text, "false"):
		return false, nil
	case strings.EqualFold(*text, "true"):
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
