package httpapi

import (
	"fmt"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/domain/language"
)

// languageView is a language as the specification has it, in the fields' order.
type languageView struct {
	Name  string   `json:"name"`
	Mode  string   `json:"mode"`
	Mimes []string `json:"mimes"`
	Ext   []string `json:"ext"` // always present: strict clients fail on its absence
	Color string   `json:"color,omitempty"`
}

// languageAnswer is an encoded language and its header values, made once: encoding and hashing them for each request would
// cost half as much again as all else that the interface does, a tenth of the request with net/http and the network.
type languageAnswer struct {
	of   language.Language
	body []byte
	etag []string
}

func encodeLanguages(catalogue []*language.Language) (map[string]*languageAnswer, error) {
	answers := make(map[string]*languageAnswer, len(catalogue))
	for _, l := range catalogue {
		answer, err := encodeLanguage(l)
		if err != nil {
			return nil, err
		}
		answers[l.Name] = answer
	}
	return answers, nil
}

func encodeLanguage(l *language.Language) (*languageAnswer, error) {
	view := languageView{Name: l.Name, Mode: l.Mode, Mimes: l.MIMETypes, Ext: l.Extensions, Color: l.Color}
	if view.Mimes == nil {
		view.Mimes = []string{}
	}
	if view.Ext == nil {
		view.Ext = []string{}
	}
	body, err := encodeJSON(view)
	if err != nil {
		return nil, fmt.Errorf("encode the language %s: %w", l.Name, err)
	}
	answer := &languageAnswer{of: *l, body: body, etag: []string{etagOf(body)}}
	answer.of.MIMETypes, answer.of.Extensions = slices.Clone(l.MIMETypes), slices.Clone(l.Extensions)
	return answer, nil
}

// suits reports whether l is what was encoded: a port may return copies, or another version than the catalogue has.
func (a *languageAnswer) suits(l *language.Language) bool {
	return a.of.Mode == l.Mode && a.of.Color == l.Color &&
		slices.Equal(a.of.MIMETypes, l.MIMETypes) && slices.Equal(a.of.Extensions, l.Extensions)
}

func (a *API) languageByName(c *gin.Context) {
	var readings readings
	readings.parse(c.Request.URL.RawQuery, "name")
	found, err := a.modules.Languages.FindByName.Do(readings.all()...)
	a.answerLanguage(c, found, err)
}

func (a *API) languageByExtension(c *gin.Context) {
	var readings readings
	readings.parse(c.Request.URL.RawQuery, "extension")
	found, err := a.modules.Languages.FindByExtension.Do(readings.all()...)
	a.answerLanguage(c, found, err)
}

func (a *API) answerLanguage(c *gin.Context, found *language.Language, err error) {
	if err != nil {
		a.fail(c, err)
		return
	}
	answer := a.languages[found.Name]
	if answer == nil || !answer.suits(found) {
		if answer, err = encodeLanguage(found); err != nil { // strings: cannot fail
			a.fail(c, err)
			return
		}
	}
	header := c.Writer.Header()
	header["Cache-Control"] = languageCacheControl
	header["Vary"] = varyOrigin // a cache would hand a page what it has kept of a request without Origin
	writeUnlessKnown(c, jsonContentType, answer.etag, answer.body)
}
