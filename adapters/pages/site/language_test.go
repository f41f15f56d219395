package site_test

import (
	"strings"
	"testing"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/tests/visit"
)

func TestLanguagesOfAForm(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	page := s.Page("/")
	common, others, ok := strings.Cut(page, `<option>YAML<`)
	if !ok || !strings.Contains(common, `<datalist id="languages"><option>C<option>C#<`) ||
		strings.Contains(others, `<option>Go<`) || !strings.Contains(others, `option>ABAP<`) {
		t.Errorf("got %s, want the common languages first, and none twice", page)
	}
	for _, name := range site.CommonLanguages {
		if match, err := s.Modules.Languages.FindByName.Do(name); err != nil || match.Name != name {
			t.Errorf("got %v, %v, want the language %s of the catalogue", match, err, name)
		}
	}
}
