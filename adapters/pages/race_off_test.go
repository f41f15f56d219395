//go:build !race

package pages

// raced says whether the tests have the race detector.
const raced = false
