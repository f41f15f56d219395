package search_test

import (
	"testing"

	"github.com/gluepot/gluepot/domain/search"
)

func TestParts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, query, want string }{
		"nothing":      {"main", "tag:go", "main"},
		"case":         {"func MAIN() { main() }", "main", "func [MAIN]() { [main]() }"},
		"phrase":       {"a return 0; b", `"return 0"`, "a [return 0]; b"},
		"overlap":      {"abcd", "abc bcd", "[abcd]"},
		"twice":        {"aaaa", "aaa", "[aaaa]"},
		"other length": {"\u212aelvin, \u1e9ee", "kelvin", "[\u212aelvin], \u1e9ee"}, // the Kelvin sign is longer than k
		"whole":        {"main", "main", "[main]"},
		"longer":       {"mai", "main", "mai"},
		"empty":        {"", "main", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			query, err := search.Parse(c.query, func(name string) string { return name })
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for part, matches := range search.Parts(c.text, query.Words) {
				if matches {
					part = "[" + part + "]"
				}
				got += part
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
