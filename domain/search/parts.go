package search

import (
	"iter"
	"slices"
)

// Parts splits a text into parts, and yields each with whether it matches a word. Overlapping words are one part.
func Parts(text string, words []string) iter.Seq2[string, bool] {
	characters := []rune(text)
	marked := make([]bool, len(characters))
	folded := make([]rune, len(characters))
	for i, character := range characters {
		folded[i] = foldRune(character)
	}
	for _, word := range words {
		pattern := []rune(word)
		for at := 0; len(pattern) > 0 && at+len(pattern) <= len(folded); at++ {
			if slices.Equal(folded[at:at+len(pattern)], pattern) {
				for i := range pattern {
					marked[at+i] = true
				}
			}
		}
	}
	return func(yield func(string, bool) bool) {
		for from := 0; from < len(characters); {
			to := from + 1
			for to < len(characters) && marked[to] == marked[from] {
				to++
			}
			if !yield(string(characters[from:to]), marked[from]) {
				return
			}
			from = to
		}
	}
}
