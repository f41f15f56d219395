package filename_test

import (
	"strings"
	"testing"

	"github.com/gluepot/gluepot/adapters/internal/filename"
)

func TestSafeName(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"-rf":     "_-rf",
		"main.go": "main.go", ".bashrc": ".bashrc", "../../etc/passwd": "etc-passwd", `..\..\boot.ini`: "boot.ini", "..": "", "": "", " / ": "",
		"a b.txt ": "a b.txt", "x.": "x", `a<b>:"|?*c`: "a_b______c", "gnp\u202eexe.txt": "gnpexe.txt", "nul\x00l\r\n": "null",
		"日本.md": "日本.md", "con": "_con", "Aux.c": "_Aux.c", "COM1.tar.gz": "_COM1.tar.gz", "console": "console", "nul .txt": "_nul .txt",
		strings.Repeat("x", 300) + ".go": strings.Repeat("x", 197) + ".go",
	} {
		if got := filename.Safe(title); got != want {
			t.Errorf("%q: got %q, want %q", title, got, want)
		}
	}
}

func TestUniqueNames(t *testing.T) {
	t.Parallel()
	names := make(filename.Set)
	var got []string
	for _, name := range []string{"a.go", "a.go", "A.GO", "a (2).go", "a", "a"} {
		got = append(got, names.Unique(name))
	}
	if want := "a.go|a (2).go|A (3).GO|a (2) (2).go|a|a (2)"; strings.Join(got, "|") != want {
		t.Errorf("got %s, want %s", strings.Join(got, "|"), want)
	}
}
