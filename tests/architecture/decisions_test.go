package architecture

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	decisionHead = regexp.MustCompile(`^# (\d{4}) (.+)\n\nDate: \d{4}-\d\d-\d\d\. ` +
		`Status: (?:accepted|superseded by \[(\d{4})\]\(\S+\))\.`)
	supersedes = regexp.MustCompile(`It supersedes \[(\d{4})\]`)
)

// TestDecisionRecords checks that each record has a number of its own, a date, a status and a line in the index, and
// that a superseded record and its successor name each other.
func TestDecisionRecords(t *testing.T) {
	t.Parallel()
	const folder = "../../docs/decisions/"
	index, err := os.ReadFile(folder + "README.md")
	if err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(folder + "0*.md")
	if err != nil || len(paths) < 10 {
		t.Fatalf("got %d records, %v, want at least 10", len(paths), err)
	}
	successors := make(map[string]string)  // by number; empty: none
	successorOf := make(map[string]string) // by the number of the record that it supersedes
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(path)
		head := decisionHead.FindSubmatch(text)
		if head == nil || !strings.HasPrefix(name, string(head[1])+"-") {
			t.Errorf("%s: got %.150q, want its number, a title, a date and a status", name, text)
			continue
		}
		number, successor := string(head[1]), string(head[3])
		if _, ok := successors[number]; ok {
			t.Errorf("%s: got the number of another record, want one of its own", name)
		}
		successors[number] = successor
		line := fmt.Sprintf("- [%s](%s) %s", number, name, head[2])
		if successor != "" {
			line += ", superseded by " + successor
		}
		if !strings.Contains(string(index), line+"\n") {
			t.Errorf("got no line %q in the index", line)
		}
		for _, match := range supersedes.FindAllSubmatch(text, -1) {
			successorOf[string(match[1])] = number
		}
	}
	for number, successor := range successors {
		if successorOf[number] != successor {
			t.Errorf("%s: got the successor %q, but %q says that it supersedes it", number, successor, successorOf[number])
		}
	}
}
