package detection

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

var (
	// shebang finds a program, even after env -S LANG=C.
	shebang     = regexp.MustCompile(`^#![ \t]*(?:(?:\S*/)?env[ \t]+(?:(?:-|\S+=)\S*[ \t]+)*)?(?:\S*/)?(\S+)`)
	emacsMode   = regexp.MustCompile(`-\*-(?:.*[ ;](?i:mode):)? *([^ ;:]+) *(?:;.*)?-\*-`)
	vimFiletype = regexp.MustCompile(`(?:^|[[:space:]])(?:vim?|ex):(?:.*[: \t])?(?:ft|filetype|syntax)=([^:[:space:]]+)`)
)

// group returns what the first group of the expression finds in the text, or "".
func group(expression *regexp.Regexp, text string) string {
	if match := expression.FindStringSubmatch(text); match != nil {
		return match[1]
	}
	return ""
}

// withoutVersion turns "python3.12" into "python".
func withoutVersion(program string) string { return strings.TrimRight(program, "0123456789.-") }

// modelineScope is how many lines at either end of a text an editor searches for a modeline.
const modelineScope = 5

// modeline returns the language that a line for Emacs (-*- mode: ruby -*-) or Vim (vim: set ft=ruby :) names, or "".
func modeline(text string) string {
	head := strings.Split(text[:min(len(text), scope)], "\n")
	tail := strings.Split(strings.TrimRight(text[max(0, len(text)-scope):], "\n"), "\n")
	for _, line := range slices.Concat(head[:min(len(head), modelineScope)], tail[max(0, len(tail)-modelineScope):]) {
		if name := cmp.Or(group(emacsMode, line), group(vimFiletype, line)); name != "" {
			return name
		}
	}
	return ""
}
