package pages

import (
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2/syntax"
)

// beginning is the set of characters that a match of a regular expression can begin with, and perhaps others. What is not in ASCII
// is always in it.
type beginning [utf8.RuneSelf / 64]uint64

// anything is the beginning of what can match nothing.
var anything = beginning{^uint64(0), ^uint64(0)}

func (b *beginning) add(character rune) {
	if character >= 0 && character < utf8.RuneSelf {
		b[character/64] |= 1 << (character % 64)
	}
}

func (b *beginning) with(character rune) bool {
	return character < 0 || character >= utf8.RuneSelf || b[character/64]&(1<<(character%64)) != 0
}

// beginningOf returns that of an expression without options.
func beginningOf(pattern string) beginning {
	tree, err := syntax.Parse(pattern, syntax.ParseOptions{})
	if err != nil {
		return anything
	}
	var b beginning
	if b.addOf(tree.Root) {
		return anything
	}
	return b
}

// addOf adds what a match of an expression can begin with, and reports whether it can match nothing, so that what follows it can be
// the beginning, too. Nothing is said about an expression of an unknown kind: it begins with anything.
func (b *beginning) addOf(n *syntax.RegexNode) (empty bool) {
	if n.T == syntax.NtPosLook || n.T == syntax.NtNegLook { // what it looks at, ahead or behind, is no part of a match
		return true
	}
	if n.Options&(syntax.RightToLeft|syntax.IgnoreCase) != 0 {
		*b = anything
		return true
	}
	switch n.T {
	case syntax.NtOne, syntax.NtOneloop, syntax.NtOnelazy, syntax.NtOneloopatomic:
		b.add(n.Ch)
		return n.T != syntax.NtOne && n.M == 0
	case syntax.NtMulti:
		b.add(n.Str[0])
		return false
	case syntax.NtNotone, syntax.NtNotoneloop, syntax.NtNotonelazy, syntax.NtNotoneloopatomic:
		b.addWhere(func(character rune) bool { return character != n.Ch })
		return n.T != syntax.NtNotone && n.M == 0
	case syntax.NtSet, syntax.NtSetloop, syntax.NtSetlazy, syntax.NtSetloopatomic:
		b.addWhere(n.Set.CharIn)
		return n.T != syntax.NtSet && n.M == 0
	case syntax.NtCapture, syntax.NtGroup, syntax.NtAtomic:
		return b.addOf(n.Children[0])
	case syntax.NtLoop, syntax.NtLazyloop:
		return b.addOf(n.Children[0]) || n.M == 0
	case syntax.NtConcatenate:
		for _, child := range n.Children {
			if !b.addOf(child) {
				return false
			}
		}
		return true
	case syntax.NtAlternate:
		for _, child := range n.Children {
			if b.addOf(child) {
				empty = true
			}
		}
		return empty
	case syntax.NtEmpty, syntax.NtNothing, syntax.NtBol, syntax.NtEol, syntax.NtBoundary, syntax.NtNonboundary,
		syntax.NtBeginning, syntax.NtStart, syntax.NtEnd, syntax.NtEndZ, syntax.NtUpdateBumpalong:
		return true
	}
	*b = anything
	return true
}

func (b *beginning) addWhere(in func(rune) bool) {
	for character := range rune(utf8.RuneSelf) {
		if in(character) {
			b.add(character)
		}
	}
}
