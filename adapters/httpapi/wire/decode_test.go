package wire

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/domain/fault"
)

func TestTags(t *testing.T) {
	t.Parallel()
	const wrongType = "tags: it must be a string or an array of strings."
	for tags, want := range map[string]struct {
		read  []string
		wrong string
	}{
		`null`:             {},
		`[]`:               {read: []string{}},
		`"a,b"`:            {read: []string{"a,b"}},
		`["a", "b,c"]`:     {read: []string{"a", "b,c"}},
		`"` + commas + `"`: {read: []string{commas}},
		`1e999`:            {wrong: wrongType},
		`[1e999]`:          {wrong: wrongType},
		`[null]`:           {wrong: wrongType},
		`[["a"]]`:          {wrong: wrongType},
		`{"":"a"}`:         {wrong: wrongType},
		`[""` + strings.Repeat(`,""`, MaxParts) + `]`: {wrong: "tags: there are more than 65536."},
	} {
		draft, err := DecodeDraft([]byte(`{"tags":` + tags + `,"pasties":[{"code":""}]}`))
		if message := fault.MessageOf(err); err != nil && message != want.wrong || err == nil && want.wrong != "" {
			t.Errorf("%.40s: got %v, want %q", tags, err, want.wrong)
		}
		if err == nil && !slices.Equal(draft.Tags, want.read) {
			t.Errorf("%.40s: got %.40q, want %.40q", tags, draft.Tags, want.read)
		}
	}
}

var commas = strings.Repeat(",", MaxParts+1)

// TestNestedTags wants no tree of what is no tag: it would take seventy times its text.
func TestNestedTags(t *testing.T) { // alone, for it counts what is allocated
	const levels = 5000
	nested := strings.Repeat(`{"":`, levels) + `""` + strings.Repeat("}", levels)
	body := []byte(`{"tags":[` + nested + strings.Repeat(","+nested, 50) + `]}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := DecodeDraft(body)
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; err == nil || took > 6*uint64(len(body)) {
		t.Errorf("got %d bytes for %d, error %v, want at most six times as many and an error", took, len(body), err)
	}
}
