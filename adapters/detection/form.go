package detection

import (
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strings"
)

// kinds are kinds of lines. A line is of the first kind that fits.
var kinds = []struct {
	name string
	line *regexp.Regexp
}{
	{"hunk", regexp.MustCompile(`^@@ -.* @@`)},
	{"fence", regexp.MustCompile("^\\s*```")},
	{"heading", regexp.MustCompile(`^#+ `)},
	{"comment", regexp.MustCompile(`^\s*[#;]`)},
	{"section", regexp.MustCompile(`^\s*\[.*\]$`)},
	{"item", regexp.MustCompile(`^\s*(- |-$|---$)`)},
	{"markup", regexp.MustCompile(`^\s*(\* |\d+\. |> |!\[|\*\*|\|.*\|$)|\]\(`)},
	{"quoted", regexp.MustCompile(`^\s*(?:[\pL\d_."/$-]+\s*=\s*["'\[{]|"[^"]*"\s*=)`)},
	{"setting", regexp.MustCompile(`^\s*[\pL\d_./$-]+\s*=`)},
	{"code", regexp.MustCompile(`[{;]$`)},
	{"column", regexp.MustCompile(`^\s*[^:]+:(\t|  +)\S`)},
	{"pair", regexp.MustCompile(`^\s*["']?[\pL_./$][\pL\d_./$-]*["']?:( |$)`)},
	{"nested", regexp.MustCompile(`^\s`)},
	{"sentence", regexp.MustCompile(`^(\pL\S*\s+){3}\pL`)},
}

var (
	// opening matches the beginning of a TOML value that ends on a later line.
	opening = regexp.MustCompile(`^\s*[\w."-]+\s*=\s*(\[[^\]]*|"""(?:[^"]|"[^"])*)$`)
	// dockerfile matches a text that begins with an image and has a step.
	dockerfile = regexp.MustCompile(
		`^(?:(?:#.*|ARG .*|)\n)*FROM (?:--platform=\S+ )?[\w./:@${}-]+(?: (?:AS|as) \S+)?[ \r]*\n(?s:.*\n)?` +
			`(?:RUN|CMD|COPY|ADD|ENTRYPOINT|ENV|WORKDIR|EXPOSE|USER|LABEL|VOLUME) \S`)

	// The lines of Makefiles.
	makeAssignment = regexp.MustCompile(`^ *(?:export )?[\w.-]+\s*[:?+!]{1,2}=|^ *[A-Za-z_][\w.-]*\s*=.*\$\(\w`)
	makeTarget     = regexp.MustCompile(`^[\w.%/$(){} -]+:(?:[^=]|$)`)
	makeOther      = regexp.MustCompile(`^-?(?:include|ifeq|ifneq|ifdef|ifndef|else|endif|define|endef|export|vpath)\b|` +
		`\\$|^#|^[\w.-]+\s*=|^\s+\S.*\\?$`)
	codeEnd = regexp.MustCompile(`[{;]$|^\s*[})\]]`)
)

// longLine bounds how many bytes of a line are read: its beginning and its end are enough.
const longLine = 400

func shortened(line string) string {
	if len(line) <= longLine {
		return line
	}
	return line[:longLine/2] + line[len(line)-longLine/2:]
}

// isMakefile reports whether nearly all lines are those of a Makefile, and some are those of no other language.
func isMakefile(text string) bool {
	filled, fitting, assignments, rules, directives := 0, 0, 0, 0, 0
	afterTarget := false
	for line := range strings.Lines(text) {
		line = shortened(strings.TrimRight(line, " \r\n"))
		if line == "" {
			afterTarget = false
			continue
		}
		filled++
		begins := afterTarget
		afterTarget = false
		switch {
		case line[0] == '\t' && !strings.HasSuffix(line, "{") && !strings.HasPrefix(strings.TrimSpace(line), "}"):
			fitting++
			if begins {
				rules++
			}
		case codeEnd.MatchString(line):
		case makeAssignment.MatchString(line):
			assignments++
			fitting++
		case makeTarget.MatchString(line):
			afterTarget = true
			fitting++
		case makeOther.MatchString(line):
			fitting++
			if !strings.HasPrefix(line, "#") && line[0] != ' ' {
				directives++
			}
		}
	}
	return 10*fitting >= 9*filled && (rules > 0 && assignments > 0 || rules > 1 && directives+assignments > 0 ||
		assignments > 0 && assignments+directives > 1)
}

// form returns the name of the language that the overall form of a text shows, or "".
func form(text string) string {
	text = strings.TrimSpace(text)
	switch beginning := strings.ToLower(text[:min(len(text), 100)]); {
	case isJSON(text):
		return "JSON"
	case strings.HasPrefix(beginning, "<!doctype html"), strings.HasPrefix(beginning, "<html"):
		if strings.Contains(text, "<?php") {
			return "PHP"
		}
		return "HTML"
	case strings.HasPrefix(beginning, "<?xml"):
		return "XML"
	case strings.Contains(text, "FROM ") && dockerfile.MatchString(text):
		return "Dockerfile"
	case isMakefile(text):
		return "Makefile"
	}
	n, filled, previous := map[string]int{}, 0, ""
	within := "" // the end of the multi-line value that the line is in
	document := yaml{keys: map[string]bool{}}
	for line := range strings.Lines(text) {
		line = shortened(strings.TrimRight(line, " \t\r\n"))
		afterBlank := previous == ""
		if previous = line; line == "" {
			continue
		}
		filled++
		if within != "" { // a value that an earlier line has begun
			n["quoted"]++
			if strings.Contains(line, within) {
				within = ""
			}
			continue
		}
		if match := opening.FindStringSubmatch(line); match != nil {
			if within = "]"; match[1][0] == '"' {
				within = `"""`
			}
		}
		for _, kind := range kinds {
			if kind.line.MatchString(line) && (kind.name != "heading" || afterBlank) {
				n[kind.name]++
				document.read(line, kind.name, filled == 1)
				break
			}
		}
	}
	settings, pairs := n["setting"]+n["quoted"], n["pair"]
	comments := n["comment"] + n["heading"]
	prose := n["heading"] + n["fence"] + n["item"] + n["markup"] + n["sentence"]
	switch {
	case n["hunk"] > 0 && (n["fence"] == 0 || n["heading"] == 0):
		return "diff"
	case n["fence"] > 0 && (n["fence"]%2 == 0 || n["heading"] > 0),
		n["heading"] > 0 && 2*prose > filled && 10*(settings+pairs+n["code"]) <= filled:
		return "Markdown"
	case n["section"] > 0 && settings+n["section"]+comments == filled:
		if n["quoted"] > 0 {
			return "TOML"
		}
		return "Properties files"
	case pairs > 0 && filled-comments > 1 && n["code"] == 0 && document.plausible &&
		10*(pairs+n["item"]+document.scalar+comments) >= 9*filled && 2*n["column"] < pairs:
		return "YAML"
	}
	return ""
}

// yaml looks for signs that a text is not a YAML document, but the output of a program.
type yaml struct {
	plausible bool            // it begins like a document, and no top-level key occurs twice
	keys      map[string]bool // at the top
	scalar    int             // lines of block scalars
	block     int             // the indentation of the line that a block scalar belongs to, plus 1; 0: no block
}

var (
	topKey     = regexp.MustCompile(`^[^\s#:-][^:]*:`)
	blockBegin = regexp.MustCompile(`[|>][+-]?$`)
)

func (y *yaml) read(line, kind string, first bool) {
	indented := len(line) - len(strings.TrimLeft(line, " "))
	if y.block > 0 && indented >= y.block {
		if kind == "nested" {
			y.scalar++
		}
		return
	}
	y.block = 0
	if blockBegin.MatchString(line) {
		y.block = indented + 1
	}
	if first {
		y.plausible = kind == "pair" || kind == "item" || kind == "comment" || kind == "heading" ||
			strings.HasPrefix(line, "%YAML")
	}
	if strings.HasPrefix(line, "---") {
		clear(y.keys)
	}
	if key := topKey.FindString(line); key != "" {
		y.plausible = y.plausible && !y.keys[key]
		y.keys[key] = true
	}
}

// isJSON reports whether the text is an object or an array, or the beginning of one.
func isJSON(text string) bool {
	if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") {
		return false
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	for tokens := 0; ; tokens++ {
		if _, err := decoder.Token(); err != nil {
			return tokens > 1 && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF))
		}
	}
}
