package detection

import (
	_ "embed"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/domain/language"
)

//go:embed testdata/plain.txt
var plainFile string

// TestPlainText checks that the output of programs and people's writing are not taken for code.
func TestPlainText(t *testing.T) {
	t.Parallel()
	for part := range strings.SplitSeq(strings.TrimPrefix(plainFile, "=== "), "\n=== ") {
		name, text, _ := strings.Cut(part, "\n")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, ends := range []string{"\n", "\r\n"} {
				if got := detect(strings.ReplaceAll(text, "\n", ends)); got != language.PlainText {
					t.Errorf("got %s, want %s, of:\n%s", got, language.PlainText, text)
				}
			}
		})
	}
}

// TestBlankLinesBeforeShebang detects a shebang below blank lines, which terminals and editors add.
func TestBlankLinesBeforeShebang(t *testing.T) {
	t.Parallel()
	if got := detect("\n\n#!/usr/bin/env python3\nx <- 1\n"); got != "run by python" {
		t.Errorf("got %s, want the language of the shebang", got)
	}
}
