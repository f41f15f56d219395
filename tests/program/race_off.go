//go:build !race

package program

// Raced says whether the tests have the race detector, and with them the program that they start. A process with it
// takes several times as long to start and to answer.
const Raced = false
