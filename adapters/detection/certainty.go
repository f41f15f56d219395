package detection

import (
	"math"
	"regexp"
	"slices"
	"strings"
)

var (
	// codeLine matches a line with a sign that is common in code, and rare in prose and tables.
	codeLine = regexp.MustCompile(`[{}();]|[=<>!+*/-]=|=>|->|::|<[/a-zA-Z!]|^[#@]\w|^(end|else|do)$`)
	// remark matches a line of nothing but a comment.
	remark = regexp.MustCompile(`^(//|/\*|\*|# |#$|--|;)`)
	// statement matches a statement in SQL, whose words also occur in prose.
	statement = regexp.MustCompile(`(?mi)^\s*(` +
		`select\s[^;]*?\sfrom\s+\S+\s*(\w+\s+)?` +
		`(;|\)|\z|where|(\w+\s+)?join|order\s+by|group\s+by|limit|as\s)|select\s.*;$|` +
		`insert\s+into|update\s+\S+\s+set|delete\s+from|with\s+\w+\s+as|grant\s+.*\son\s|` +
		`(create|alter|drop)\s+(or\s+replace\s+)?(temp\w*\s+|unique\s+)?` +
		`(table|index|view|database|function|procedure|trigger|schema|user|` +
		`role|type|sequence|extension|operator|domain|policy)\b)`)
	// traceback matches the first line that Python prints when a program fails.
	traceback = regexp.MustCompile(`^\s*Traceback \(most recent call last\)`)
)

// commands lists languages whose lines are commands, with few signs.
var commands = []string{"Shell", "Dockerfile", "Makefile", "SQL", "PowerShell", "Batchfile", "Ruby"}

// threshold returns how many points a text needs to count as that language: the fewer of its lines look like code, the
// more points.
func threshold(name, text string) float64 {
	if name == "SQL" && !statement.MatchString(text) || traceback.MatchString(text) {
		return math.Inf(1)
	}
	lines, code := 0, 0
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" || remark.MatchString(line) {
			continue
		}
		lines++
		if codeLine.MatchString(line) {
			code++
		}
	}
	switch share := float64(code) / float64(max(1, lines)); {
	case share >= 0.5:
		return enoughPoints
	case share >= 0.3, slices.Contains(commands, name):
		return 9
	case share >= 0.12:
		return 13
	default:
		return 20
	}
}
