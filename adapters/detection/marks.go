package detection

import (
	"path"
	"strings"
)

// interpreter returns the program that a shebang names, or "".
func interpreter(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	command, ok := strings.CutPrefix(line, "#!")
	if !ok || len(line) > 512 {
		return ""
	}
	words := strings.Fields(command)
	if len(words) > 0 && path.Base(words[0]) == "env" {
		words = words[1:]
		for len(words) > 0 && (strings.HasPrefix(words[0], "-") || strings.Contains(words[0], "=")) {
			words = words[1:]
		}
	}
	if len(words) == 0 {
		return ""
	}
	return path.Base(words[0])
}

// withoutVersion leaves "python" of "python3.12".
func withoutVersion(program string) string { return strings.TrimRight(program, "0123456789.-") }

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
			if name := emacsMode(line); name != "" {
				return name
			}
			if name := vimFiletype(line); name != "" {
				return name
			}
		}
	}
	return ""
}

func emacsMode(line string) string {
	_, rest, found := strings.Cut(line, "-*-")
	variables, _, closed := strings.Cut(rest, "-*-")
	if !found || !closed {
		return ""
	}
	for variable := range strings.SplitSeq(variables, ";") {
		name, value, ok := strings.Cut(variable, ":")
		switch {
		case !ok:
			return strings.TrimSpace(name)
		case strings.EqualFold(strings.TrimSpace(name), "mode"):
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func vimFiletype(line string) string {
	var options string
	for _, editor := range [...]string{"vim:", "vi:", "ex:"} {
		if before, after, ok := strings.Cut(line, editor); ok && (before == "" || before[len(before)-1] <= ' ') {
			options = after
			break
		}
	}
	for option := range strings.FieldsFuncSeq(options, func(r rune) bool { return r == ':' || r <= ' ' }) {
		name, value, _ := strings.Cut(option, "=")
		if value != "" && (name == "ft" || name == "filetype" || name == "syntax") {
			return value
		}
	}
	return ""
}
