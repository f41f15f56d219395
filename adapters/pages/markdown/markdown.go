// Package markdown makes HTML of Markdown that strangers have written.
//
// Blocks of raw HTML are shown as code, and tags within a line as text. Goldmark leaves out comments, and bluemonday all but the
// elements and attributes below.
package markdown

import (
	"bytes"
	"strings"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// What is rendered is bounded, because goldmark's time grows with the square of some of these, and it cannot be interrupted.
const (
	maxMarks   = 3000   // characters in one block that can begin or end something
	maxNesting = 100    // nested blocks that begin on one line
	maxCells   = 20_000 // of tables: each row gets as many as its head has
)

var converter = goldmark.New(
	goldmark.WithExtensions(
		extension.Strikethrough, extension.Linkify, extension.TaskList,
		extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
	),
	goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(transformer{}, 1000))),
)

var policy = func() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements(
		"h3", "h4", "h5", "h6", "p", "br", "hr", "blockquote", "ul", "ol", "li", "pre", "code", "em", "strong", "del",
		"table", "thead", "tbody", "tr", "th", "td",
	)
	p.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	p.AllowAttrs("align").Matching(bluemonday.CellAlign).OnElements("th", "td")
	p.AllowAttrs("href", "title").OnElements("a")
	p.AllowURLSchemes("http", "https", "mailto")
	p.RequireParseableURLs(true)
	p.RequireNoFollowOnLinks(true)
	return p
}()

// HTML returns a text as HTML whose highest heading is an h3. It returns false for one that would take long to render.
func HTML(source string) (html string, ok bool) {
	if !bounded(source) {
		return "", false
	}
	var b bytes.Buffer
	if err := converter.Convert([]byte(source), &b); err != nil {
		return "", false
	}
	return policy.Sanitize(b.String()), true
}

// transformer changes what goldmark has parsed. It lowers headings, to make room for those of the page. It turns images into links,
// because an image would tell another site who reads. It turns the checkboxes of task lists, which have no label, into text. It
// shows HTML as code or text, except comments: goldmark would leave it out.
type transformer struct{}

// Transform implements parser.ASTTransformer.
func (transformer) Transform(document *ast.Document, source text.Reader, _ parser.Context) {
	var found []ast.Node
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // its errors are those of the function
		if entering {
			found = append(found, n)
		}
		return ast.WalkContinue, nil
	})
	for _, n := range found {
		switch n := n.(type) {
		case *ast.Heading:
			n.Level = min(n.Level+2, 6)
		case *ast.Image:
			link := ast.NewLink()
			link.Destination, link.Title = n.Destination, n.Title
			replace(n, link)
		case *ast.HTMLBlock:
			if n.HTMLBlockType == ast.HTMLBlockType2 {
				continue
			}
			lines, code := n.Lines(), ast.NewCodeBlock()
			if n.HasClosure() {
				lines.Append(n.ClosureLine)
			}
			code.SetLines(lines)
			n.Parent().ReplaceChild(n.Parent(), n, code)
		case *ast.RawHTML:
			if tag := n.Segments.Value(source.Source()); !bytes.HasPrefix(tag, []byte("<!--")) {
				shown := ast.NewString(tag)
				shown.SetRaw(true)
				n.Parent().ReplaceChild(n.Parent(), n, shown)
			}
		case *extast.TaskCheckBox:
			box := "☐ "
			if n.IsChecked {
				box = "☑ "
			}
			n.Parent().ReplaceChild(n.Parent(), n, ast.NewString([]byte(box)))
		}
	}
}

// replace replaces an image by a link. In a link, only its text stays, as links cannot nest.
func replace(image *ast.Image, link *ast.Link) {
	parent := image.Parent()
	inLink := false
	for above := parent; above != nil; above = above.Parent() {
		inLink = inLink || above.Kind() == ast.KindLink
	}
	for child := image.FirstChild(); child != nil; child = image.FirstChild() {
		if inLink {
			parent.InsertBefore(parent, image, child)
		} else {
			link.AppendChild(link, child)
		}
	}
	if inLink {
		parent.RemoveChild(parent, image)
	} else {
		parent.ReplaceChild(parent, image, link)
	}
}

// bounded reports whether a text can be rendered in a time that is reasonable for its length.
func bounded(source string) bool {
	marks, lines, columns := 0, 0, 0
	for line := range strings.Lines(source) {
		lines++
		columns = max(columns, strings.Count(line, "|")+1)
		block := strings.TrimLeft(line, " ")
		if strings.TrimSpace(block) == "" || len(line)-len(block) < 4 && begins(block) {
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

// begins reports whether a line begins an item of a list, and so another block.
func begins(line string) bool {
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
