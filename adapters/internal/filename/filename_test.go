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
		"main.go": "main.go", ".bashrc": ".bashrc", "../../etc/passwd": "etc-passwd", `..\..\boot.ini`: "boot.ini", "..": "",
		"": "", " / ": "",
		"a b.txt ": "a b.txt", "x.": "x", `a<b>:"|?*c`: "a_b______c", "gnp\u202eexe.txt": "gnpexe.txt",
		"nul\x00l\r\n": "null",
		"日本.md":        "日本.md", "con": "_con", "Aux.c": "_Aux.c", "COM1.tar.gz": "_COM1.tar.gz",
		"console": "console", "nul .txt": "_nul .txt",
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

func TestPath(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"": "", "/": "", "..": "", "a/main.go": "a/main.go", "/a//./../b ": "a/b", `a\b`: "a/b",
		".a/.b": ".a/.b", "a/con/b": "a/_con/b",
		".git/config": "_.git/config", ".GIT": "_.GIT", "a/git~1/x": "a/_git~1/x", ".gitignore": ".gitignore",
		".g\u200cit/hooks": "_.git/hooks", ".git. /x": "_.git/x", "C:/x": "C_/x",
		strings.Repeat("d/", 20) + "x": strings.Repeat("d/", 20) + "x",
		strings.Repeat("d/", 21) + "x": strings.Repeat("d-", 21) + "x",
	} {
		if got := filename.Path(title); got != want {
			t.Errorf("%q: got %q, want %q", title, got, want)
		}
	}
}

func TestUniquePaths(t *testing.T) {
	t.Parallel()
	names := make(filename.Set)
	var got []string
	for _, path := range []string{"a/x", "A/X", "a", "b", "b/x/y", "b/x/y", ".env", ".ENV", "a/x/y", "c/d/e", "c/d", "c"} {
		got = append(got, names.UniquePath(path))
	}
	want := "a/x|A/X (2)|a (2)|b|b-x-y|b-x-y (2)|.env|.ENV (2)|a-x-y|c/d/e|c/d (2)|c (2)"
	if strings.Join(got, "|") != want {
		t.Errorf("got %s, want %s", strings.Join(got, "|"), want)
	}
}
