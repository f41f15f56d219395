package paste

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/domain/fault"
)

func TestParseTags(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 100)
	for _, c := range []struct{ texts, want []string }{
		{nil, nil},
		{[]string{""}, nil},
		{[]string{" ", ",", " , "}, nil},
		{[]string{"b,a"}, []string{"a", "b"}},
		{[]string{"b", "a,b", " a\t"}, []string{"a", "b"}},
		{[]string{"b", "B", "ä", "a b"}, []string{"B", "a b", "b", "ä"}},
		{[]string{long}, []string{long}},
		{[]string{numberedTags(100), numberedTags(50)}, strings.Split(numberedTags(100), ",")},
	} {
		slices.Sort(c.want)
		if got, err := ParseTags(c.texts...); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%.100q: got %q, %v, want %q", c.texts, got, err, c.want)
		}
	}
	for _, texts := range [][]string{{numberedTags(101)}, {"x", long + "ä"}, {"\xff"}} {
		_, err := ParseTags(texts...)
		wantFault(t, texts[0], err, fault.Invalid, "tags")
	}
}

// TestTooManyTags checks that tags beyond the limit take no memory. It has as many as fit into a request.
func TestTooManyTags(t *testing.T) { //nolint:paralleltest // it looks at what the process allocates
	tags, document := []string{numberedTags(300_000)}, Document{Content: Content{Tags: []string{"a", "b"}}}
	for what, refuse := range map[string]func() error{
		"parsed":              func() error { _, err := ParseTags(tags...); return err },
		"of a new paste":      func() error { _, err := testRules().Create(Draft{Tags: tags}, true, created); return err },
		"of an anonymous one": func() error { _, err := testRules().Create(Draft{Tags: tags}, false, created); return err },
		"of an edit":          func() error { _, err := testRules().Edit(document, Changes{Tags: tags}, edited); return err },
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := refuse()
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; err == nil || got > 128<<10 {
			t.Errorf("%s: got %d bytes allocated, error %v, want at most 128 KiB, and an error", what, got, err)
		}
	}
}
