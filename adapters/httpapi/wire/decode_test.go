package wire

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/domain/fault"
)

// TestDecode decodes unusual and invalid JSON.
func TestDecode(t *testing.T) {
	t.Parallel()
	const notJSON = "The body must be a single JSON object in UTF-8."
	for body, want := range map[string]struct{ title, problem string }{
		`{"title":"a"}`:                   {title: "a"},
		"\ufeff {\"title\":\"a\"} \n":     {title: "a"},
		`{"title":"b","title":"a"}`:       {title: "a"},
		`{"title":"a","title":null}`:      {},
		`{"title":"a","TITLE":1}`:         {title: "a"},
		`{"\u0074itle":"a"}`:              {title: "a"},
		`{"title":"\ud800x\ud83d\ude00"}`: {title: "\ufffdx😀"},
		`{"title":"\u0000"}`:              {title: "\x00"},
		`{"other":{"title":[1e999]}}`:     {},
		"{\"title\":\"\xff\"}":            {problem: notJSON},
		"{\"\xff\":1}":                    {problem: notJSON},
		"\ufeff\ufeff{}":                  {problem: notJSON},
		``:                                {problem: notJSON},
		`null`:                            {problem: notJSON},
		`[{}]`:                            {problem: notJSON},
		`{} {}`:                           {problem: notJSON},
		`{"title":"a"}x`:                  {problem: notJSON},
		`{"title":"a",}`:                  {problem: notJSON},
		`{"title":1,"other":`:             {problem: notJSON},
		`{"pasties" 0}`:                   {problem: notJSON},
		`{"title":1}`:                     {problem: "title: it must be a string."},
		`{"isPrivate":"true"}`:            {problem: "isPrivate: it must be true or false."},
		`{"expiresIn":{}}`:                {problem: "expiresIn: it must be a string."},
		`{"pasties":{}}`:                  {problem: "pasties: it must be an array."},
		`{"pasties":[{},null]}`:           {problem: "pasties[1]: it must be an object."},
		`{"pasties":[{},{"code":1}]}`:     {problem: "pasties[1].code: it must be a string."},
	} {
		draft, err := DecodeDraft([]byte(body))
		matches := err != nil && fault.MessageOf(err) == want.problem
		if draft.Title != want.title || matches != (want.problem != "") || err != nil && !matches {
			t.Errorf("%q: got the title %q and %v, want %q and %q", body, draft.Title, err, want.title, want.problem)
		}
	}
}

// TestLastValue checks that the last of two arrays counts, without leftovers of the first.
func TestLastValue(t *testing.T) {
	t.Parallel()
	const body = `{"tags":["a"],"pasties":[{"_id":"1","title":"a"},{}],"pasties":[{"code":"b"}],"tags":"b"}`
	changes, err := DecodeChanges([]byte(body))
	if err != nil || len(changes.Pasties) != 1 || changes.Pasties[0].ID != "" || changes.Pasties[0].Title != nil ||
		changes.Pasties[0].Code == nil || !slices.Equal(changes.Tags, []string{"b"}) {
		t.Errorf("got %+v, %v, want the last values", changes, err)
	}
}

func TestDecodeEncrypted(t *testing.T) {
	t.Parallel()
	const others = "An encrypted paste may have only the fields version, cipher, salt, expiresIn, isPrivate and burn."
	for body, want := range map[string]string{
		`{"version":1,"cipher":"AAAA","salt":"AAAA"}`: "",
		`{"version":1,"title":"t"}`:                   others,
		`{"version":1.5}`:                             "version: it must be a whole number up to 32767.",
		`{"version":32768}`:                           "version: it must be a whole number up to 32767.",
		`{"version":1,"cipher":"AA=="}`:               "cipher: it must be base64url without padding.",
		`{"version":1,"cipher":"AA","salt":"+"}`:      "salt: it must be base64url without padding.",
	} {
		_, err := DecodeEncrypted([]byte(body))
		if (err == nil) != (want == "") || err != nil && fault.MessageOf(err) != want {
			t.Errorf("%s: got %v, want %q", body, err, want)
		}
	}
}

func TestTags(t *testing.T) {
	t.Parallel()
	const wrongType = "tags: it must be a string or an array of strings."
	for tags, want := range map[string]struct {
		tags    []string
		problem string
	}{
		`null`:             {},
		`[]`:               {tags: []string{}},
		`"a,b"`:            {tags: []string{"a,b"}},
		`["a", "b,c"]`:     {tags: []string{"a", "b,c"}},
		`"` + commas + `"`: {tags: []string{commas}},
		`1e999`:            {problem: wrongType},
		`[1e999]`:          {problem: wrongType},
		`[null]`:           {problem: wrongType},
		`[["a"]]`:          {problem: wrongType},
		`{"":"a"}`:         {problem: wrongType},
		`[""` + strings.Repeat(`,""`, MaxParts) + `]`: {problem: "tags: there may be at most 65536."},
	} {
		draft, err := DecodeDraft([]byte(`{"tags":` + tags + `,"pasties":[{"code":""}]}`))
		if message := fault.MessageOf(err); err != nil && message != want.problem || err == nil && want.problem != "" {
			t.Errorf("%.40s: got %v, want %q", tags, err, want.problem)
		}
		if err == nil && !slices.Equal(draft.Tags, want.tags) {
			t.Errorf("%.40s: got %.40q, want %.40q", tags, draft.Tags, want.tags)
		}
	}
}

var commas = strings.Repeat(",", MaxParts+1)

// TestNestedTags checks that nested values are not built in memory: they would take seventy times their text.
func TestNestedTags(t *testing.T) { // not parallel: it counts allocations
	const levels = 5000
	nested := strings.Repeat(`{"":`, levels) + `""` + strings.Repeat("}", levels)
	body := []byte(`{"tags":[` + nested + strings.Repeat(","+nested, 50) + `]}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := DecodeDraft(body)
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; err == nil || allocated > 6*uint64(len(body)) {
		t.Errorf("got %d bytes for %d, error %v, want at most six times as many and an error", allocated, len(body), err)
	}
}
