//go:build race

package highlight

// watched reports whether the race detector makes the work many times as long.
const watched = true
