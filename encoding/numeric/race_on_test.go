//go:build race

package numeric

// raceOn tells that the race detector is on: it makes everything ten times
// slower, and lets pools forget what they hold.
const raceOn = true
