package pages_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// templ refuses values of these that would run something.
	urlAttributes = []string{"href", "action"}
	// These run nothing whatever they hold.
	textAttributes    = []string{"class", "content", "datetime", "for", "id", "media", "name", "nonce", "value"}
	booleanAttributes = []string{"autofocus", "checked", "hidden", "selected"}
	valuesOfAttribute = regexp.MustCompile(`([^\s<>"]+)=\{ *(.*?) *\}`)
	assetLink         = regexp.MustCompile(`^[ps]\.Link\((?:(?:site\.)?AssetPath\("[^"]*"\)|page\.path\("/[^"]*"\))\)$`)
	elementOfLink     = regexp.MustCompile(`<(\w+)[^<>]*\s(?:href|action)=\{`)
)

// TestAttributes checks that values stand only where templ's escaping suffices. templ refuses dangerous URLs in links
// and forms, but not in formaction, srcset and the like, and trusts the values of styles and scripts.
func TestAttributes(t *testing.T) {
	t.Parallel()
	values := 0
	for name, source := range templates(t) {
		for _, match := range valuesOfAttribute.FindAllStringSubmatch(source, -1) {
			values++
			attribute, value := match[1], match[2]
			boolean, isBoolean := strings.CutSuffix(attribute, "?")
			switch {
			case isBoolean && slices.Contains(booleanAttributes, boolean):
			case slices.Contains(urlAttributes, attribute), slices.Contains(textAttributes, attribute),
				strings.HasPrefix(attribute, "aria-"),
				strings.HasPrefix(attribute, "data-"):
			case attribute == "src" && assetLink.MatchString(value):
			default:
				t.Errorf("%s: got a value in %s, want it in text, or in an attribute that is safe with any value",
					name, match[0])
			}
		}
		for _, match := range elementOfLink.FindAllStringSubmatch(source, -1) {
			if !slices.Contains([]string{"a", "link", "form"}, match[1]) {
				t.Errorf("%s: got %s, want a link or a form, since templ checks no other URLs", name, match[0])
			}
		}
		for _, unsafe := range []string{"templ.Raw", "templ.SafeURL", "templ.JS", "... }\n", "script ", "<style"} {
			source := strings.ReplaceAll(strings.ReplaceAll(source, "{ children... }", ""), "<script src=", "")
			if strings.Contains(source, unsafe) {
				t.Errorf("%s: got %q, want everything escaped by templ", name, unsafe)
			}
		}
	}
	if values < 50 {
		t.Errorf("got %d values in attributes, want those of all pages", values)
	}
}

// otherLinks matches values of links that are not paths of this site: full addresses, and anchors in the page.
var otherLinks = []string{"s.Config.PublicURL + page.Canonical", "page.OEmbed", "contactLink(", "s.Config.TermsURL",
	"address", `"#"`}

// TestLinks checks that every link, form and file uses Site.Link, which puts it below the path of GLUEPOT_PUBLIC_URL.
func TestLinks(t *testing.T) {
	t.Parallel()
	links := regexp.MustCompile(`\s(?:href|action|src|formaction)=(?:\{ *(.*?) *\}|"([^"]*)")`)
	for name, source := range templates(t) {
		for _, match := range links.FindAllStringSubmatch(source, -1) {
			value, literal := match[1], match[2]
			other := slices.ContainsFunc(otherLinks, func(prefix string) bool { return strings.HasPrefix(value, prefix) })
			if strings.HasPrefix(literal, "/") ||
				literal == "" && !other && !strings.HasPrefix(value, "p.Link(") && !strings.HasPrefix(value, "s.Link(") {
				t.Errorf("%s: got%s, want the value from Link: else it leaves the path that the site is below", name, match[0])
			}
		}
	}
}

// templates returns the sources of the pages by name.
func templates(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob("*/*.templ")
	if err != nil || len(names) == 0 {
		t.Fatalf("got %v, %v, want templates", names, err)
	}
	all := make(map[string]string)
	for _, name := range names {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = string(source)
	}
	return all
}

// TestGenerated checks most of what "make check-generated" checks, without the generator.
func TestGenerated(t *testing.T) {
	t.Parallel()
	module, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`github.com/a-h/templ (v\S+)`).FindSubmatch(module)
	if version == nil {
		t.Fatal("got no version of templ in go.mod, want one")
	}
	for name := range templates(t) {
		generated, err := os.ReadFile(strings.TrimSuffix(name, ".templ") + "_templ.go")
		if err != nil || !strings.Contains(string(generated), "\n// templ: version: "+string(version[1])+"\n") {
			t.Errorf("%s: got %v, or another version, want %s: go generate -run templ ./adapters/pages", name, err, version[1])
		}
		if strings.Contains(string(generated), `" else`) { // it takes "else if" between attributes for one of them
			t.Errorf("%s: got an attribute else, want no else if between attributes", name)
		}
	}
}
