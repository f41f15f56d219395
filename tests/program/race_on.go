//go:build race

package program

// RaceEnabled says whether the program has the race detector, which takes several times the memory.
const RaceEnabled = true
