package httpapi

import (
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

// encodeLanguages returns the answers for the languages of the catalogue, by name.
func encodeLanguages(catalogue []*language.Language) map[string]*fixedAnswer {
	answers := make(map[string]*fixedAnswer, len(catalogue))
	for _, l := range catalogue {
		answers[l.Name] = newFixedAnswer(jsonContentType, encodeJSON(languageView{
			Name: l.Name, Mode: l.Mode, Mimes: append([]string{}, l.MIMETypes...), Ext: append([]string{}, l.Extensions...), Color: l.Color,
		}))
		answers[l.Name].header["Cache-Control"] = languageCacheControl
	}
	return answers
}

func (a *API) languageByName(c *gin.Context) {
	found, err := a.modules.Languages.FindByName.Do(wire.Readings(c.Request.URL.RawQuery, "name")...)
	a.answerLanguage(c, found, err)
}

func (a *API) languageByExtension(c *gin.Context) {
	found, err := a.modules.Languages.FindByExtension.Do(wire.Readings(c.Request.URL.RawQuery, "extension")...)
	a.answerLanguage(c, found, err)
}

func (a *API) answerLanguage(c *gin.Context, found *language.Language, err error) {
	if err != nil {
		a.fail(c, err)
		return
	}
	a.languages[found.Name].send(c)
}
