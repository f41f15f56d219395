// Package filename makes file names from the titles that people give to snippets.
package filename

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxLength bounds a file's name in bytes. Systems allow more, which leaves room for what Unique adds.
const maxLength = 200

// Safe returns a title as the name of a file in one folder, or "" if nothing of it can stay.
func Safe(title string) string {
	var parts []string
	for part := range strings.FieldsFuncSeq(title, isSeparator) {
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
	if deviceName.MatchString(strings.TrimRight(base, " ")) || gitName.MatchString(name) ||
		strings.HasPrefix(name, "-") { // rm * would take it for an option
		name = "_" + name
	}
	return name
}

// Of returns the file name of a snippet: its title, or else its id with the usual extension of its language.
func Of(title, id string, extensions []string) string {
	if name := Safe(title); name != "" {
		return name
	}
	extension := "txt"
	if len(extensions) > 0 {
		extension = extensions[0]
		if extension != strings.ToLower(extension) { // an odd one: BUILD, of Python
			extension = slices.MinFunc(extensions, func(a, b string) int { return len(a) - len(b) })
		}
	}
	return cmp.Or(Safe(id), "paste") + "." + extension
}

func isSeparator(r rune) bool { return r == '/' || r == '\\' }

// gitName matches the names that git takes for its own folder, or for a file that points to it: its hooks are programs.
var gitName = regexp.MustCompile(`(?i)^(\.git|git~[0-9]+)$`)

// deviceName matches the names that Windows takes for a device, whatever the extension.
var deviceName = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])$`)

// maxFolders is how many folders a path may have.
const maxFolders = 20

// Path returns a title as the path of a file below one folder, with slashes between names, or "" if nothing of it can
// stay.
func Path(title string) string {
	var names []string
	for part := range strings.FieldsFuncSeq(title, isSeparator) {
		if name := Safe(part); name != "" {
			names = append(names, name)
		}
	}
	if len(names) > maxFolders+1 {
		return Safe(title)
	}
	return strings.Join(names, "/")
}

// Set has the names of files and folders in one folder, in lower case. Names of folders end with a slash. A name with a
// zero byte at its end counts the files that asked for it.
type Set map[string]int

// Unique returns the name of a file, with a number in it if the folder already has the name, in any case.
func (n Set) Unique(name string) string {
	extension := path.Ext(name)
	if extension == path.Base(name) { // .env
		extension = ""
	}
	base, counter := strings.TrimSuffix(name, extension), strings.ToLower(name)+"\x00"
	for n[strings.ToLower(name)] > 0 || n[strings.ToLower(name)+"/"] > 0 {
		n[counter]++
		name = base + " (" + strconv.Itoa(n[counter]+1) + ")" + extension
	}
	n[strings.ToLower(name)]++
	return name
}

// UniquePath is Unique for a path with slashes. If one of its folders has the name of a file, slashes become hyphens.
func (n Set) UniquePath(file string) string {
	folders := strings.SplitAfter(strings.ToLower(file), "/")
	for i := range len(folders) - 1 {
		if n[strings.TrimSuffix(strings.Join(folders[:i+1], ""), "/")] > 0 {
			return n.Unique(strings.ReplaceAll(file, "/", "-"))
		}
	}
	for i := range len(folders) - 1 {
		n[strings.Join(folders[:i+1], "")]++
	}
	return n.Unique(file)
}
