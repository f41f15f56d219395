package highlight

import (
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// template lexes a template: its directives, and the text between them in the language of the template's output. It
// replaces chroma.DelegatingLexer, whose Tokenise does all of the work at once and in quadratic time: 65,536 times "<%"
// take it minutes.
type template struct {
	chroma.Lexer // of the directives; the text between them is chroma.Other

	root   chroma.Lexer // of the text between the directives
	config *chroma.Config
}

// Templates replace chroma's delegating lexers in chroma's registry, where lexers of Markdown, Org, reStructuredText
// and HTTP look for the lexers of what they contain. Svelte is among them because its expressions scan back to the
// beginning of the text.
var _ = [...]chroma.Lexer{
	newTemplate("ERB", "HTML", chroma.MustNewLexer(&chroma.Config{DotAll: true}, rubyInTags)),
	newTemplate("PHTML", "HTML", chroma.MustNewLexer(&chroma.Config{DotAll: true, CaseInsensitive: true}, phpInTags)),
	newTemplate("Go HTML Template", "HTML", lexers.GoTextTemplate),
	newTemplate("YAML+Jinja", "YAML", lexers.Get("Django/Jinja")),
	newTemplate("Svelte", "HTML", chroma.MustNewLexer(&chroma.Config{DotAll: true}, noDirectives)),
}

// newTemplate registers a template in place of chroma's lexer of that name.
func newTemplate(name, root string, directives chroma.Lexer) chroma.Lexer {
	return lexers.Register(&template{directives, lexers.Get(root), lexers.Get(name).Config()})
}

func noDirectives() chroma.Rules {
	return chroma.Rules{"root": {{Pattern: `.+`, Type: chroma.Other}}}
}

// rubyInTags are the rules of chroma's erb.xml.
func rubyInTags() chroma.Rules {
	ruby := chroma.ByGroups(chroma.CommentPreproc, chroma.Using("Ruby"), chroma.CommentPreproc)
	return chroma.Rules{"root": {
		{Pattern: `(<%#)(.*?)(-?%>)`, Type: chroma.ByGroups(chroma.CommentPreproc, chroma.Comment, chroma.CommentPreproc)},
		{Pattern: `(<%-?=)(.*?)(-?%>)`, Type: ruby},
		{Pattern: `(<%-?)(.*?)(-?%>)`, Type: ruby},
		{Pattern: `[^<]+`, Type: chroma.Other},
		{Pattern: `<`, Type: chroma.Other},
	}}
}

// phpInTags are the rules of chroma's php.go.
func phpInTags() chroma.Rules {
	php, ok := lexers.Get("PHP").(*chroma.RegexLexer)
	if !ok {
		return noDirectives()
	}
	return php.MustRules().Rename("root", "php").Merge(chroma.Rules{"root": {
		{Pattern: `<\?(php)?`, Type: chroma.CommentPreproc, Mutator: chroma.Push("php")},
		{Pattern: `[^<]+`, Type: chroma.Other},
		{Pattern: `<`, Type: chroma.Other},
	}})
}

// Config implements chroma.Lexer.
func (t *template) Config() *chroma.Config { return t.config }

// Tokenise implements chroma.Lexer. While it lexes the directives it yields empty tokens, so that the caller can stop
// it.
func (t *template) Tokenise(options *chroma.TokeniseOptions, text string) (chroma.Iterator, error) {
	inner, err := t.Lexer.Tokenise(options, text)
	if err != nil {
		return nil, err
	}
	var (
		parts   []chroma.Token // of the whole text
		between strings.Builder
		outer   chroma.Iterator
		rest    chroma.Token // what is left of the last token of outer
	)
	return func() chroma.Token {
		if outer == nil {
			if token := inner(); token != chroma.EOF {
				if parts = append(parts, token); token.Type == chroma.Other {
					between.WriteString(token.Value)
				}
				return chroma.Token{Type: chroma.Text}
			}
			if outer, err = t.root.Tokenise(options, between.String()); err != nil {
				panic(err) // as chroma's iterators do
			}
		}
		if len(parts) == 0 {
			return chroma.EOF
		}
		part := &parts[0]
		if part.Type != chroma.Other || part.Value == "" {
			parts = parts[1:]
			return *part
		}
		if rest.Value == "" {
			if rest = outer(); rest == chroma.EOF {
				parts = parts[1:]
				return chroma.Token{Type: chroma.Text, Value: part.Value}
			}
		}
		length := min(len(part.Value), len(rest.Value))
		token := chroma.Token{Type: rest.Type, Value: rest.Value[:length]}
		part.Value, rest.Value = part.Value[length:], rest.Value[length:]
		return token
	}, nil
}
