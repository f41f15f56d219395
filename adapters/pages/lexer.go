package pages

import (
	"encoding/xml"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/alecthomas/chroma/v2"
	"github.com/dlclark/regexp2/v2"
)

// maxMatch bounds one match of a regular expression, as chroma does.
const maxMatch = 250 * time.Millisecond

// lexer is a lexer of chroma that goes through a code in its own way, and yields the same tokens. chroma tries the rules of a state
// one after the other, and a rule that does not match costs nearly as much as one that does. Here those are passed over whose
// regular expressions cannot begin with the character at hand (see beginning), and tokens are parts of the code rather than copies.
type lexer struct {
	*chroma.RegexLexer // its configuration; its rules are not used

	registry *chroma.LexerRegistry
	within   *chroma.RegexLexer // the same lexer, for chroma's emitters
	states   func() (map[string][]rule, error)
}

// rule is one of a state.
type rule struct {
	*chroma.CompiledRule

	begins beginning
}

// newLexer returns the lexer that a file describes. Its rules are read when they are first needed.
func newLexer(from fs.FS, path string) *lexer {
	l := &lexer{RegexLexer: chroma.MustNewXMLLexer(from, path)}
	l.states = sync.OnceValues(func() (map[string][]rule, error) {
		var file struct {
			Rules chroma.Rules `xml:"rules"`
		}
		opened, err := from.Open(path)
		if err != nil {
			return nil, err
		}
		defer opened.Close() //nolint:errcheck // it is read
		if err := xml.NewDecoder(opened).Decode(&file); err != nil {
			return nil, err
		}
		return compile(l.Config(), file.Rules)
	})
	// What lexes a part of its match by its own lexer does it by one of chroma's: this hands all of it over.
	l.within = chroma.MustNewLexer(&chroma.Config{Name: l.Config().Name}, func() chroma.Rules {
		rules := make(chroma.Rules)
		states, err := l.states()
		if err != nil {
			panic(err) // unlikely: one of its rules has matched
		}
		for state := range states {
			all := func(groups []string, _ *chroma.LexerState) chroma.Iterator {
				return l.lex(states, state, groups[0], false)
			}
			rules[state] = []chroma.Rule{{Pattern: `[\s\S]+`, Type: chroma.EmitterFunc(all)}}
		}
		return rules
	})
	return l
}

// compile returns the rules of each state with their regular expressions, which have the options of the lexer. Those that a state
// includes are in their places.
func compile(config *chroma.Config, written chroma.Rules) (map[string][]rule, error) {
	var flags string
	if !config.NotMultiline {
		flags += "m"
	}
	if config.CaseInsensitive {
		flags += "i"
	}
	if config.DotAll {
		flags += "s"
	}
	compiled, begins := make(chroma.CompiledRules), make(map[*chroma.CompiledRule]beginning)
	for state, rules := range written {
		for _, written := range rules {
			pattern := `(?:` + written.Pattern + `)`
			if flags != "" {
				pattern = `(?` + flags + `)` + pattern
			}
			pattern = `\G` + pattern
			matcher, err := regexp2.Compile(pattern)
			if err != nil {
				return nil, fmt.Errorf("the state %s: %w", state, err)
			}
			matcher.MatchTimeout = maxMatch
			one := &chroma.CompiledRule{Rule: written, Regexp: matcher}
			compiled[state], begins[one] = append(compiled[state], one), beginningOf(pattern)
		}
	}
	for changed := true; changed; { // what is included can include
		changed = false
		for state, rules := range compiled {
			for i, rule := range rules {
				if including, ok := rule.Mutator.(chroma.LexerMutator); ok {
					if err := including.MutateLexer(compiled, state, i); err != nil {
						return nil, fmt.Errorf("the state %s: %w", state, err)
					}
					changed = true
					break
				}
			}
		}
	}
	states := make(map[string][]rule, len(compiled))
	for state, rules := range compiled {
		for _, one := range rules {
			states[state] = append(states[state], rule{one, begins[one]})
		}
	}
	return states, nil
}

// SetRegistry implements [chroma.Lexer].
func (l *lexer) SetRegistry(registry *chroma.LexerRegistry) chroma.Lexer {
	l.registry = registry
	return l
}

// lineEnds are those that are not chroma's.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// Tokenise implements [chroma.Lexer].
func (l *lexer) Tokenise(options *chroma.TokeniseOptions, code string) (chroma.Iterator, error) {
	states, err := l.states()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.Config().Name, err)
	}
	if options == nil {
		options = &chroma.TokeniseOptions{State: "root", EnsureLF: true}
	}
	if options.EnsureLF {
		code = lineEnds.Replace(code)
	}
	ended := !options.Nested && l.Config().EnsureNL && !strings.HasSuffix(code, "\n")
	if ended {
		code += "\n"
	}
	return l.lex(states, options.State, code, ended), nil
}

// lex yields the tokens of a code. One that has been ended is over before its line end, which a rule may match nevertheless.
func (l *lexer) lex(states map[string][]rule, state, code string, ended bool) chroma.Iterator {
	text := []rune(code)
	if !utf8.ValidString(code) {
		code = string(text)
	}
	r := reader{
		LexerState: chroma.LexerState{
			Lexer: l.within, Registry: l.registry, Text: text, Stack: []string{state}, MutatorContext: map[any]any{},
		},
		states: states, first: state, rest: code, end: len(text),
	}
	if ended {
		r.end--
	}
	return r.next
}

// reader is where a lexer is in a code.
type reader struct {
	chroma.LexerState

	states  map[string][]rule
	first   string          // the state that it began in
	rest    string          // of the code, from Pos on
	end     int             // where it is over, in runes
	emitted chroma.Iterator // of the last match; nil: it has no more tokens
}

// next implements [chroma.Iterator].
func (r *reader) next() chroma.Token {
	for {
		for r.emitted != nil {
			switch token := r.emitted(); {
			case token == chroma.EOF:
				r.emitted = nil
			case token.Type != chroma.Ignore:
				return token
			}
		}
		if r.Pos >= r.end || len(r.Stack) == 0 {
			break
		}
		if token := r.match(); token != chroma.EOF {
			return token
		}
	}
	if len(r.Stack) == 0 && r.rest != "" {
		return chroma.Token{Type: chroma.Error, Value: r.take(len(r.Text) - r.Pos)}
	}
	return chroma.EOF
}

// match goes on by one match, and returns its token; one without a token, or with several of them, returns EOF. Some lexers go round
// in circles over some texts: each match of nothing has a token, be it an empty one, so that whoever takes them can give up.
func (r *reader) match() chroma.Token {
	r.State = r.Stack[len(r.Stack)-1]
	rules, ok := r.states[r.State]
	if !ok {
		panic("there is no state " + r.State)
	}
	for i := range rules {
		rule := &rules[i]
		if !rule.begins.with(r.Text[r.Pos]) {
			continue
		}
		found, err := rule.Regexp.FindRunesMatchStartingAt(r.Text, r.Pos)
		if found == nil || err != nil || found.RuneIndex != r.Pos {
			continue
		}
		value, kind := r.take(found.RuneLength), rule.Type
		simple, isSimple := kind.(chroma.TokenType)
		r.Rule, r.Groups = i, r.Groups[:0:0]
		if rule.Mutator != nil || kind != nil && !isSimple {
			for _, group := range found.Groups() {
				r.Groups = append(r.Groups, group.String())
			}
		}
		if rule.Mutator != nil {
			if err := rule.Mutator.Mutate(&r.LexerState); err != nil {
				panic(err)
			}
		}
		switch {
		case isSimple && simple != chroma.Ignore:
			return chroma.Token{Type: simple, Value: value}
		case kind != nil && !isSimple:
			r.emitted = kind.Emit(r.Groups, &r.LexerState)
		}
		if value == "" {
			return chroma.Token{Type: chroma.Text}
		}
		return chroma.EOF
	}
	// As lexers of Pygments do: a line end that no rule expects begins anew.
	if r.Text[r.Pos] == '\n' && r.State != r.first {
		r.Stack = []string{r.first}
		return chroma.EOF
	}
	return chroma.Token{Type: chroma.Error, Value: r.take(1)}
}

// take goes on by so many runes, and returns them.
func (r *reader) take(runes int) string {
	size := 0
	for _, character := range r.Text[r.Pos : r.Pos+runes] {
		size += utf8.RuneLen(character)
	}
	taken := r.rest[:size]
	r.Pos += runes
	r.rest = r.rest[size:]
	return taken
}
