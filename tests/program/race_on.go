//go:build race

package program

// Raced says whether the tests and the program that they start have the race detector. A process with it takes several
// times as long to start and to answer.
const Raced = true
