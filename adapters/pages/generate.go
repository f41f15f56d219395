//go:build ignore

// Generate writes lexers.zip: the lexers of chroma as XML. Its package lexers reads all of them when a program begins, which
// takes longer than most commands; from the archive they are read when the first page is made (decision 0055).
package main

import (
	"archive/zip"
	"bytes"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// written are the lexers that chroma has in Go instead of XML, and that can be XML.
var written = []string{"Go", "markdown"}

func main() {
	folder, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/alecthomas/chroma/v2").Output()
	if err != nil {
		log.Fatal(err)
	}
	root := strings.TrimSpace(string(folder))
	paths, err := filepath.Glob(filepath.Join(root, "lexers/embedded/*.xml"))
	if err != nil || len(paths) == 0 {
		log.Fatal("there are no lexers in ", root)
	}
	var archive bytes.Buffer
	files := zip.NewWriter(&archive)
	for _, path := range append(paths, filepath.Join(root, "COPYING")) {
		content, err := os.ReadFile(path)
		if err != nil {
			log.Fatal(err)
		}
		add(files, filepath.Base(path), content)
	}
	for _, name := range written {
		content, err := marshal(lexers.Get(name))
		if err != nil {
			log.Fatal(name, ": ", err)
		}
		add(files, strings.ToLower(name)+".xml", content)
	}
	if err := files.Close(); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("lexers.zip", archive.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}

func add(files *zip.Writer, name string, content []byte) {
	file, err := files.Create(name)
	if err == nil {
		_, err = file.Write(content)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// marshal returns a lexer as XML. What only Go can say is left out: that of Go looks for templates within its raw strings, and that
// of Markdown for YAML before the text.
func marshal(lexer chroma.Lexer) ([]byte, error) {
	regex, ok := lexer.(*chroma.RegexLexer)
	if !ok {
		regex = reflect.ValueOf(lexer).Elem().FieldByName("Lexer").Interface().(*chroma.RegexLexer)
	}
	rules := regex.MustRules().Clone()
	for _, state := range rules {
		for i := range state {
			if state[i].Pattern == "(`)([^`]*)(`)" {
				state[i].Type = chroma.LiteralString
			}
		}
	}
	simpler, err := chroma.NewLexer(regex.Config(), func() chroma.Rules { return rules })
	if err != nil {
		return nil, err
	}
	return chroma.Marshal(simpler)
}
