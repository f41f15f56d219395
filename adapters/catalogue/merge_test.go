package catalogue

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-enry/go-enry/v2/data"
)

var update = flag.Bool("update", false, "rewrite languages.json")

// TestLanguagesFile compares languages.json with its sources. After an update of one, run "go generate
// ./adapters/catalogue", and read the difference.
func TestLanguagesFile(t *testing.T) {
	t.Parallel()
	want := "[\n" + strings.Join(merge(t), ",\n") + "\n]\n"
	if *update {
		if err := os.WriteFile("languages.json", []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(languagesFile) != want {
		t.Error(`got another languages.json, want what its sources say: run "go generate ./adapters/catalogue"`)
	}
}

// merge returns each language as a line of languages.json. Where both sources know a language, CodeMirror's name wins,
// because clients send and compare it. CodeMirror also decides which language has an extension.
func merge(t *testing.T) []string {
	t.Helper()
	m := merger{names: map[string]*mergedLanguage{}, aliases: map[string]bool{}, claims: map[string][]claim{}}
	for _, k := range readCodeMirror(t) {
		entry := &mergedLanguage{Name: k.Name, Mode: k.Mode}
		if m.names[strings.ToLower(k.Name)] != nil {
			t.Fatalf("got two languages named %q, want one", k.Name)
		}
		m.add(entry)
		m.extend(entry, true, k.MIMETypes, k.Extensions, append(k.Aliases, clientAliases[k.Name]...))
	}
	for _, info := range readLinguist() {
		name := info.Name
		if ours, ok := sameLanguage[name]; ok {
			name = ours
		}
		entry := m.names[strings.ToLower(name)]
		if entry == nil {
			entry = &mergedLanguage{Name: name, Mode: cmp.Or(info.CodeMirrorMode, noMode)}
			m.add(entry)
		}
		entry.Color = strings.ToLower(info.Color)
		var mimeTypes, extensions []string
		if info.MimeType != "" {
			mimeTypes = []string{info.MimeType}
		}
		for _, extension := range info.Extensions {
			extensions = append(extensions, strings.TrimPrefix(extension, "."))
		}
		m.extend(entry, false, mimeTypes, extensions, append([]string{info.Name}, info.Aliases...))
		entry.Filenames = append(entry.Filenames, ownKeys(filenameOwners, entry.Name, info.Filenames)...)
		entry.Interpreters = append(entry.Interpreters, ownKeys(interpreterOwners, entry.Name, info.Interpreters)...)
	}
	for extension, claims := range m.claims {
		owner, err := ownerOf(extension, claims)
		if err != nil {
			t.Fatal(err)
		}
		owner.Owns = append(owner.Owns, extension)
	}
	var lines []string
	for _, entry := range m.languages {
		if len(entry.MIMETypes) == 0 {
			entry.MIMETypes = []string{plainText}
		}
		slices.SortFunc(entry.Owns, func(a, b string) int {
			return cmp.Compare(slices.Index(entry.Extensions, a), slices.Index(entry.Extensions, b))
		})
		line, err := json.Marshal(entry)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line))
	}
	return lines
}

const (
	noMode    = "null" // CodeMirror's own word for having no mode
	plainText = "text/plain"
)

// mergedLanguage is an entry of languages.json.
type mergedLanguage struct {
	Name, Mode   string
	MIMETypes    []string
	Extensions   []string `json:",omitempty"`
	Owns         []string `json:",omitempty"`
	Aliases      []string `json:",omitempty"`
	Color        string   `json:",omitempty"`
	Filenames    []string `json:",omitempty"`
	Interpreters []string `json:",omitempty"`
}

type merger struct {
	languages []*mergedLanguage
	names     map[string]*mergedLanguage
	aliases   map[string]bool
	claims    map[string][]claim // by extension
}

func (m *merger) add(entry *mergedLanguage) {
	m.languages = append(m.languages, entry)
	m.names[strings.ToLower(entry.Name)] = entry
}

// extend adds what a source knows of a language. An alias that is taken stays with the language that had it first.
func (m *merger) extend(entry *mergedLanguage, codeMirror bool, mimeTypes, extensions, aliases []string) {
	entry.MIMETypes = union(entry.MIMETypes, mimeTypes)
	entry.Extensions = union(entry.Extensions, extensions)
	for rank, extension := range extensions {
		m.claims[extension] = append(m.claims[extension], claim{language: entry, codeMirror: codeMirror, rank: rank})
	}
	for _, alias := range aliases {
		if key := strings.ToLower(alias); key != strings.ToLower(entry.Name) && !m.aliases[key] {
			m.aliases[key] = true
			entry.Aliases = append(entry.Aliases, alias)
		}
	}
}

// union appends the items of more that list does not have.
func union(list, more []string) []string {
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// ownKeys returns the keys that the table does not give to another language.
func ownKeys(owners map[string]string, name string, keys []string) []string {
	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return cmp.Or(owners[key], name) != name })
}

// claim is a language's wish to own an extension.
type claim struct {
	language   *mergedLanguage
	codeMirror bool // CodeMirror's registry has it
	rank       int  // place in the language's own list; 0 is the preferred extension
}

// ownerOf chooses the language of an extension: the only one that claims it; else the table's decision; else
// CodeMirror's owner; else the language that prefers it most, then the first by name, for what an update of Linguist
// brings until the table decides.
func ownerOf(extension string, claims []claim) (*mergedLanguage, error) {
	decision, decided := owners[strings.ToLower(extension)]
	best := claims[0] // claims come in the order of names, CodeMirror's languages first
	for _, c := range claims {
		if decided && c.language.Name == decision {
			return c.language, nil
		}
		if c.codeMirror == best.codeMirror && c.rank < best.rank {
			best = c
		}
	}
	if decided && len(claims) > 1 {
		return nil, fmt.Errorf("the extension %q is given to %s, which does not claim it", extension, decision)
	}
	return best.language, nil
}

// codeMirrorLanguage is a language in CodeMirror 5's mode registry.
type codeMirrorLanguage struct {
	Name       string   `json:"name"`
	Mode       string   `json:"mode"`
	MIMETypes  []string `json:"mimes"`
	Extensions []string `json:"ext"`
	Aliases    []string `json:"alias"`
}

// readCodeMirror returns CodeMirror's languages, and Autodetect, which is the language of pastes whose author chose
// none: v2 has it beside CodeMirror's.
func readCodeMirror(t *testing.T) []codeMirrorLanguage {
	t.Helper()
	text, err := os.ReadFile("codemirror.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Languages []codeMirrorLanguage }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	return append(file.Languages, codeMirrorLanguage{Name: "Autodetect", Mode: noMode, MIMETypes: []string{plainText}})
}

// readLinguist returns Linguist's languages in the order of their names.
func readLinguist() []data.LanguageInfo {
	var languages []data.LanguageInfo
	for _, info := range data.LanguageInfoByID {
		languages = append(languages, info)
	}
	slices.SortFunc(languages, func(a, b data.LanguageInfo) int {
		return cmp.Or(cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	return languages
}
