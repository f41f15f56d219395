//go:build race

package visit

// Raced says whether the tests have the race detector.
const Raced = true
