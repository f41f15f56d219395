package catalogue

import (
	_ "embed"
	"encoding/json"
	"fmt"
)

//go:generate node generate.mjs

//go:embed codemirror.json
var codeMirrorFile []byte

// codeMirrorLanguage is what CodeMirror 5's mode registry says of a language.
type codeMirrorLanguage struct {
	Name       string   `json:"name"`
	Mode       string   `json:"mode"`
	MIMETypes  []string `json:"mimes"`
	Extensions []string `json:"ext"`
	Aliases    []string `json:"alias"`
}

// autodetect is the language of pastes whose author chose none: v2 has it beside CodeMirror's.
var autodetect = codeMirrorLanguage{Name: "Autodetect", Mode: noMode, MIMETypes: []string{plainText}}

// clientAliases are what clients of v2 call languages that neither source calls so, by the language's name.
var clientAliases = map[string][]string{
	"Dockerfile": {"Docker"},
	"Plain Text": {"plaintext"},
	"Tiki wiki":  {"TikiWiki"},
}

func readCodeMirror() ([]codeMirrorLanguage, error) {
	var file struct {
		Languages []codeMirrorLanguage `json:"languages"`
	}
	if err := json.Unmarshal(codeMirrorFile, &file); err != nil {
		return nil, fmt.Errorf("read codemirror.json: %w", err)
	}
	return append(file.Languages, autodetect), nil
}
