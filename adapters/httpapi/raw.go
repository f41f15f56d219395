package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

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

// isUpload reports whether a request to a path outside the API creates a paste, as POST /raw does. curl -T sends PUT,
// with the file's name as the path. curl -F sends a form to "/", which does not come from a page.
func (a *API) isUpload(r *http.Request) bool {
	name := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch r.Method {
	case http.MethodPut:
		return !strings.Contains(name, "/") && !a.apiSegments[name]
	case http.MethodPost:
		fromPage := r.Header["Origin"] != nil || prefers(r.Header["Accept"], mediaHTML, mediaText)
		return name == "" && isForm(r) && !fromPage
	}
	return false
}

// orUpload returns handlers that create a paste if the request is an upload, and else admit it and call otherwise.
func (a *API) orUpload(admit, otherwise gin.HandlerFunc) gin.HandlersChain {
	create := a.createsFromText()
	return a.chain(func(c *gin.Context) {
		if a.isUpload(c.Request) {
			a.admitCall(c)
		} else {
			admit(c)
		}
	}, func(c *gin.Context) {
		if a.isUpload(c.Request) {
			c.AddParam("id", strings.Trim(c.Request.URL.Path, "/")) // a file's name
			create(c)
		} else {
			otherwise(c)
		}
	})
}

func isForm(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data")
}

func (a *API) createsFromText() gin.HandlerFunc {
	return a.handleBody(authOptional, a.createFromText)
}

// createFromText creates a paste from the body, or from the files in it. It answers with the link, or with the paste if
// the client prefers JSON.
func (a *API) createFromText(ctx context.Context, c *call) (any, error) {
	created, err := a.create(ctx, c, func(body []byte) (paste.Draft, error) { return a.textDraft(c, body) })
	if err != nil || prefers(c.Request.Header["Accept"], mediaJSON, mediaText) {
		return created, err
	}
	return text(a.link(c, created.ID) + "\n"), nil
}

// link returns the URL of a paste, below the public URL or else at the host that the client asked for.
func (a *API) link(c *call, id paste.ID) string {
	site := a.cfg.PublicURL
	if site == "" && c.Request.Host != "" {
		site = c.Request.URL.Scheme + "://" + c.Request.Host
	}
	return site + a.pathOf(id)
}

var errNoText = wire.Invalid("The body is empty. Send the code.")

// textDraft reads a body that is text, or a form with files or one text.
func (a *API) textDraft(c *call, body []byte) (draft paste.Draft, err error) {
	form := wire.Form{Text: string(body)}
	if isForm(c.Request) {
		most := a.modules.Pastes.Create.Limits().Pasties
		if form, err = wire.DecodeForm(c.GetHeader("Content-Type"), body, most); err != nil {
			return draft, err
		}
	}
	setting := func(key string) (string, bool) {
		value, ok := parameter(c, key)
		if !ok {
			value, ok = form.Settings[key]
		}
		return value, ok
	}
	err = cmp.Or(readFlag(setting, "isPrivate", &draft.Private), readFlag(setting, "isPublic", &draft.Public),
		readFlag(setting, "burn", &draft.Burns))
	if err != nil {
		return draft, err
	}
	if lifetime, ok := setting("expiresIn"); ok {
		draft.Lifetime = &lifetime
	}
	if tags, ok := setting("tags"); ok {
		draft.Tags = []string{tags}
	}
	title, _ := setting("title")
	language := a.languageParameter(c.Request.URL.RawQuery)
	if value, ok := form.Settings["language"]; ok && language == nil {
		language = &value
	}
	if len(form.Files) == 0 {
		if form.Text == "" {
			return draft, errNoText
		}
		draft.Pasties = []paste.PastyDraft{{
			Title: cmp.Or(title, c.Param("id")), Language: language, Default: c.viewer.User.DefaultLanguage,
			Code: &form.Text, Alone: true,
		}}
	} else {
		draft.Title = title
	}
	for i := range form.Files {
		file := &form.Files[i]
		draft.Pasties = append(draft.Pasties, paste.PastyDraft{
			Title: file.Name, Language: language, Code: &file.Text, Label: "file " + strconv.Itoa(i+1),
		})
	}
	return draft, nil
}

// parameter returns the first value of a query parameter, and whether there is one.
func parameter(c *call, key string) (string, bool) {
	raw, ok := wire.RawParameter(c.Request.URL.RawQuery, key)
	return wire.Unescape(raw, true), ok
}

// languageParameter returns the language in a query, in the reading that names one (see wire.Readings), or nil.
func (a *API) languageParameter(query string) *string {
	readings := wire.Readings(query, "language")
	if len(readings) == 0 {
		return nil
	}
	name := readings[0]
	if lang, err := a.modules.Languages.FindByName.Do(readings...); err == nil {
		name = lang.Name
	}
	return &name
}

// readFlag reads a setting that is true or false. It refuses an empty value, which might mean true.
func readFlag(setting func(key string) (string, bool), key string, on *bool) error {
	value, ok := setting(key)
	*on = strings.EqualFold(value, "true")
	if ok && !*on && !strings.EqualFold(value, "false") {
		return wire.Invalid("%s: it must be true or false.", key)
	}
	return nil
}
