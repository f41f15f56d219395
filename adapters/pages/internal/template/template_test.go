package template

import (
	"errors"
	"fmt"
	htmltemplate "html/template"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"text/template/parse"
)

type node struct {
	Text, Path string
	Count      int
	Made       htmltemplate.HTML
	Words      []string
	Children   []*node
	When       moment
	Nothing    *node
	Any        any
	Named      map[string]string
}

// Problem is a method with an argument, of a pointer.
func (n *node) Problem(of string) string { return strings.Repeat(of+" of "+n.Text, n.Count) }

type moment struct{ seconds int }

func (m moment) String() string  { return fmt.Sprintf("<%d s>", m.seconds) }
func (m moment) Machine() string { return fmt.Sprint(m.seconds) }
func (m moment) IsZero() bool    { return m.seconds == 0 }

const hostile = "\x00<i>'\"&+`= é\xff%41%zz/?#:javascript:alert(1)\n"

func data() *node {
	return &node{
		Text: hostile, Path: "/a b/" + hostile, Count: 1, Made: "<b>&amp;</b>", Words: []string{"one", hostile},
		Children: []*node{{Text: "first", When: moment{1}}, {Path: "javascript:alert(1)", Count: 2}, {Path: "HTTPS://host/%zz"}},
		When:     moment{7}, Any: hostile, Named: map[string]string{"key": hostile},
	}
}

var functions = FuncMap{
	"asset": func(name string) string { return "/assets/" + name },
	"made":  func(text string) htmltemplate.HTML { return htmltemplate.HTML("<u>" + text + "</u>") },
}

func parsed(text string) (*Template, error) {
	return New("").Funcs(functions).ParseFS(fstest.MapFS{"t/page.html": {Data: []byte(text)}}, "t/*.html")
}

// TestAgreesWithHTMLTemplate holds that the same bytes are written as html/template writes.
func TestAgreesWithHTMLTemplate(t *testing.T) {
	for _, text := range []string{
		`<p>{{.Text}}</p>{{.Count}}{{.Made}}{{.When}}{{.Any}}{{.Named.key}}{{.Named.none}}`,
		`<title>{{.Text}}{{with .Nothing}}x{{else}} {{$.Count}}{{end}}</title>{{.Made}}`,
		"<textarea name='{{.Text}}'>\n{{.Text}}</textarea>{{.Made}}",
		`<a href="{{.Text}}" title='{{.Text}}'>{{.Path}}</a>{{range .Children}}<a href="{{.Path}}">{{.Text}}</a>{{end}}`,
		`<a href="/~{{.Text}}/{{.Path}}?a={{.Text}}&amp;b={{.Path}}#{{.Text}}">x</a>`,
		`<a href="/in{{with .Text}}?next={{.}}{{end}}">in</a><a href="{{if .Count}}/{{end}}x">x</a><a href="{{.Path}}/edit?a#b">x</a>`,
		`<a href="#{{.Text}}">y</a><img src="{{asset "a b.svg"}}" alt="">`,
		`{{range $i, $word := .Words}}{{$i}}{{if $i}}, {{end}}{{$word}}{{else}}none{{end}}`,
		`{{range .Children}}{{range .Words}}{{else}}none{{end}}{{end}}`,
		`{{range .Children}}{{$text := .Text}}{{range $.Words}}{{$text}}{{.}}{{$.Count}}{{end}}{{end}}`,
		`{{$a := 1}}{{if .Count}}{{$a = 2}}{{$b := 3}}{{$b}}{{$a := 4}}{{$a}}{{end}}{{$a}}`,
		`{{if and .Text .Nothing .Missing}}both{{else if or .Nothing .Count}}one{{end}}{{and .Count .Text}}{{or .Nothing .Text}}`,
		`{{if eq .Count 1}}1{{end}}{{if eq .Count 3 2 1}}2{{end}}`,
		`{{if ne .Text "x"}}3{{end}}{{if lt .Count 1}}4{{end}}{{if gt (len .Words) 1}}5{{end}}`,
		`{{if le .Count 1}}1{{end}}{{if ge .Count 2}}2{{end}}{{if not .Nothing}}3{{end}}{{if eq .Made "x"}}4{{end}}{{if eq true true}}5{{end}}`,
		`{{.Problem "title"}}{{with .Problem (print "a" .Count "b " .Text)}}{{.}}{{end}}{{"name" | $.Problem}}{{len .Problem ""}}`,
		`{{.When.Machine}}{{if .When.IsZero}}zero{{end}}`,
		`{{range .Children}}{{.When.IsZero}}{{(.When).Machine}}{{end}}{{made "x"}}{{made .Text | len}}`,
		`<input value="{{.Text}}"{{if .Count}} checked{{end}} aria-label='{{.When}}'{{if .Nothing}} id="{{.Text}}"{{else}} id=""{{end}}><br>`,
		`{{template "part" .}}{{template "part" .Any}}{{template "none"}}` +
			`{{define "part"}}[{{.Text}}{{$.Count}}]{{end}}{{define "none"}}{{.}}{{end}}`,
		`{{- /* a comment */ -}} <p class="a {{.Text}}"> {{- .Text -}} </p>`,
		`{{"<constant>"}}{{true}}{{12}}{{print 1 "a" 2 3}}{{.Words}}{{.Nothing}}`,
		`{{.Missing}}`, `{{.When.seconds}}`, `{{.Nothing.Text}}`, `{{.Text.Text}}`, `{{len .Count}}`,
		`{{eq .Count "1"}}`, `{{.Problem}}`, `{{template "absent"}}`,
	} {
		t.Run(text, func(t *testing.T) {
			theirs, err := htmltemplate.New("page.html").Funcs(functions).Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			var want, got strings.Builder
			wantErr := theirs.ExecuteTemplate(&want, "page.html", data())
			ours, err := parsed(text)
			if err != nil {
				t.Fatal(err)
			}
			gotErr := ours.ExecuteTemplate(&got, "page.html", data())
			if (gotErr == nil) != (wantErr == nil) {
				t.Fatalf("got error %v, want as of html/template: %v", gotErr, wantErr)
			}
			if got.String() != want.String() {
				t.Errorf("got  %q\nwant %q", got.String(), want.String())
			}
		})
	}
}

// TestRefuses holds that what cannot be escaped, and what is not known here, is found when templates are parsed.
func TestRefuses(t *testing.T) {
	for _, text := range []string{
		`<a href={{.Text}}>`, `<a {{.Text}}>x</a>`, `<{{.Text}}>`, `<p {{.Text}}="x">`, `<p onclick="{{.Text}}">`, `<p style="{{.Text}}">`,
		`<a {{if .Count}}on{{end}}title="{{.Text}}">x</a>`, `<img srcset="{{.Text}}">`, `<p data-url="{{.Text}}">`,
		`<script>{{.Text}}</script>`, `<style>{{.Text}}</style>`, `<!-- {{.Text}} -->`, `<script>"</p>"{{.Text}}</script>`,
		`<a href="javascript:{{.Text}}">x</a>`, `<a href="{{.Text}}{{.Text}}">x</a>`, `<a href="{{if .Count}}/{{end}}{{.Text}}">x</a>`,
		`<a href="/{{if .Count}}?{{end}}{{.Text}}">x</a>`,
		`<p`, `<p class="a`, `{{if .Count}}<p {{end}}>`, `{{if .Count}}<p class="{{else}}<p id="{{end}}">`, `<title>`,
		`<p {{template "page.html"}}>`,
		`{{range .Words}}<p class="{{end}}`, `{{range .Words}}{{break}}{{end}}`, `{{printf "%s" .Text}}`, `{{html .Text}}`, `{{.Text`,
		`{{define "a"}}{{end}}{{define "page.html"}}x{{end}}y`,
	} {
		if _, err := parsed(text); err == nil {
			t.Errorf("got no error for %s", text)
		}
	}
	twice := fstest.MapFS{"t/a.html": {Data: []byte(`{{define "b.html"}}x{{end}}`)}, "t/b.html": {Data: []byte("y")}}
	if _, err := New("").ParseFS(twice, "t/*.html"); err == nil {
		t.Error("got no error for a template that is defined twice")
	}
}

// TestFails holds that what is found only with data is an error, not a panic.
func TestFails(t *testing.T) {
	failed := errors.New("it is full")
	for _, text := range []string{
		`<p class="{{.Made}}">`, `<title>{{.Made}}</title>`, `{{asset 1}}`, `{{asset}}`, `{{.Text 1}}`, `{{.Missing 1}}`,
		`{{range .Count}}{{end}}`,
		`{{.Children.Machine}}`, `{{"x" 1}}`, `{{eq 1}}`, `{{lt 1}}`, `{{not}}`, `{{len}}`, `{{eq .Children .Words}}`, `{{1.5}}`,
		`{{asset .Nothing}}`,
		`{{template "page.html" .}}`,
	} {
		templates, err := parsed(text)
		if err != nil {
			t.Errorf("%s: got error %v when parsing", text, err)
			continue
		}
		if err := templates.ExecuteTemplate(io.Discard, "page.html", data()); err == nil {
			t.Errorf("got no error for %s", text)
		}
	}
	templates, err := parsed("text")
	if err != nil {
		t.Fatal(err)
	}
	if err := templates.ExecuteTemplate(writer{failed}, "page.html", nil); !errors.Is(err, failed) {
		t.Errorf("got %v, want the error of the writer", err)
	}
}

type writer struct{ err error }

func (w writer) Write([]byte) (int, error) { return 0, w.err }

// chains are the functions with which html/template escapes, and ours.
var chains = map[string]escaper{
	"_html_template_htmlescaper":   textOrHTML,
	"_html_template_rcdataescaper": escaped,
	"_html_template_attrescaper":   escaped,
	"_html_template_urlfilter | _html_template_urlnormalizer | _html_template_attrescaper": wholeLink,
	"_html_template_urlnormalizer | _html_template_attrescaper":                            partOfPath,
	"_html_template_urlescaper | _html_template_attrescaper":                               partOfQuery,
}

// TestPages holds that every value of every page is escaped as html/template escapes it there.
func TestPages(t *testing.T) {
	files, stubs := os.DirFS("../.."), FuncMap{}
	ours, err := New("").Funcs(stubs).ParseFS(files, "templates/*.html")
	for err != nil {
		_, function, ok := strings.Cut(err.Error(), `function "`)
		if !ok {
			t.Fatal(err)
		}
		function, _, _ = strings.Cut(function, `"`)
		stubs[function] = func() string { return "" }
		ours, err = New("").Funcs(stubs).ParseFS(files, "templates/*.html")
	}
	theirs := htmltemplate.Must(htmltemplate.New("").Funcs(stubs).ParseFS(files, "templates/*.html"))
	compared := 0
	for name, tree := range ours.trees {
		var refused *htmltemplate.Error
		if err := theirs.ExecuteTemplate(io.Discard, name, nil); errors.As(err, &refused) { // it escapes before it misses data
			t.Errorf("%s: html/template refuses it: %v", name, err)
			continue
		}
		want := actions(theirs.Lookup(name).Tree.Root)
		for i, action := range actions(tree.Root) {
			var chain []string
			for _, command := range want[i].Pipe.Cmds {
				if function := command.String(); strings.HasPrefix(function, "_html_template_") {
					chain = append(chain, function)
				}
			}
			known, ok := chains[strings.Join(chain, " | ")]
			if !ok || reflect.ValueOf(known).Pointer() != reflect.ValueOf(ours.escapers[action]).Pointer() {
				t.Errorf("%s: %s is escaped in another way than html/template's %s", name, action, chain)
			}
			compared++
		}
	}
	if compared < 50 {
		t.Errorf("got %d values compared, want those of all pages", compared)
	}
}

// actions returns what writes a value below a node, in order.
func actions(of parse.Node) (all []*parse.ActionNode) {
	branch := func(b *parse.BranchNode) []*parse.ActionNode {
		below := actions(b.List)
		if b.ElseList != nil {
			below = append(below, actions(b.ElseList)...)
		}
		return below
	}
	switch of := of.(type) {
	case *parse.ListNode:
		for _, below := range of.Nodes {
			all = append(all, actions(below)...)
		}
	case *parse.ActionNode:
		if len(of.Pipe.Decl) == 0 {
			all = append(all, of)
		}
	case *parse.IfNode:
		all = branch(&of.BranchNode)
	case *parse.WithNode:
		all = branch(&of.BranchNode)
	case *parse.RangeNode:
		all = branch(&of.BranchNode)
	}
	return all
}
