//go:build race

package highlight

// raceDetector reports whether the race detector is on, which makes the work many times as long.
const raceDetector = true
