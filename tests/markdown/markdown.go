// Package markdown puts what was measured into pages that are otherwise written by hand.
package markdown

import (
	"fmt"
	"os"
	"strings"
)

// ReplaceTable puts an introduction and a table between the lines of a page that name the command which writes them.
func ReplaceTable(path, command, introduction string, titles []string, rows [][]string) error {
	begin, end := "<!-- written by "+command+": begin -->", "<!-- written by "+command+": end -->"
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(page), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return fmt.Errorf("%s has no place for the table of %s", path, command)
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
