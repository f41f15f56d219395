package paste

import (
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
		{[]string{numbered(100), numbered(50)}, strings.Split(numbered(100), ",")},
	} {
		slices.Sort(c.want)
		if got, err := ParseTags(c.texts...); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%.100q: got %q, %v, want %q", c.texts, got, err, c.want)
		}
	}
	for _, texts := range [][]string{{numbered(101)}, {"x", long + "ä"}, {"\xff"}} {
		_, err := ParseTags(texts...)
		wantFault(t, texts[0], err, fault.Invalid, "tags")
	}
}
