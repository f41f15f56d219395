package httpapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/domain/paste"
)

var textContentType = []string{"text/plain; charset=utf-8"}

func (a *API) readText(ctx context.Context, c *gin.Context) error {
	secret := personal(c)
	pasty, rejected, err := a.modules.Pastes.ReadRaw.Do(ctx, secret, c.Param("id"), c.Param("pastyId"))
	a.limits.noteRejected(c, rejected)
	if err != nil {
		return err
	}
	answer := a.newLongAnswer(c.Request.Method == http.MethodHead)
	defer answer.release()
	answer.tagged = secret == ""
	for code := pasty.Code; code != "" && err == nil; {
		piece := code[:min(len(code), pieceLength)]
		code = code[len(piece):]
		answer.text.WriteString(piece)
		err = answer.spill()
	}
	if err != nil {
		return err
	}
	c.Writer.Header()["Content-Security-Policy"] = sandboxed
	return answer.sendUnlessKnown(c, textContentType)
}

var errNoText = invalid("The body is empty. Send the code.")

func (a *API) createFromText(ctx context.Context, c *gin.Context, sent *body) (*longAnswer, error) {
	secret := presentedToken(c)
	draft, err := a.textDraft(c.Request.URL.RawQuery, sent)
	if err != nil {
		return nil, a.modules.Pastes.CreateOwn.Refuse(ctx, secret, err)
	}
	return a.create(ctx, c, draft)
}

// textDraft reads a paste to create whose only code is the body.
func (a *API) textDraft(query string, sent *body) (draft paste.Draft, err error) {
	if sent.size == 0 {
		return draft, errNoText
	}
	if draft.Private, err = switchedOn(query, "isPrivate"); err != nil {
		return draft, err
	}
	if draft.Public, err = switchedOn(query, "isPublic"); err != nil {
		return draft, err
	}
	draft.Lifetime = parameter(query, "expiresIn")
	if tags := parameter(query, "tags"); tags != nil {
		draft.Tags = []string{*tags}
	}
	code, err := sent.text()
	if err != nil {
		return draft, err
	}
	draft.Pasties = []paste.PastyDraft{
		{Title: value(parameter(query, "title")), Language: a.languageParameter(query), Code: &code, Alone: true},
	}
	return draft, nil
}

// parameter returns the first parameter with that key, or nil.
func parameter(query, key string) *string {
	raw, ok := rawParameter(query, key)
	if !ok {
		return nil
	}
	text := unescape(raw, true)
	return &text
}

// languageParameter returns the reading of the parameter that names a language, as "C++" may be meant in several ways.
func (a *API) languageParameter(query string) *string {
	var readings readings
	readings.parse(query, "language")
	if len(readings.all()) == 0 {
		return nil
	}
	name := readings.all()[0]
	if found, err := a.modules.Languages.FindByName.Do(readings.all()...); err == nil {
		name = found.Name
	}
	return &name
}

func switchedOn(query, key string) (bool, error) {
	text := value(parameter(query, key))
	switch strings.ToLower(text) {
	case "true":
		return true, nil
	case "", "false":
		return false, nil
	}
	return false, invalid("%s: it must be true or false.", key)
}
