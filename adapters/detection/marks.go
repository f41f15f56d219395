package detection

import (
	"path"
	"regexp"
	"strings"
)

// interpreter returns the program that a shebang names, or "".
func interpreter(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	command, ok := strings.CutPrefix(line, "#!")
	if !ok {
		return ""
	}
	for word := range strings.FieldsSeq(command) {
		if program := path.Base(word); program != "env" && word[0] != '-' && !strings.Contains(word, "=") { // env -S LANG=C python3
			return program
		}
	}
	return ""
}

// withoutVersion leaves "python" of "python3.12".
func withoutVersion(program string) string { return strings.TrimRight(program, "0123456789.-") }

var (
	emacsMode   = regexp.MustCompile(`-\*-(?:.*[ ;](?i:mode):)? *([^ ;:]+) *(?:;.*)?-\*-`)
	vimFiletype = regexp.MustCompile(`(?:^|[[:space:]])(?:vim?|ex):(?:.*[: \t])?(?:ft|filetype|syntax)=([^:[:space:]]+)`)
)

// modelineScope is how many lines at either end of a text an editor searches for a modeline.
const modelineScope = 5

// modeline returns the language that a line for Emacs (-*- mode: ruby -*-) or Vim (vim: set ft=ruby :) names, or "".
func modeline(text string) string {
	rest := text
	for range modelineScope {
		rest = rest[min(len(rest), lineLength(rest)+1):]
	}
	head, end := text[:len(text)-len(rest)], len(text)
	for range modelineScope {
		end = max(0, strings.LastIndexByte(text[:end], '\n'))
	}
	tail := text[max(end, len(head)):]
	for _, part := range [...]string{head, tail} {
		for line := range strings.Lines(part) {
			if len(line) > 512 {
				continue
			}
			for _, editor := range [...]*regexp.Regexp{emacsMode, vimFiletype} {
				if found := editor.FindStringSubmatch(line); found != nil {
					return found[1]
				}
			}
		}
	}
	return ""
}
