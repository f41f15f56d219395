// Package markdown makes HTML of Markdown that strangers have written, as GitHub shows it.
//
// A text is parsed by goldmark, together with its raw HTML. What comes of that is made well-formed (see rewrite), and
// then bluemonday leaves out all but the elements and attributes below.
package markdown

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
	"golang.org/x/net/html"
)

// goldmark's time grows with the square of some of these, and it cannot be interrupted, so longer texts are not
// rendered.
const (
	maxMarks   = 3000   // special characters in one block
	maxNesting = 100    // nested blocks that begin on one line
	maxCells   = 20_000 // of tables, whose rows all get as many as the head
)

var converter = goldmark.New(
	goldmark.WithExtensions(
		extension.Strikethrough, extension.Linkify, extension.TaskList, extension.Footnote,
		extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
	),
	goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(alerts{}, 1000))),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(rawHTML{}, 100))),
)

// IDPrefix begins all ids in a text, so that none is an id of the page.
const IDPrefix = "user-content-"

var policy = func() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	for name := range allowedElements {
		if name != "a" && (level(name) == 0 || level(name) > 2) {
			p.AllowElements(name)
			p.AllowNoAttrs().OnElements(name)
		}
	}
	id := regexp.MustCompile(`^` + IDPrefix + `[\pL\pN\pM_:.-]+$`)
	p.AllowAttrs("id").Matching(id).OnElements("h3", "h4", "h5", "h6", "li", "sup", "span")
	p.AllowAttrs("align").Matching(bluemonday.CellAlign).OnElements("p", "div", "th", "td")
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^alert-[a-z]+$`)).OnElements("blockquote")
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^language-[^\s"'<>&]{1,50}$`)).OnElements("code")
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^anchor$`)).OnElements("a")
	p.AllowAttrs("aria-label").Matching(regexp.MustCompile(`^Link to this heading$`)).OnElements("a")
	p.AllowAttrs("colspan", "rowspan").Matching(regexp.MustCompile(`^[1-9][0-9]?$`)).OnElements("th", "td")
	p.AllowAttrs("open").Matching(regexp.MustCompile(`^$`)).OnElements("details")
	p.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	p.AllowAttrs("title").OnElements("a", "abbr", "dfn")
	p.AllowAttrs("href").Matching(regexp.MustCompile(`^(?i:https?:|mailto:|#` + IDPrefix + `)`)).OnElements("a")
	p.AllowURLSchemes("http", "https", "mailto")
	p.AllowRelativeURLs(true) // to ids
	p.RequireParseableURLs(true)
	p.RequireNoFollowOnFullyQualifiedLinks(true)
	return p
}()

// HTML renders Markdown as HTML whose highest heading is an h3. It returns false for a text that would take long to
// render.
func HTML(source string, ids *IDs) (text string, ok bool) {
	front, source := cutFrontMatter(source)
	if !isBounded(source) {
		return "", false
	}
	var b bytes.Buffer
	if err := converter.Convert([]byte(source), &b); err != nil {
		return "", false
	}
	text, ok = rewrite(b.Bytes(), ids)
	if !ok {
		return "", false
	}
	return policy.Sanitize(front + text), true
}

// rawHTML renders raw HTML unchanged, for rewrite.
type rawHTML struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (r rawHTML) RegisterFuncs(register renderer.NodeRendererFuncRegisterer) {
	register.Register(ast.KindHTMLBlock, r.render)
	register.Register(ast.KindRawHTML, r.render)
}

// rawTextTag matches a tag of an element in which a browser sees no tags. It becomes text, as in GitHub's Markdown
// (section 6.11, tagfilter).
var rawTextTag = regexp.MustCompile(
	`(?i)<(/?(?:title|textarea|style|xmp|iframe|noembed|noframes|noscript|script|plaintext)(?:[\s/>]|$))`)

func (rawHTML) render(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	var raw []byte
	switch n := node.(type) {
	case *ast.RawHTML:
		raw = n.Segments.Value(source)
	case *ast.HTMLBlock:
		lines := n.Lines()
		if n.HasClosure() {
			lines.Append(n.ClosureLine)
		}
		raw = lines.Value(source)
	}
	_, err := w.Write(rawTextTag.ReplaceAll(raw, []byte("&lt;$1")))
	return ast.WalkSkipChildren, err
}

// alerts turns block quotes that begin with a line such as [!NOTE] into alerts.
type alerts struct{}

var alert = regexp.MustCompile(`^\[!(?i:(note|tip|important|warning|caution))\][ \t]*\r?\n?$`)

// Transform implements parser.ASTTransformer.
func (alerts) Transform(document *ast.Document, source text.Reader, _ parser.Context) {
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // which never fails
		first := n.FirstChild()
		if !entering || n.Kind() != ast.KindBlockquote || first == nil || first.Kind() != ast.KindParagraph {
			return ast.WalkContinue, nil
		}
		line := first.Lines().At(0)
		match := alert.FindSubmatch(line.Value(source.Source()))
		if match == nil {
			return ast.WalkContinue, nil
		}
		for child := first.FirstChild(); child != nil; child = first.FirstChild() {
			if of, ok := child.(*ast.Text); !ok || of.Segment.Start >= line.Stop {
				break
			}
			first.RemoveChild(first, child)
		}
		name := strings.ToLower(string(match[1]))
		n.SetAttributeString("class", []byte("alert-"+name))
		strong, title := ast.NewEmphasis(2), ast.NewParagraph()
		strong.AppendChild(strong, ast.NewString([]byte(strings.ToUpper(name[:1])+name[1:])))
		title.AppendChild(title, strong)
		n.InsertBefore(n, first, title)
		if first.ChildCount() == 0 {
			n.RemoveChild(n, first)
		}
		return ast.WalkContinue, nil
	})
}

var (
	frontMatter = regexp.MustCompile(`^---[ \t]*\r?\n((?:.*\n)*?)(?:---|\.\.\.)[ \t]*(?:\r?\n|$)`)
	setting     = regexp.MustCompile(`^([\pL\pN_][\pL\pN_ .-]*):(?:[ \t]+(.*))?$`)
)

// cutFrontMatter returns the front matter of a text as a table, and the rest. Anything but a list of settings may be
// Markdown between two lines.
func cutFrontMatter(source string) (table, rest string) {
	match := frontMatter.FindStringSubmatch(source)
	if match == nil {
		return "", source
	}
	var names []string
	var values [][]string // the lines of each
	for line := range strings.Lines(match[1]) {
		line = strings.TrimRight(line, " \t\r\n")
		last := len(values) - 1
		if parts := setting.FindStringSubmatch(line); parts != nil {
			names, values = append(names, parts[1]), append(values, []string{parts[2]})
		} else if line == "" || line[0] == '#' {
			continue
		} else if last >= 0 && strings.ContainsRune(" \t-", rune(line[0])) { // it continues the setting before
			values[last] = append(values[last], strings.TrimSpace(line))
		} else {
			return "", source
		}
	}
	if names == nil {
		return "", source
	}
	var b strings.Builder
	b.WriteString("<table><tbody>")
	for i, name := range names {
		value := strings.TrimSpace(strings.Join(values[i], " "))
		b.WriteString("<tr><th>" + html.EscapeString(name) + "</th><td>" + html.EscapeString(value) + "</td></tr>")
	}
	b.WriteString("</tbody></table>\n")
	return b.String(), source[len(match[0]):]
}

// isBounded reports whether a text can be rendered in a time that is reasonable for its length.
func isBounded(source string) bool {
	marks, lines, columns := 0, 0, 0
	for line := range strings.Lines(source) {
		lines++
		columns = max(columns, strings.Count(line, "|")+1)
		block := strings.TrimLeft(line, " ")
		if strings.TrimSpace(block) == "" || len(line)-len(block) < 4 && beginsItem(block) {
			marks = 0
		}
		marks += count(line, "*_[]()!<>~`&|:")
		opening := line[:len(line)-len(strings.TrimLeft(line, " \t>-*+.)0123456789"))]
		if marks > maxMarks || count(opening, ">-*+.)") > maxNesting {
			return false
		}
	}
	return lines*columns <= maxCells || columns <= 2
}

// beginsItem reports whether a line begins a list item, and so a new block.
func beginsItem(line string) bool {
	return len(line) > 2 && strings.IndexByte("-*+", line[0]) >= 0 && line[1] == ' ' && line[2] != ' '
}

func count(text, characters string) (n int) {
	for i := range len(text) {
		if strings.IndexByte(characters, text[i]) >= 0 {
			n++
		}
	}
	return n
}
