package wire

import (
	"strings"
	"testing"
)

func TestReadings(t *testing.T) {
	t.Parallel()
	for query, want := range map[string][]string{
		"":                    {},
		"other=x":             {},
		"name":                {""},
		"name=":               {""},
		"name=Go":             {"Go"},
		"x=1&name=Go&name=C":  {"Go"},
		"na%6De=Go":           {"Go"},
		"name=C%2B%2B":        {"C++"},
		"name=C++":            {"C  ", "C++"},
		"name=C%252B%252B":    {"C%2B%2B", "C++"},
		"name=a+b%20c":        {"a b c", "a+b c"},
		"name=%u6F22":         {"漢"},
		"name=%uD83D%uDE00":   {"\ufffd\ufffd"},
		"name=%uD83Dx":        {"\ufffdx"},
		"name=%":              {"%"},
		"name=%zz;%u12":       {"%zz;%u12"},
		"name=%25%32%42":      {"%2B", "+"},
		"name=1%2B1%3D2&name": {"1+1=2"},

		"name=" + strings.Repeat("%2B", 400): {strings.Repeat("+", 400)},
	} {
		if got := Readings(query, "name"); strings.Join(got, "\x00") != strings.Join(want, "\x00") || len(got) != len(want) {
			t.Errorf("%q: got %q, want %q", query, got, want)
		}
	}
}

func FuzzReadings(f *testing.F) {
	for _, seed := range []string{"name=C++", "name=%u6F22", "name=%uD83D%uDE00", "%", "name=%25%", "name=%u",
		"a&&=&name=%2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		for _, value := range Readings(query, "name") {
			if len(value) > len(query) {
				t.Errorf("%q: got %q, want nothing longer than the query", query, value)
			}
		}
	})
}
