// Package markdown puts measurements into pages that are otherwise written by hand.
package markdown

import (
	"fmt"
	"os"
	"strings"
)

// ReplaceTable replaces the introduction and the table between a page's two marks, which name the command that writes
// them.
func ReplaceTable(path, command, introduction string, titles []string, rows [][]string) error {
	begin, end := "<!-- written by "+command+": begin -->", "<!-- written by "+command+": end -->"
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, begins := strings.Cut(string(page), begin)
	_, after, ends := strings.Cut(rest, end)
	if !begins || !ends {
		return fmt.Errorf("%s has no marks for the table of %s", path, command)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n\n%s\n\n| %s |\n|%s\n", begin, introduction, strings.Join(titles, " | "),
		strings.Repeat("---|", len(titles)))
	for _, row := range rows {
		fmt.Fprintf(&text, "| %s |\n", strings.Join(row, " | "))
	}
	fmt.Fprintf(&text, "\n%s", end)
	return os.WriteFile(path, []byte(before+text.String()+after), 0o600)
}
