//go:build !race

package program

// RaceEnabled says whether the tests have the race detector.
const RaceEnabled = false
