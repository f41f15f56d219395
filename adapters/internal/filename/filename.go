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
	if device.MatchString(strings.TrimRight(base, " ")) || isOfGit.MatchString(name) ||
		strings.HasPrefix(name, "-") { // which rm * would take for an option
		name = "_" + name
	}
	return name
}

func isSeparator(r rune) bool { return r == '/' || r == '\\' }

// isOfGit matches what git takes for its own folder, or for a file that names it: what is there can run programs.
var isOfGit = regexp.MustCompile(`(?i)^(\.git|git~[0-9]+)$`)

// device matches what Windows takes for a device, with any extension.
var device = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])$`)

// maxFolders is how many folders a path may have.
const maxFolders = 20

// Path returns a title as the path of a file below one folder, with slashes between names, or "" where nothing is left
// of it.
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

// Set has the names of files and folders in one folder, in lower case. Those of folders end with a slash. Behind a zero
// byte is how many files wanted a name.
type Set map[string]int

// Unique returns the name of a file, with a number in it if the folder has the name already, in any case.
func (n Set) Unique(name string) string {
	extension := path.Ext(name)
	if extension == path.Base(name) { // .env
		extension = ""
	}
	base, wanted := strings.TrimSuffix(name, extension), strings.ToLower(name)+"\x00"
	for n[strings.ToLower(name)] > 0 || n[strings.ToLower(name)+"/"] > 0 {
		n[wanted]++
		name = base + " (" + strconv.Itoa(n[wanted]+1) + ")" + extension
	}
	n[strings.ToLower(name)]++
	return name
}

// UniquePath is Unique for a path with slashes. If one of its folders has the name of a file, the path becomes a name.
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
