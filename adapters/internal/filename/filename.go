// Package filename makes file names from the titles that people give to snippets.
package filename

import (
	"path"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxLength is the length of a file's name in bytes: less than systems allow, for what Unique adds.
const maxLength = 200

// Safe returns a title as the name of a file in one folder, or "" where nothing is left of it.
func Safe(title string) string {
	var parts []string
	for part := range strings.FieldsFuncSeq(title, func(r rune) bool { return r == '/' || r == '\\' }) {
		part = strings.Map(func(r rune) rune {
			if !unicode.IsGraphic(r) || r == utf8.RuneError {
				return -1
			}
			if strings.ContainsRune(`<>:"|?*`, r) {
				return '_'
			}
			return r
		}, part)
		if part = strings.TrimRight(strings.TrimSpace(part), ". "); part != "" {
			parts = append(parts, part)
		}
	}
	name := strings.Join(parts, "-")
	if len(name) > maxLength {
		extension := path.Ext(name)
		if len(extension) > 20 {
			extension = ""
		}
		name = strings.ToValidUTF8(name[:maxLength-len(extension)], "") + extension
	}
	base, _, _ := strings.Cut(name, ".")
	if device.MatchString(strings.TrimRight(base, " ")) || strings.HasPrefix(name, "-") { // which rm * would take for an option
		name = "_" + name
	}
	return name
}

// device matches what Windows takes for a device, with any extension.
var device = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])$`)

// Set has the names in one folder, in lower case.
type Set map[string]int

// Unique returns the name, with a number in it if the folder has it already, in any case.
func (n Set) Unique(name string) string {
	extension := path.Ext(name)
	base, wanted := strings.TrimSuffix(name, extension), strings.ToLower(name)
	for n[strings.ToLower(name)] > 0 {
		n[wanted]++
		name = base + " (" + strconv.Itoa(n[wanted]) + ")" + extension
	}
	n[strings.ToLower(name)]++
	return name
}
