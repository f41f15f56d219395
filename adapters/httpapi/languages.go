package httpapi

import (
	"fmt"

	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/adapters/httpapi/wire"
	"github.com/gluepot/gluepot/domain/language"
)

// languageView is a language in JSON. The order of the fields is that of the specification.
type languageView struct {
	Name  string   `json:"name"`
	Mode  string   `json:"mode"`
	Mimes []string `json:"mimes"`
	Ext   []string `json:"ext"` // always present: strict clients fail on its absence
	Color string   `json:"color,omitempty"`
}

// languageAnswer is an encoded language and its ETag, made once.
type languageAnswer struct {
	body []byte
	etag []string
}

// languageAnswers are the encoded languages of the catalogue. A port may also return others.
type languageAnswers map[*language.Language]*languageAnswer

func encodeLanguages(catalogue []*language.Language) (languageAnswers, error) {
	answers := make(languageAnswers, len(catalogue))
	for _, l := range catalogue {
		answer, err := encodeLanguage(l)
		if err != nil {
			return nil, err
		}
		answers[l] = answer
	}
	return answers, nil
}

func encodeLanguage(l *language.Language) (*languageAnswer, error) {
	view := languageView{
		Name: l.Name, Mode: l.Mode, Mimes: append([]string{}, l.MIMETypes...), Ext: append([]string{}, l.Extensions...), Color: l.Color,
	}
	body, err := encodeJSON(view)
	if err != nil {
		return nil, fmt.Errorf("encode the language %s: %w", l.Name, err)
	}
	return &languageAnswer{body: body, etag: []string{etagOf(body)}}, nil
}

func (a *API) languageByName(c *gin.Context) {
	var readings wire.Readings
	readings.Parse(c.Request.URL.RawQuery, "name")
	found, err := a.modules.Languages.FindByName.Do(readings.All()...)
	a.answerLanguage(c, found, err)
}

func (a *API) languageByExtension(c *gin.Context) {
	var readings wire.Readings
	readings.Parse(c.Request.URL.RawQuery, "extension")
	found, err := a.modules.Languages.FindByExtension.Do(readings.All()...)
	a.answerLanguage(c, found, err)
}

func (a *API) answerLanguage(c *gin.Context, found *language.Language, err error) {
	if err != nil {
		a.fail(c, err)
		return
	}
	answer := a.languages[found]
	if answer == nil {
		if answer, err = encodeLanguage(found); err != nil { // strings: cannot fail
			a.fail(c, err)
			return
		}
	}
	header := c.Writer.Header()
	header["Cache-Control"] = languageCacheControl
	header["Vary"] = varyOrigin // CORS headers depend on Origin
	writeUnlessKnown(c, jsonContentType, answer.etag, answer.body)
}
