package paste

import (
	"strings"
	"testing"

	"github.com/gluepot/gluepot/domain/fault"
)

// TestRevert reverts diffs as diff -u prints them, with PasteMyst's header and with ours.
func TestRevert(t *testing.T) {
	t.Parallel()
	const noEnd = "\\ No newline at end of file\n"
	for _, c := range []struct{ before, after, diff string }{
		{"", "", ""},
		{"same", "same", ""},
		{"same", "same", DiffHeader},
		{"a\n", "b\n", "@@ -1 +1 @@\n-a\n+b\n"},
		{"a\n", "b\n",
			"--- /tmp/x1 2020-05-02 17:40:58.000000000 +0000\n+++ /tmp/x2 2020-05-02 17:41:00.000000000 +0000\n@@ -1 +1 " +
				"@@\n-a\n+b\n"},
		{"", "a\nb\n", DiffHeader + "@@ -0,0 +1,2 @@\n+a\n+b\n"},
		{"a\nb\n", "", DiffHeader + "@@ -1,2 +0,0 @@\n-a\n-b\n"},
		{"a", "b", DiffHeader + "@@ -1 +1 @@\n-a\n" + noEnd + "+b\n" + noEnd},
		{"a", "a\n", DiffHeader + "@@ -1 +1 @@\n-a\n" + noEnd + "+a\n"},
		{"a\n", "a", DiffHeader + "@@ -1 +1 @@\n-a\n+a\n" + noEnd},
		{"a\nb", "c\nb", DiffHeader + "@@ -1,2 +1,2 @@ func main() {\n-a\n+c\n b\n" + noEnd},
		{"-- \n++ \n", "++ \n-- \n", DiffHeader + "@@ -1,2 +1,2 @@\n--- \n ++ \n+-- \n"},
		{"\x00\r\n\n", "\n", DiffHeader + "@@ -1,2 +1 @@\n-\x00\r\n \n"},
		{"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11", "1\nx\n3\n4\n5\n6\n7\n8\n9\n10\n", DiffHeader +
			"@@ -1,5 +1,5 @@\n 1\n-2\n+x\n 3\n 4\n 5\n@@ -8,4 +8,3 @@\n 8\n 9\n 10\n-11\n" + noEnd},
		{"1\n2\n3\n4\n", "1\n2\n4\n", "@@ -3 +2,0 @@\n-3\n"},
		{"1\n2\n4\n", "1\n2\n3\n4\n", "@@ -2,0 +3 @@\n+3\n"},
		{"2\n", "1\n2", "@@ -1 +1,2 @@\n-2\n+1\n+2\n" + noEnd},
	} {
		if got, err := Revert(c.after, c.diff); err != nil || got != c.before {
			t.Errorf("%q: got %q, %v, want %q", c.diff, got, err, c.before)
		}
	}
	for what, c := range map[string]struct{ after, diff string }{
		"half a header":             {"b\n", "--- \n@@ -1 +1 @@\n-a\n+b\n"},
		"no hunk":                   {"b\n", "Binary files differ\n"},
		"a broken header of a hunk": {"b\n", "@@ -1 +1\n-a\n+b\n"},
		"letters for numbers":       {"b\n", "@@ -x +1 @@\n-a\n+b\n"},
		"negative numbers":          {"b\n", "@@ -1,-1 +1,-1 @@\n"},
		"sides the wrong way":       {"b\n", "@@ +1 -1 @@\n-a\n+b\n"},
		"other lines":               {"c\n", "@@ -1 +1 @@\n-a\n+b\n"},
		"another context":           {"c\nb\n", "@@ -1,2 +1,2 @@\n x\n-a\n+b\n"},
		"a line that is longer":     {"bc\n", "@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n"},
		"a line without its end":    {"b", "@@ -1 +1 @@\n-a\n+b\n"},
		"a place beyond the end":    {"b\n", "@@ -1 +9 @@\n-a\n+b\n"},
		"a hunk that goes back":     {"a\nb\n", "@@ -1,2 +1,2 @@\n a\n b\n@@ -1 +1 @@\n-a\n+a\n"},
		"too few lines":             {"b\n", "@@ -1,2 +1 @@\n-a\n+b\n"},
		"too many lines":            {"b\n", "@@ -1 +1 @@\n-a\n+b\n+c\n"},
		"more context than counted": {"b\nc\n", "@@ -1,2 +1 @@\n b\n c\n"},
		"an unknown sign":           {"b\n", "@@ -1 +1 @@\n*a\n+b\n"},
		"an empty line":             {"b\n", "@@ -1,2 +1,2 @@\n\n-a\n+b\n"},
	} {
		got, err := Revert(c.after, c.diff)
		wantFault(t, what, err, fault.Invalid, "history")
		if got != "" {
			t.Errorf("%s: got %q, want nothing", what, got)
		}
	}
}

// TestReplaceDiff checks that the diffs of these tests can be reverted.
func TestReplaceDiff(t *testing.T) {
	t.Parallel()
	texts := []string{"", "a", "a\n", "\n", "a\nb", "\x00\r\n\r\n", strings.Repeat("x", 1<<20)}
	for _, before := range texts {
		for _, after := range texts {
			if got, err := Revert(after, replaceDiff(before, after)); err != nil || got != before {
				t.Errorf("%.20q to %.20q: got %.20q, %v, want the first", before, after, got, err)
			}
		}
	}
}

func FuzzRevert(f *testing.F) {
	f.Add("b\n", DiffHeader+"@@ -1 +1 @@\n-a\n+b\n")
	f.Add("", "@@ -1,2 +0,0 @@\n-a\n-b\n\\ No newline at end of file\n")
	f.Fuzz(func(t *testing.T, after, diff string) {
		before, err := Revert(after, diff)
		if err != nil {
			wantFault(t, "a fuzzed diff", err, fault.Invalid, "history")
		} else if len(before) > len(after)+len(diff) {
			t.Errorf("got %q, want no more bytes than %q and %q have", before, after, diff)
		}
	})
}
