package linediff

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/domain/paste"
)

const header = "--- \n+++ \n"

func TestUnified(t *testing.T) {
	t.Parallel()
	const nine = "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	for _, c := range []struct{ before, after, want, alone string }{ // alone: the single hunk, if it differs
		{"", "a\n", "@@ -0,0 +1,1 @@\n+a\n", ""},
		{"a\n", "", "@@ -1,1 +0,0 @@\n-a\n", ""},
		{"a\n", "b\n", "@@ -1,1 +1,1 @@\n-a\n+b\n", ""},
		{"a", "a\n", "@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n", ""},
		{"a\n", "a", "@@ -1,1 +1,1 @@\n-a\n+a\n\\ No newline at end of file\n", ""},
		{"a\nb", "c\nb", "@@ -1,2 +1,2 @@\n-a\n+c\n b\n\\ No newline at end of file\n", "@@ -1,1 +1,1 @@\n-a\n+c\n"},
		{
			"a\nb\x00", "a\nb\x00\x00",
			"@@ -1,2 +1,2 @@\n a\n-b\x00\n\\ No newline at end of file\n+b\x00\x00\n\\ No newline at end of file\n",
			"@@ -2,1 +2,1 @@\n-b\x00\n\\ No newline at end of file\n+b\x00\x00\n\\ No newline at end of file\n",
		},
		{"a\r\nb\n", "a\nb\n", "@@ -1,2 +1,2 @@\n-a\r\n+a\n b\n", "@@ -1,1 +1,1 @@\n-a\r\n+a\n"},
		{nine, strings.Replace(nine, "5", "x", 1), "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n",
			"@@ -5,1 +5,1 @@\n-5\n+x\n"},
		{nine, strings.Replace(nine, "5\n", "", 1), "@@ -2,7 +2,6 @@\n 2\n 3\n 4\n-5\n 6\n 7\n 8\n", "@@ -5,1 +4,0 @@\n-5\n"},
		{"-- \n", "++ \n", "@@ -1,1 +1,1 @@\n--- \n+++ \n", ""},
	} {
		for algorithm, want := range map[string]string{"library": c.want, "single hunk": cmp.Or(c.alone, c.want)} {
			got := Unified(c.before, c.after)
			if algorithm != "library" {
				got = single(c.before, c.after)
			}
			if got != header+want {
				t.Errorf("%s, %q to %q: got %q, want %q", algorithm, c.before, c.after, got, header+want)
			}
			wantRevert(t, c.before, c.after, got)
		}
	}
}

// wantRevert checks that paste.Revert undoes the diff.
func wantRevert(t *testing.T, before, after, diff string) {
	t.Helper()
	if got, err := paste.Revert(after, diff); err != nil || got != before {
		t.Errorf("reverting %.100q by %.200q: got %.100q, %v, want %.100q", after, diff, got, err, before)
	}
}

// TestRandomTexts compares texts of few different lines, so that many lines are equal, with several hunks.
func TestRandomTexts(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	alphabet := []string{
		"\n", "a\n", "b\n", "}\n", "-\n", "+++ \n", "--- \n", "@@ -1 +1 @@\n", "\\ No newline at end of file\n", "\x00\n",
		"\r\n", "ä\n",
	}
	hunks := 0
	for range 3000 {
		var lines []string
		for range random.IntN(60) {
			line := alphabet[random.IntN(len(alphabet))]
			if random.IntN(2) == 0 {
				line = fmt.Sprintln(random.IntN(1000))
			}
			lines = append(lines, line)
		}
		before := strings.TrimSuffix(strings.Join(lines, ""), []string{"", "\n"}[random.IntN(2)])
		for range random.IntN(6) {
			if len(lines) > 0 {
				lines[random.IntN(len(lines))] = []string{"", "new\n", "new\nlines\n", "a\n"}[random.IntN(4)]
			}
		}
		after := strings.TrimSuffix(strings.Join(lines, ""), []string{"", "\n"}[random.IntN(2)])
		if before == after {
			continue
		}
		diff := Unified(before, after)
		hunks = max(hunks, strings.Count(diff, "\n@@ "))
		wantRevert(t, before, after, diff)
		wantRevert(t, before, after, single(before, after))
	}
	if hunks < 3 {
		t.Errorf("got at most %d hunks in a diff, want at least 3", hunks)
	}
}

// largeTexts returns pairs of texts of that many bytes that are hard to compare.
func largeTexts(large int) map[string][2]string {
	numbers := func(prefix string, step int) string {
		var text strings.Builder
		for i := 0; text.Len() < large; i += step {
			fmt.Fprintf(&text, "%s%x\n", prefix, i)
		}
		return text.String()
	}
	random := rand.New(rand.NewPCG(3, 4))
	bytes := func(letters int) string {
		text := make([]byte, large)
		for i := range text {
			text[i] = '\n'
			if i%2 == 0 {
				text[i] = byte('a' + random.IntN(letters))
			}
		}
		return string(text)
	}
	shuffle := func(bytes int) [2]string {
		lines := make([]string, maxLines/2-1)
		for i := range lines {
			lines[i] = fmt.Sprintf("%0*d\n", 2*bytes, i)
		}
		before := strings.Join(lines, "")
		random.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		return [2]string{before, strings.Join(lines, "")}
	}
	return map[string][2]string{
		"nothing in common":      {numbers("a", 1), numbers("b", 1)},
		"every second line":      {numbers("", 1), numbers("", 2)},
		"empty lines":            {strings.Repeat("\n", large), strings.Repeat("\n", large-100) + "x"},
		"lines of one byte":      {bytes(2), bytes(2)},
		"a single line":          {strings.Repeat("a", large), strings.Repeat("a", large-1) + "b"},
		"from nothing":           {"", bytes(3)},
		"as many as the library": shuffle(large / maxLines),
	}
}

// TestLargeTexts checks that the memory is bounded, and that the diff is exact, and small if the difference is small.
func TestLargeTexts(t *testing.T) { // not parallel: it looks at the memory of the whole process
	for what, texts := range largeTexts(1 << 19) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		diff := Unified(texts[0], texts[1])
		runtime.ReadMemStats(&after)
		size := len(texts[0]) + len(texts[1])
		allocated := int(after.TotalAlloc - before.TotalAlloc)
		t.Logf("%-22s %5.1f MiB gave a diff of %5.1f MiB with %5.1f MiB allocated", what, mib(size),
			mib(len(diff)), mib(allocated))
		if bound := 400*maxLines + 8*size; allocated > bound {
			t.Errorf("%s: got %d bytes allocated for %d bytes of text, want at most %d", what, allocated, size, bound)
		}
		if bound := len(diff) + len(diff)/4; what == "nothing in common" && allocated > bound {
			t.Errorf("got %d bytes allocated for a diff of one hunk, want at most %d", allocated, bound)
		}
		if what == "empty lines" && len(diff) > 1000 {
			t.Errorf("got a diff of %d bytes for a difference in the last hundred, want at most 1000", len(diff))
		}
		wantRevert(t, texts[0], texts[1], diff)
	}
}

func mib(bytes int) float64 { return float64(bytes) / (1 << 20) }

func BenchmarkUnified(b *testing.B) {
	for what, texts := range largeTexts(2 << 20) {
		b.Run(what, func(b *testing.B) {
			for b.Loop() {
				Unified(texts[0], texts[1])
			}
		})
	}
}

func FuzzUnified(f *testing.F) {
	f.Add("", "a")
	f.Add("a\nb\nc", "a\nx\nc\n")
	f.Add("\\ No newline at end of file\n", "\\ No newline at end of file")
	f.Fuzz(func(t *testing.T, before, after string) {
		if before != after {
			wantRevert(t, before, after, Unified(before, after))
			wantRevert(t, before, after, single(before, after))
		}
	})
}
