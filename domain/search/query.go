package search

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// Limits of a query.
const (
	MinWord   = 3   // characters of the longest word, unless there is a filter
	MaxLength = 500 // characters
	maxParts  = 16  // words and filters
)

// Query says what to search for. All texts are folded.
type Query struct {
	Words     []string // words and phrases without line ends; each must occur in a title or the code
	Tags      []string // the paste must have all of them; in the form of Texts
	Languages []string // like Tags
	Users     []user.Name
	Mine      bool // only the reader's own pastes
}

var (
	errShort = fault.New(fault.Invalid,
		fmt.Sprintf("Search for a word of at least %d characters, or by tag:, language: or user:.", MinWord))
	errLong = fault.New(fault.Invalid, fmt.Sprintf("A search may have at most %d characters and %d words.",
		MaxLength, maxParts))
	errNoText = fault.New(fault.Invalid, "The search text must be valid UTF-8.")
	errUser   = fault.New(fault.Invalid, "Put a username after user:.")
)

// queryPart matches mine:, or a word or phrase, with another filter before it or without. It spells out the s of user:,
// since (?i) would make it match ſ (U+017F), too.
var queryPart = regexp.MustCompile(
	`(?i)(mine):|(?:(tag|language|u(?-i:[sS])er):)?(?:"([^"]*)"?|([^\s\v\pZ\x{85}"][^\s\v\pZ\x{85}]*))`)

// Parse parses a search: words, "phrases", and the filters tag:, language:, user: and mine:. The first three precede a
// word or a phrase. language returns a language's name as pastes have it, or the text itself. Parse fails with
// fault.Invalid, also when the text is too short.
func Parse(text string, language func(string) string) (Query, error) {
	switch {
	case !utf8.ValidString(text):
		return Query{}, errNoText
	case utf8.RuneCountInString(text) > MaxLength:
		return Query{}, errLong
	}
	var q Query
	enough, parts := false, queryPart.FindAllStringSubmatch(strings.TrimSpace(text), -1)
	for _, part := range parts {
		filter, value := strings.ToLower(part[1]+part[2]), part[3]+part[4]
		if filter != "mine" && value == "" {
			continue
		}
		switch filter {
		case "tag":
			q.Tags = append(q.Tags, between(value))
		case "language":
			q.Languages = append(q.Languages, between(language(value)))
		case "user":
			name, err := user.ParseName(value)
			if err != nil {
				return Query{}, errUser
			}
			q.Users = append(q.Users, name)
		case "mine":
			q.Mine = true
		default:
			q.Words = append(q.Words, foldName(value))
			enough = enough || utf8.RuneCountInString(value) >= MinWord
		}
		enough = enough || filter != ""
	}
	switch {
	case len(parts) > maxParts:
		return Query{}, errLong
	case !enough:
		return Query{}, errShort
	}
	return q, nil
}

// Match reports whether a paste matches, whoever its owner is, and returns its first lines that contain a word. d has
// only the tags that the reader may see.
func (q *Query) Match(d *paste.Document) (lines []Line, ok bool) {
	texts := TextsOf(d)
	if !holdsAll(texts.Text, q.Words) || !holdsAll(texts.Tags, q.Tags) || !holdsAll(texts.Languages, q.Languages) {
		return nil, false
	}
	for i := range d.Pasties {
		number := 0
		for line := range strings.Lines(d.Pasties[i].Code) {
			if number++; len(lines) == MaxLines {
				return lines, true
			}
			folded := Fold(line)
			for _, word := range q.Words {
				if before, _, ok := strings.Cut(folded, word); ok {
					lines = append(lines, Line{i, number, around(line, utf8.RuneCountInString(before))})
					break
				}
			}
		}
	}
	return lines, true
}

func holdsAll(text string, parts []string) bool {
	return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(text, part) })
}

// Lengths of an excerpt of a line, in characters: of all of it, and of the part before the word.
const (
	maxLine   = 160
	maxBefore = 60
)

// around returns the part of a line around the character at that position.
func around(line string, at int) string {
	characters := []rune(strings.TrimRight(line, "\r\n"))
	from := max(0, at-maxBefore)
	if len(characters) <= maxLine {
		from = 0
	}
	to := min(len(characters), from+maxLine)
	excerpt := string(characters[from:to])
	if from > 0 {
		excerpt = "…" + excerpt
	}
	if to < len(characters) {
		excerpt += "…"
	}
	return excerpt
}
