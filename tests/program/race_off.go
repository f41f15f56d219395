//go:build !race

package program

// RaceEnabled says whether the tests, and the program that they start, have the race detector.
const RaceEnabled = false
