//go:build !race

package numeric

// raceOn tells that the race detector is on.
const raceOn = false
