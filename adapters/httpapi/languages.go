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

// encodeLanguages returns the answer for each language of the catalogue, by name.
func encodeLanguages(catalogue []*language.Language) map[string]*fixedAnswer {
	answers := make(map[string]*fixedAnswer, len(catalogue))
	for _, l := range catalogue {
		answers[l.Name] = newFixedAnswer(jsonContentType, encodeJSON(languageView{
			Name: l.Name, Mode: l.Mode, Mimes: append([]string{}, l.MIMETypes...), Ext: append([]string{}, l.Extensions...),
			Color: l.Color,
		}))
		answers[l.Name].header["Cache-Control"] = languageCacheControl
	}
	return answers
}

// language makes the handler that answers with the language that a parameter names.
func (a *API) language(key string, find func(readings ...string) (*language.Language, error)) gin.HandlerFunc {
	return func(c *gin.Context) {
		lang, err := find(wire.Readings(c.Request.URL.RawQuery, key)...)
		if err != nil {
			a.fail(c, err)
			return
		}
		a.languages[lang.Name].send(c)
	}
}
